/**
 * `runtime.volumes`: what callers ask of volumes, checked before anything is stored, committed, then worked on. Reads what
 * is committed; every change goes through the mailbox of the volume concerned (machines/volume/volume.ts). How each is done:
 * volume-creation.ts, volume-publishing.ts, volume-claiming.ts, volume-changing.ts
 */
import { z } from 'zod';
import type { Availability, Claim, HoldReleased, NodeExpanded, VolumeContext } from '../../machines/volume/types.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { Clock } from '../engine/clock.js';
import { type FollowOptions, followAs } from '../engine/topics/follow-as.js';
import { refuseNoObject, StagecraftError } from '../errors.js';
import { nameSchema, nodeIdSchema } from '../host/names.js';
import type { Page } from '../requests/actor-pages.js';
import type { AwaitOptions, Telling, WaitOptions } from '../requests/await-options.js';
import { checked, keyOf, type VolumeKeyInput } from '../requests/fields.js';
import { checkedRetry, type RetryOptions } from '../requests/retry-options.js';
import type { Capacity, CapacityRequest } from './capacity.js';
import type { Expanded, ExpandRequest } from './expansion.js';
import type { Reconciled, Reconciler } from './reconciler.js';
import type { VolumeSpec } from './spec.js';
import { VolumeChanging } from './volume-changing.js';
import { refuseUnknown } from './volume-checks.js';
import { type ClaimOptions, type LetGo, VolumeClaiming } from './volume-claiming.js';
import { VolumeClient } from './volume-client.js';
import { VolumeCreation, type VolumeCreationPorts } from './volume-creation.js';
import { type VolumeEvent, volumeEventOf } from './volume-events.js';
import { volumesTopic } from './volume-kind.js';
import { listVolumes, type VolumeFilter } from './volume-list.js';
import { VolumePlacement, type VolumePlacementPorts } from './volume-placement.js';
import {
  type ClaimedPublish,
  type PublishingPorts,
  type PublishOptions,
  VolumePublishing,
} from './volume-publishing.js';
import { type Volume, volumeOf } from './volume-view.js';

export type { ClaimOptions } from './volume-claiming.js';
export type { PublishOptions } from './volume-publishing.js';

export interface VolumeManagerOptions extends VolumeCreationPorts, VolumePlacementPorts, PublishingPorts {
  reconciler: Pick<Reconciler, 'run'>;
  clock: Clock;
  capacity(plugin: string, request: CapacityRequest, options: AwaitOptions): Promise<Capacity>;
}

/** Which claim of an alloc is meant; default: whichever it has. */
export interface ReleaseOptions {
  nodeId?: string | undefined;
  generation?: number | undefined;
}

const releaseSchema: z.ZodType<ReleaseOptions> = z.strictObject({
  nodeId: nodeIdSchema.optional(),
  generation: z.int().nonnegative().optional(),
});

