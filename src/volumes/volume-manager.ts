/**
 * `runtime.volumes`: what callers ask of volumes, checked before anything is stored, committed, then worked on. Reads what
 * is committed; every change goes through the mailbox of the volume concerned (machines/volume.ts).
 */

import type { StateValue } from 'xstate';
import { z } from 'zod';
import type { Capability } from '../../machines/csi-types.js';
import { isSameClaim } from '../../machines/volume-claims.js';
import { wishOf } from '../../machines/volume-modes.js';
import { nameOf } from '../../machines/volume-requests.js';
import type { Availability, Claim, VolumeContext, VolumeKey, VolumeRequest } from '../../machines/volume-types.js';
import { failureOf } from '../../machines/volume-work.js';
import type { ActorDoor } from '../engine/actor-door.js';
import type { Clock } from '../engine/clock.js';
import { asData } from '../engine/data.js';
import type { Random } from '../engine/random.js';
import { cursorOf, type FollowOptions } from '../engine/topics.js';
import { StagecraftError } from '../errors.js';
import { type AwaitOptions, awaitShape, checkedOptions } from './await-options.js';
import type { Capacity, CapacityRequest } from './capacity.js';
import { type Expanded, type ExpandRequest, expandedOf, expandSchema, isExpanded } from './expansion.js';
import type { NodeAdmission } from './node-admission.js';
import type { Reconciled, Reconciler } from './reconciler.js';
import { snapshotSourceId } from './snapshot-sources.js';
import {
  accessModeSchema,
  attachmentModeSchema,
  checked,
  definedRange,
  keyOf,
  knownSpec,
  nodeIdSchema,
  parametersSchema,
  specSchema,
  textSchema,
  type VolumeKeyInput,
  type VolumeSpec,
} from './spec.js';
import { addressOf, capabilityOf, checkTopology, failed, notFound, sourceIdOf } from './volume-checks.js';
import { type VolumeEvent, volumeEventOf } from './volume-events.js';
import { volumesTopic } from './volume-kind.js';
import { listVolumes, type Page, type VolumeFilter } from './volume-list.js';
import { stateOf, type Volume, volumeOf } from './volume-view.js';
import { type Goal, VolumeWaits } from './volume-waits.js';

export interface VolumeManagerOptions {
  engine: ActorDoor;
  reconciler: Pick<Reconciler, 'run'>;
  clock: Clock;
  random: Random;
  /** What the names of volumes begin with at their plugins. */
  namePrefix: string;
  /** Whether a plugin of this name is registered. */
  isKnownPlugin(plugin: string): boolean;
  /** Through it goes whatever brings a volume to a node. */
  admission: Pick<NodeAdmission, 'within'>;
  capacity(plugin: string, request: CapacityRequest, options: AwaitOptions): Promise<Capacity>;
}

export interface PublishOptions extends AwaitOptions {
  /** One that the volume was made with; default its first. */
  capability?: Capability;
  readOnly?: boolean;
}

export interface ClaimOptions {
  allocId: string;
  nodeId: string;
  mode: 'read' | 'write';
  accessMode: Capability['accessMode'];
  attachmentMode: Capability['attachmentMode'];
  /** Queues where it can't be had at once. */
  wait?: boolean;
  /** Gives up a place in the queue. */
  signal?: AbortSignal;
}

export class VolumeManager {
  readonly #options: VolumeManagerOptions;
  readonly #engine: ActorDoor;
  readonly #waits: VolumeWaits;
  /** Why every call is refused. */
  #closed: StagecraftError | undefined;

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#waits = new VolumeWaits(options.engine, options.clock);
  }

  /**
   * Makes a volume, or takes over one that exists (`external`). The same spec again is the same volume. Resolves when it
   * is created.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; PLUGIN_NOT_FOUND; VOLUME_EXISTS: there is one with another
   *   spec; VOLUME_NOT_FOUND: its source; CSI_ERROR, PLUGIN_LACKS: why it can't be made; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, CreateVolume
   */
  async create(spec: VolumeSpec, options: AwaitOptions = {}): Promise<Volume> {
    this.#refuseIfClosed();
    const asked = checked(specSchema, spec, 'the spec of the volume');
    const waiting = checkedOptions(awaitSchema, options);
    const key = { namespace: asked.namespace, id: asked.id };
    const address = addressOf(key);
    const { random, namePrefix, isKnownPlugin } = this.#options;
    const present = await this.#view(key);
    if (!isKnownPlugin(asked.plugin) && !present) {
      const message = `no plugin is registered as '${asked.plugin}': register it, or list those that are`;
      throw new StagecraftError('PLUGIN_NOT_FOUND', message);
    }
    const uid = random.id();
    const sourceId = await sourceIdOf(asked, present?.context, {
      volume: async (source) => (await this.#present(source)).context,
      snapshot: (source) => snapshotSourceId(this.#engine, source),
    });
    const known = knownSpec(asked, sourceId);
    await this.#engine.ask(address, { type: 'volume.create', spec: known, uid, name: `${namePrefix}-${uid}` });
    const reached: Goal<Volume>['reached'] = (context, state) => {
      if (context.deletion) throw new StagecraftError('ABORTED', `${nameOf(key)} is being deleted`, { address });
      if (context.csi) return volumeOf(state, context);
      if (context.creation.failure) throw failed(key, context.creation.failure);
      return undefined;
    };
    return this.#waits.until({ key, goal: 'created', reached, ...waiting });
  }

  /**
   * Publishes a volume to a node: resolves when the controller side has done its part.
   * @throws StagecraftError VOLUME_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL, VOLUME_IN_USE naming
   *   where it is, VOLUME_UNAVAILABLE, VOLUME_DELETING, INVALID_ARGUMENT; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, ControllerPublishVolume
   */
  async publish(
    key: VolumeKeyInput,
    nodeId: string,
    options: PublishOptions = {},
  ): Promise<{ publishContext: Record<string, string> }> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    checkNodeId(nodeId);
    const { capability, readOnly, ...waiting } = checkedOptions(publishSchema, options);
    const { context } = await this.#present(known);
    const wish = { capability: capabilityOf(known, context, capability), readOnly };
    await this.#toNode(context, { nodeId, takesRoom: true }, (csiNodeId) =>
      this.#ask(known, { type: 'volume.publish', nodeId, csiNodeId, ...wish }),
    );
    const reached: Goal<{ publishContext: Record<string, string> }>['reached'] = (now) => {
      const { uid, publications, creation } = now;
      const publication = uid === context.uid ? publications[nodeId] : undefined;
      if (!publication) {
        const message = `${nameOf(known)} was unpublished from node ${nodeId} meanwhile: publish it again`;
        throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
      }
      const failure = publication.failure ?? creation.failure;
      if (failure) throw failed(known, failure);
      const isThere = publication.state === 'published' && publication.undoneAfter === undefined;
      return isThere ? { publishContext: { ...publication.publishContext } } : undefined;
    };
    return this.#waits.until({ key: known, goal: `published on node ${nodeId}`, reached, ...waiting });
  }

  /**
   * Takes a volume from a node; where it is not, nothing happens. Resolves when the controller side has let go of it.
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE naming who has claimed it there; CSI_ERROR; TIMEOUT, ABORTED:
   *   the work goes on
   * @see CSI specification, ControllerUnpublishVolume
   */
  async unpublish(key: VolumeKeyInput, nodeId: string, options: AwaitOptions = {}): Promise<void> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    checkNodeId(nodeId);
    const waiting = checkedOptions(awaitSchema, options);
    const { context } = await this.#present(known);
    await this.#ask(known, { type: 'volume.unpublish', nodeId });
    const number = context.publications[nodeId]?.number;
    const reached: Goal<true>['reached'] = ({ uid, publications }) => {
      const publication = publications[nodeId];
      if (uid !== context.uid || !publication || (number !== undefined && publication.number !== number)) return true;
      if (publication.failure?.in === 'unpublish') throw failed(known, publication.failure);
      if (publication.next || !wishOf(publication)) return undefined;
      const message = `${nameOf(known)} was published again on node ${nodeId} before it was gone from there`;
      throw new StagecraftError('ABORTED', message, { address: addressOf(known) });
    };
    await this.#waits.until({ key: known, goal: `unpublished from node ${nodeId}`, reached, gone: true, ...waiting });
  }

  /**
   * Deletes a volume; one that was taken over (`external`) is let go of. Resolves when it is gone.
   * @param force also while it is in use: what could not be confirmed stays listed, as `leftovers`, until acknowledged
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE naming by whom; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, DeleteVolume
   */
  async delete(key: VolumeKeyInput, options: AwaitOptions & { force?: boolean } = {}): Promise<void> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    const { force, ...waiting } = checkedOptions(deleteSchema, options);
    const { context } = await this.#present(known);
    await this.#ask(known, { type: 'volume.delete', force });
    const reached: Goal<true>['reached'] = (now, state) => {
      if (now.uid !== context.uid || stateOf(state) === 'deleted') return true;
      const failure = stateOf(state) === 'failed' ? failureOf(now) : undefined;
      if (failure) throw failed(known, failure);
      return undefined;
    };
    await this.#waits.until({ key: known, goal: 'deleted', reached, gone: true, ...waiting });
  }

  /**
   * Makes a volume larger, also while it is published where its plugin can do that; else this waits until it is
   * unpublished. Larger sizes may be asked for while this goes on. Resolves when the controller side has done its part.
   * What fails leaves the volume as it is, and usable.
   * @param capacity in bytes, for the whole volume; one that is as large already is left as it is
   * @returns `nodeExpansionRequired`: the node's part is still due. `capacityBytes` is absent where the plugin does not say
   * @throws StagecraftError INVALID_ARGUMENT: it would be smaller; VOLUME_NOT_FOUND, VOLUME_DELETING; CSI_ERROR,
   *   PLUGIN_LACKS; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, ControllerExpandVolume
   */
  async expand(key: VolumeKeyInput, capacity: ExpandRequest, options: AwaitOptions = {}): Promise<Expanded> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    const asked = definedRange(checked(expandSchema, capacity, 'the capacity'));
    const waiting = checkedOptions(awaitSchema, options);
    const { context } = await this.#present(known);
    await this.#ask(known, { type: 'volume.expand', capacity: asked });
    const reached: Goal<Expanded>['reached'] = (now) => {
      this.#refuseIfGone(known, { asked: context, now, goal: 'expanded' });
      if (isExpanded(now, asked)) return expandedOf(now);
      const failure = now.expansion?.failure;
      if (failure) throw failed(known, failure);
      return undefined;
    };
    return this.#waits.until({ key: known, goal: 'expanded', reached, ...waiting });
  }

  /**
   * Changes mutable parameters of a volume; those that are not named stay as they are. Resolves when the plugin has taken
   * them. What fails leaves the volume usable.
   * @throws StagecraftError INVALID_ARGUMENT; VOLUME_NOT_FOUND, VOLUME_DELETING; CSI_ERROR, PLUGIN_LACKS; TIMEOUT,
   *   ABORTED: the work goes on
   * @see CSI specification, ControllerModifyVolume
   */
  async modify(
    key: VolumeKeyInput,
    mutableParameters: Record<string, string>,
    options: AwaitOptions = {},
  ): Promise<void> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    const asked = checked(parametersSchema, mutableParameters, 'the parameters');
    const waiting = checkedOptions(awaitSchema, options);
    const { context } = await this.#present(known);
    await this.#ask(known, { type: 'volume.modify', mutableParameters: asked });
    const reached: Goal<true>['reached'] = (now) => {
      this.#refuseIfGone(known, { asked: context, now, goal: 'modified' });
      if (now.modification?.failure) throw failed(known, now.modification.failure);
      return now.modification ? undefined : true;
    };
    await this.#waits.until({ key: known, goal: 'modified', reached, ...waiting });
  }

  /**
   * How much room a plugin has for volumes like these; of all kinds and everywhere, where nothing is said.
   * @throws StagecraftError INVALID_ARGUMENT; PLUGIN_NOT_FOUND, PLUGIN_LACKS, PLUGIN_UNAVAILABLE; CSI_ERROR; ABORTED
   * @see CSI specification, GetCapacity
   */
  async capacity(plugin: string, request: CapacityRequest = {}, options: AwaitOptions = {}): Promise<Capacity> {
    this.#refuseIfClosed();
    return this.#options.capacity(plugin, request, options);
  }

  /**
   * Claims a volume for an alloc on a node; the same alloc again has the same claim. Resolves when it is taken: also where
   * its signal comes too late to withdraw it, so that nobody has a claim without knowing.
   * @throws StagecraftError CLAIM_CONFLICT naming who has it; VOLUME_NOT_FOUND, VOLUME_UNAVAILABLE, VOLUME_DELETING,
   *   NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, INVALID_ARGUMENT; ABORTED: it waits no more
   */
  async claim(key: VolumeKeyInput, { wait = false, signal, ...asked }: ClaimOptions): Promise<Claim> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    const claim = checked(claimSchema, asked, 'the claim');
    const { allocId, nodeId } = claim;
    const withdrawn = new StagecraftError('ABORTED', `the claim of alloc ${allocId} on ${nameOf(known)} was withdrawn`);
    const { context } = await this.#present(known);
    if (signal?.aborted) throw withdrawn;
    // What it has it keeps, whatever became of its node meanwhile.
    const held = context.claims.find((one) => isSameClaim(one, claim));
    if (held?.state === 'taken') return asData(held);
    await this.#toNode(context, { nodeId, takesRoom: false }, (csiNodeId) =>
      this.#ask(known, { type: 'volume.claim', claim: { ...claim, csiNodeId }, wait }),
    );
    const ownIn = ({ uid, claims }: VolumeContext): Claim | undefined =>
      uid === context.uid ? claims.find((one) => isSameClaim(one, claim) && one.state === 'taken') : undefined;
    try {
      const reached: Goal<Claim>['reached'] = (present) => {
        const own = ownIn(present);
        if (own) return asData(own);
        if (present.uid === context.uid && present.waiting.some((one) => isSameClaim(one, claim))) return undefined;
        throw withdrawn;
      };
      return await this.#waits.until({ key: known, goal: `claimed by alloc ${allocId}`, reached, signal });
    } catch (error) {
      if (!signal?.aborted || this.#closed) throw error;
      // Its place is for who comes next.
      await this.#tell(known, { type: 'volume.unclaim', allocId });
      const view = await this.#view(known);
      const own = view && ownIn(view.context);
      if (!own) throw error;
      return asData(own);
    }
  }

  /**
   * The workload of an alloc has stopped, or it waits no longer. Its claim keeps its slot until the node has let go of
   * the volume. Nothing where it has none. Resolves once that is committed.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  async release(key: VolumeKeyInput, allocId: string): Promise<void> {
    await this.#tell(key, { type: 'volume.release', allocId });
  }

  /** What failed is tried again, and what waits for its time is tried now. @throws StagecraftError VOLUME_NOT_FOUND */
  async retry(key: VolumeKeyInput): Promise<void> {
    await this.#tell(key, { type: 'volume.retry' });
  }

  /** `pause` and `drain`: no new use; with `drain` those who use it are told by event. @throws StagecraftError VOLUME_NOT_FOUND */
  async setAvailability(key: VolumeKeyInput, availability: Availability): Promise<void> {
    const known = checked(availabilitySchema, availability, 'the availability');
    await this.#tell(key, { type: 'volume.set-availability', availability: known });
  }

  /** What was left behind by a deletion is seen to: the volume is forgotten. @throws StagecraftError VOLUME_NOT_FOUND */
  async acknowledge(key: VolumeKeyInput): Promise<void> {
    await this.#tell(key, { type: 'volume.acknowledge' });
  }

  /**
   * Volumes by pages, in the order of their keys; what is deleted only while something of it may be left.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE
   */
  async list(filter: VolumeFilter = {}): Promise<Page<Volume>> {
    this.#refuseIfClosed();
    return listVolumes(this.#engine, filter);
  }

  /** A volume as committed last; undefined where there is none. */
  async get(key: VolumeKeyInput): Promise<Volume | undefined> {
    this.#refuseIfClosed();
    const view = await this.#view(keyOf(key));
    return view && volumeOf(view.state, view.context);
  }

  /**
   * Compares volumes with what their plugins list, now; each that differs tells so by event, and is mended.
   * @param plugin default: every plugin that has volumes and lists them
   * @throws StagecraftError PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR, of the plugin that was named
   */
  reconcile(plugin?: string): Promise<Reconciled[]> {
    this.#refuseIfClosed();
    return this.#options.reconciler.run(plugin);
  }

  /**
   * Follows the changes of volumes, in one order, none left out, from now or from after an event's id. Ends with its
   * signal, its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates({ from = 'now', signal }: FollowOptions = {}): AsyncIterable<VolumeEvent> {
    this.#refuseIfClosed();
    return this.#engine.follow(volumesTopic, cursorOf(from), signal).reading(volumeEventOf);
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#waits.interrupt();
  }

  /** Ends all waiting; every later call is refused. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed ??= reason;
    this.#waits.close(this.#closed);
  }

  async #tell(key: VolumeKeyInput, event: VolumeRequest): Promise<void> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    if (!(await this.#view(known))) throw notFound(known);
    await this.#ask(known, event);
  }

  async #ask(key: VolumeKey, event: VolumeRequest): Promise<void> {
    await this.#engine.ask(addressOf(key), event);
  }

  async #view(key: VolumeKey): Promise<View | undefined> {
    const view = await this.#engine.read(addressOf(key));
    // The engine keeps contexts as the machines made them, but does not know their types.
    return view && { state: view.state, context: view.context as VolumeContext };
  }

  async #present(key: VolumeKey): Promise<View> {
    const view = await this.#view(key);
    if (!view || stateOf(view.state) === 'deleted') throw notFound(key);
    return view;
  }

  /** Does what brings a volume to a node, where the node can have it; `work` gets what the plugin calls the node. */
  #toNode(
    context: VolumeContext,
    { nodeId, takesRoom }: { nodeId: string; takesRoom: boolean },
    work: (csiNodeId: string) => Promise<void>,
  ): Promise<void> {
    const admission = { address: addressOf(context.key), nodeId, plugin: context.spec?.plugin ?? '', takesRoom };
    return this.#options.admission.within(admission, async (target) => {
      checkTopology(context, nodeId, target);
      await work(target.csiNodeId);
    });
  }

  /** What was asked of a volume is asked of no other, and of none that goes. */
  #refuseIfGone(
    key: VolumeKey,
    { asked, now, goal }: { asked: VolumeContext; now: VolumeContext; goal: string },
  ): void {
    if (now.creation.failure) throw failed(key, now.creation.failure);
    if (now.uid === asked.uid && !now.deletion) return;
    const message = `${nameOf(key)} was deleted before it was ${goal}`;
    throw new StagecraftError('ABORTED', message, { address: addressOf(key) });
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }
}

interface View {
  state: StateValue;
  context: VolumeContext;
}

const claimSchema = z.strictObject({
  allocId: textSchema,
  nodeId: nodeIdSchema,
  mode: z.enum(['read', 'write']),
  accessMode: accessModeSchema,
  attachmentMode: attachmentModeSchema,
});
const availabilitySchema = z.enum(['active', 'pause', 'drain']);
const awaitSchema = z.strictObject(awaitShape);
const deleteSchema = z.strictObject({ ...awaitShape, force: z.boolean().default(false) });
const publishSchema = z.strictObject({
  ...awaitShape,
  readOnly: z.boolean().default(false),
  /** Checked where it is known what there is. */
  capability: z.unknown().optional(),
});

const checkNodeId = (nodeId: unknown): string => checked(nodeIdSchema, nodeId, 'the node id');