export class VolumeManager {
  readonly #options: VolumeManagerOptions;
  readonly #engine: ActorSystem;
  readonly #client: VolumeClient;
  readonly #making: VolumeCreation;
  readonly #publishing: VolumePublishing;
  readonly #claiming: VolumeClaiming;
  readonly #changing: VolumeChanging;

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    this.#engine = options.engine;
    this.#client = new VolumeClient(options);
    const places = new VolumePlacement(options);
    this.#making = new VolumeCreation(this.#client, options);
    this.#publishing = new VolumePublishing(this.#client, places, options);
    this.#claiming = new VolumeClaiming(this.#client, places);
    this.#changing = new VolumeChanging(this.#client);
  }

  /**
   * Makes a volume, or takes over one that exists (`external`). The same spec again is the same volume. Resolves when it
   * is created.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; PLUGIN_NOT_FOUND; VOLUME_EXISTS: there is one with another
   *   spec, or another one has what is to be taken over; VOLUME_NOT_FOUND, VOLUME_ELSEWHERE: its source; SECRETS_UNAVAILABLE, unless `wait`; CSI_ERROR, PLUGIN_LACKS: why it can't be made; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, CreateVolume
   */
  create(spec: VolumeSpec, options: WaitOptions = {}): Promise<Volume> {
    return this.#making.create(spec, options);
  }

  /**
   * Publishes a volume to a node: resolves when the controller side has done its part. One that is not created yet is
   * waited for first, as only then it is known where it can be used: until then nothing is asked of it.
   * @throws StagecraftError VOLUME_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL, VOLUME_IN_USE naming
   *   where it is, VOLUME_UNAVAILABLE, VOLUME_DELETING, INVALID_ARGUMENT; SECRETS_UNAVAILABLE, unless `wait`; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, ControllerPublishVolume
   */
  async publish(
    key: VolumeKeyInput,
    nodeId: string,
    options: PublishOptions = {},
  ): Promise<{ publishContext: Record<string, string> }> {
    refuseNoObject(options, 'the options');
    const { publications } = await this.#publishing.publish(key, nodeId, options);
    return { publishContext: { ...publications[nodeId]?.publishContext } };
  }

  /**
   * Takes a volume from a node; where it is not, nothing happens. Resolves when the controller side has let go of it.
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE naming who has claimed it there; CSI_ERROR; TIMEOUT, ABORTED:
   *   the work goes on
   * @see CSI specification, ControllerUnpublishVolume
   */
  unpublish(key: VolumeKeyInput, nodeId: string, options: AwaitOptions = {}): Promise<void> {
    return this.#publishing.unpublish(key, nodeId, options);
  }

  /**
   * Deletes a volume; one that was taken over (`external`) is let go of. Resolves when it is gone.
   * @param force also while it is in use: what could not be confirmed stays listed, as `leftovers`, until acknowledged
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE naming by whom; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, DeleteVolume
   */
  delete(key: VolumeKeyInput, options: AwaitOptions & { force?: boolean } = {}): Promise<void> {
    return this.#making.delete(key, options);
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
  expand(key: VolumeKeyInput, capacity: ExpandRequest, options: AwaitOptions = {}): Promise<Expanded> {
    return this.#changing.expand(key, capacity, options);
  }

  /**
   * Changes mutable parameters of a volume; those that are not named stay as they are. Resolves when the plugin has taken
   * them. What fails leaves the volume usable.
   * @throws StagecraftError INVALID_ARGUMENT; VOLUME_NOT_FOUND, VOLUME_DELETING; CSI_ERROR, PLUGIN_LACKS; TIMEOUT,
   *   ABORTED: the work goes on
   * @see CSI specification, ControllerModifyVolume
   */
  modify(key: VolumeKeyInput, mutableParameters: Record<string, string>, options: AwaitOptions = {}): Promise<void> {
    return this.#changing.modify(key, mutableParameters, options);
  }

  /**
   * How much room a plugin has for volumes like these; of all kinds and everywhere, where nothing is said.
   * @throws StagecraftError INVALID_ARGUMENT; PLUGIN_NOT_FOUND, PLUGIN_LACKS, PLUGIN_UNAVAILABLE; CSI_ERROR; ABORTED
   * @see CSI specification, GetCapacity
   */
  async capacity(plugin: string, request: CapacityRequest = {}, options: AwaitOptions = {}): Promise<Capacity> {
    this.#client.refuseIfClosed();
    return this.#options.capacity(plugin, request, options);
  }

  /**
   * Claims a volume for an alloc on a node; the same alloc again has the same claim. One that is not created yet is waited
   * for first. Resolves when it is taken: also where its signal comes too late to withdraw it, so that nobody has a claim
   * without knowing.
   * @throws StagecraftError CLAIM_CONFLICT naming who has it; VOLUME_NOT_FOUND, VOLUME_UNAVAILABLE, VOLUME_DELETING,
   *   NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, INVALID_ARGUMENT; CSI_ERROR: it can't be made; ABORTED: it waits no more
   */
  claim(key: VolumeKeyInput, options: ClaimOptions): Promise<Claim> {
    return this.#claiming.claim(key, options);
  }

  /**
   * The workload of an alloc has stopped, or it waits no longer. Its claim keeps its slot until the node has let go of
   * the volume. Nothing where it has none. Resolves once that is committed.
   * @param only of this node, and of this generation: what the alloc has elsewhere, or since, stays as it is
   * @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT
   */
  async release(key: VolumeKeyInput, allocId: string, only: ReleaseOptions = {}): Promise<void> {
    const known = checked(nameSchema, allocId, 'the alloc id');
    const { nodeId, generation } = checked(releaseSchema, only, 'the options');
    await this.#client.tell(key, {
      type: 'volume.release',
      allocId: known,
      ...(nodeId !== undefined && { nodeId }),
      ...(generation !== undefined && { generation }),
    });
  }

  /**
   * Retries failed work, and tries waiting work now. After a forced deletion: the work that is left.
   * @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT; VOLUME_IN_USE: only a node can undo what is left
   */
  async retry(key: VolumeKeyInput, options: RetryOptions = {}): Promise<void> {
    await this.#client.tell(key, { type: 'volume.retry', ...checkedRetry(options) });
  }

  /** `pause` and `drain`: no new use; with `drain` those who use it are told by event. @throws StagecraftError VOLUME_NOT_FOUND */
  async setAvailability(key: VolumeKeyInput, availability: Availability): Promise<void> {
    const known = checked(availabilitySchema, availability, 'the availability');
    await this.#client.tell(key, { type: 'volume.set-availability', availability: known });
  }

  /** What was left behind by a deletion is seen to: the volume is forgotten. @throws StagecraftError VOLUME_NOT_FOUND; NOTHING_LEFT */
  async acknowledge(key: VolumeKeyInput): Promise<void> {
    await this.#client.tell(key, { type: 'volume.acknowledge' });
  }

  /**
   * Volumes by pages, in the order of their keys; what is deleted only while something of it may be left.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE
   */
  async list(filter: VolumeFilter = {}): Promise<Page<Volume>> {
    this.#client.refuseIfClosed();
    return listVolumes(this.#engine, filter);
  }

  /** A volume as committed last; undefined where there is none. */
  async get(key: VolumeKeyInput): Promise<Volume | undefined> {
    this.#client.refuseIfClosed();
    const view = await this.#client.view(keyOf(key));
    return view && volumeOf(view.state, view.context);
  }

  /**
   * Compares volumes with what their plugins list, now; each that differs tells so by event, and is mended.
   * @param plugin default: every plugin that has volumes and lists them
   * @throws StagecraftError PLUGIN_NOT_FOUND, PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR, of the plugin that was named;
   *   INVALID_ARGUMENT
   */
  async reconcile(plugin?: string): Promise<Reconciled[]> {
    this.#client.refuseIfClosed();
    if (plugin !== undefined) refuseUnknown(checked(nameSchema, plugin, 'the plugin'), this.#options);
    return this.#options.reconciler.run(plugin);
  }

  /**
   * Follows the changes of volumes, in one order, none left out, from now or from after an event's id. Ends with its
   * signal, its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<VolumeEvent> {
    this.#client.refuseIfClosed();
    return followAs(this.#engine, volumesTopic, options).reading(volumeEventOf);
  }

  /** A volume as it is committed, not to be changed; also on an agent that does not lead. @throws StagecraftError VOLUME_NOT_FOUND */
  async look(key: VolumeKeyInput): Promise<VolumeContext> {
    this.#client.refuseIfClosed();
    return (await this.#client.present(keyOf(key))).context;
  }

  /** As `publish`. @returns the volume as it was committed when it had come there, not to be changed */
  publishTo(key: VolumeKeyInput, nodeId: string, options: ClaimedPublish): Promise<VolumeContext> {
    return this.#publishing.publish(key, nodeId, options);
  }

  /** The node has let go of what a claim has used. Resolves when that is gone. @throws as VolumeClaiming.unstaged */
  unstaged(key: VolumeKeyInput, claim: LetGo, options: AwaitOptions & Telling): Promise<void> {
    return this.#claiming.unstaged(key, claim, options);
  }

  /** Generation under which a forced deletion has on record that a node may have it staged for an alloc; undefined: it has not. */
  async leftStaged(
    key: VolumeKeyInput,
    { nodeId, allocId }: Pick<LetGo, 'nodeId' | 'allocId'>,
  ): Promise<number | undefined> {
    const leftovers = (await this.#client.view(keyOf(key)))?.context.leftovers ?? [];
    return leftovers.find((one) => one.what === 'staged' && one.nodeId === nodeId && one.allocId === allocId)
      ?.generation;
  }

  /** A node has let go of what a hold has stood for. Resolves once that is committed. @throws StagecraftError VOLUME_NOT_FOUND */
  async holdReleased(key: VolumeKeyInput, released: HoldReleased): Promise<void> {
    await this.#client.tell(key, { type: 'volume.hold-released', ...released });
  }

  /** A node has done its part of an expansion; nothing where that was not due. @throws StagecraftError VOLUME_NOT_FOUND */
  async nodeExpanded(key: VolumeKeyInput, expanded: NodeExpanded): Promise<void> {
    await this.#client.tell(key, { type: 'volume.node-expanded', ...expanded });
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#client.interrupt();
  }

  /** Ends all waiting; every later call is refused. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#client.close(reason);
  }
}

const availabilitySchema = z.enum(['active', 'pause', 'drain']);
