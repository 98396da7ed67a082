/**
 * Public surface for volumes: `runtime.volumes`. Checks each request, then sends it to the volume's actor, which commits it
 * before the work begins (machines/volume/volume.ts). Reads return committed state.
 * Implementation: volume-creation.ts, volume-publishing.ts, volume-claiming.ts, volume-changing.ts
 */
import { z } from 'zod';
import { volumeStateOf } from '../../machines/volume/states.js';
import type {
  Availability,
  Claim,
  HoldReleased,
  NodeExpanded,
  VolumeChanged,
  VolumeContext,
} from '../../machines/volume/types.js';
import type { Clock } from '../engine/clock.js';
import type { FollowOptions } from '../engine/topics/topic-reader.js';
import { changeOf } from '../engine/topics/topics.js';
import { refuseNoObject, type StagecraftError } from '../errors.js';
import { nameSchema, nodeIdSchema } from '../host/names.js';
import { isMeant, type Page } from '../requests/actor-pages.js';
import {
  type AwaitOptions,
  checkedRetry,
  type DeleteOptions,
  type RetryOptions,
  type WaitReporting,
} from '../requests/await-options.js';
import { checked, type VolumeKeyInput, volumeKeyOf } from '../requests/fields.js';
import type { Capacity, CapacityRequest } from './capacity.js';
import type { FormerHolders } from './node-records.js';
import type { OrphanedVolume, OrphanedVolumes } from './orphaned-volumes.js';
import type { OrphanLook, Reconciled, Reconciler } from './reconciler.js';
import { filterSchema, type VolumeFilter, type VolumeSpec } from './spec.js';
import { type Expanded, type ExpandRequest, VolumeChanging } from './volume-changing.js';
import { refuseUnknown } from './volume-checks.js';
import { type ClaimOptions, type LetGo, VolumeClaiming } from './volume-claiming.js';
import { VolumeClient } from './volume-client.js';
import { type CreateOptions, VolumeCreation, type VolumeCreationPorts } from './volume-creation.js';
import { volumesTopic } from './volume-kind.js';
import { VolumePlacement, type VolumePlacementPorts } from './volume-placement.js';
import {
  type ClaimedPublish,
  type PublishingPorts,
  type PublishOptions,
  VolumePublishing,
} from './volume-publishing.js';
import { type Volume, type VolumeEvent, volumeOf } from './volume-view.js';

export type { ClaimOptions } from './volume-claiming.js';
export type { PublishOptions } from './volume-publishing.js';

export interface Orphans extends OrphanLook {
  orphans: OrphanedVolume[];
}

interface VolumeManagerOptions extends VolumeCreationPorts, VolumePlacementPorts, PublishingPorts {
  reconciler: Pick<Reconciler, 'run' | 'lookForOrphans'>;
  orphans: Pick<OrphanedVolumes, 'of' | 'all' | 'told'>;
  former: Pick<FormerHolders, 'of'>;
  clock: Clock;
  capacity(plugin: string, request: CapacityRequest, options: AwaitOptions): Promise<Capacity>;
}

/** Selects a claim of an alloc; default: the claim that the alloc has. */
interface ReleaseOptions {
  nodeId?: string | undefined;
  generation?: number | undefined;
}

const releaseSchema: z.ZodType<ReleaseOptions> = z.strictObject({
  nodeId: nodeIdSchema.optional(),
  generation: z.int().nonnegative().optional(),
});

export class VolumeManager {
  readonly #options: VolumeManagerOptions;
  readonly #client: VolumeClient;
  readonly #making: VolumeCreation;
  readonly #publishing: VolumePublishing;
  readonly #claiming: VolumeClaiming;
  readonly #changing: VolumeChanging;

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    this.#client = new VolumeClient(options);
    const places = new VolumePlacement(options);
    this.#making = new VolumeCreation(this.#client, options);
    this.#publishing = new VolumePublishing(this.#client, places, options);
    this.#claiming = new VolumeClaiming(this.#client, places);
    this.#changing = new VolumeChanging(this.#client);
  }

  /**
   * Creates a volume, or registers one that exists (`external`). Safe to repeat with the same spec. Resolves once the volume
   * is created.
   * @param home node where the volume is made, if its plugin has separate volumes on each host; default: where it is asked for
   * @throws StagecraftError INVALID_ARGUMENT with every fault; PLUGIN_NOT_FOUND; VOLUME_EXISTS: this key has another spec, or
   *   another volume has the CSI id; VOLUME_NOT_FOUND, VOLUME_ELSEWHERE: its source; SECRETS_UNAVAILABLE, unless `wait`;
   *   CSI_ERROR, PLUGIN_LACKS: the creation failed; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, CreateVolume
   */
  create(spec: VolumeSpec, options: CreateOptions = {}): Promise<Volume> {
    return this.#making.create(spec, options);
  }

  /**
   * Publishes a volume to a node. Resolves once ControllerPublishVolume has succeeded. First waits until the volume is created,
   * as its topology is not known before; until then nothing is stored.
   * @throws StagecraftError VOLUME_NOT_FOUND, NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL, VOLUME_UNAVAILABLE,
   *   VOLUME_DELETING, INVALID_ARGUMENT; VOLUME_IN_USE names the node that has it; SECRETS_UNAVAILABLE, unless `wait`;
   *   CSI_ERROR; TIMEOUT, ABORTED: the work goes on
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
   * Unpublishes a volume from a node; does nothing if it is not published there. Resolves once ControllerUnpublishVolume has
   * succeeded.
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE names the allocs that have claimed it there; CSI_ERROR;
   *   TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, ControllerUnpublishVolume
   */
  unpublish(key: VolumeKeyInput, nodeId: string, options: AwaitOptions = {}): Promise<void> {
    return this.#publishing.unpublish(key, nodeId, options);
  }

  /**
   * Deletes a volume. An `external` volume is only forgotten, and stays at its plugin. Resolves once it is gone.
   * @param force delete it even while in use; unconfirmed leftovers stay listed (`leftovers`) until acknowledged
   * @param uid deletes the volume with this uid only: if it is deleted, or another one has its id, does nothing
   * @throws StagecraftError VOLUME_NOT_FOUND; VOLUME_IN_USE names its users; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, DeleteVolume
   */
  delete(key: VolumeKeyInput, options: DeleteOptions = {}): Promise<void> {
    return this.#making.delete(key, options);
  }

  /**
   * Expands a volume. If the plugin can't expand a published volume, waits until it is unpublished. A later call
   * replaces one that is not done; the present size takes it back. Resolves once ControllerExpandVolume has succeeded. A failure leaves the volume usable.
   * @param capacity size of the whole volume, in bytes; does nothing if the volume is as large already
   * @returns `nodeExpansionRequired`: NodeExpandVolume is still due. `capacityBytes` is absent if the plugin does not report it
   * @throws StagecraftError INVALID_ARGUMENT: the size is below the present one; VOLUME_NOT_FOUND, VOLUME_DELETING; CSI_ERROR,
   *   PLUGIN_LACKS; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, ControllerExpandVolume
   */
  expand(key: VolumeKeyInput, capacity: ExpandRequest, options: AwaitOptions = {}): Promise<Expanded> {
    return this.#changing.expand(key, capacity, options);
  }

  /**
   * Changes mutable parameters of a volume. Parameters that are not named stay as they are. Resolves once
   * ControllerModifyVolume has succeeded. A failure leaves the volume usable.
   * @throws StagecraftError INVALID_ARGUMENT; VOLUME_NOT_FOUND, VOLUME_DELETING; CSI_ERROR, PLUGIN_LACKS; TIMEOUT,
   *   ABORTED: the work goes on
   * @see CSI specification, ControllerModifyVolume
   */
  modify(key: VolumeKeyInput, mutableParameters: Record<string, string>, options: AwaitOptions = {}): Promise<void> {
    return this.#changing.modify(key, mutableParameters, options);
  }

  /**
   * Asks a plugin for its free capacity for the described volumes; by default for all volumes and all segments.
   * @throws StagecraftError INVALID_ARGUMENT; PLUGIN_NOT_FOUND, PLUGIN_LACKS, PLUGIN_UNAVAILABLE; CSI_ERROR; ABORTED
   * @see CSI specification, GetCapacity
   */
  async capacity(plugin: string, request: CapacityRequest = {}, options: AwaitOptions = {}): Promise<Capacity> {
    this.#client.refuseIfClosed();
    return this.#options.capacity(plugin, request, options);
  }

  /**
   * Claims a volume for an alloc on a node. Safe to repeat: the alloc gets the same claim. First waits until the volume is
   * created. Resolves once the claim is taken, even if `signal` is aborted too late to withdraw it: a caller knows every claim
   * that it has.
   * @throws StagecraftError CLAIM_CONFLICT names the holder; VOLUME_NOT_FOUND, VOLUME_UNAVAILABLE, VOLUME_DELETING,
   *   NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, INVALID_ARGUMENT; CSI_ERROR: the creation failed; ABORTED: withdrawn
   */
  claim(key: VolumeKeyInput, options: ClaimOptions): Promise<Claim> {
    return this.#claiming.claim(key, options);
  }

  /**
   * Releases the claim of an alloc, or withdraws it from the queue. A released claim still counts until the node has
   * unmounted the volume. Does nothing without a claim. Resolves once the release is committed.
   * @param only release only a claim of this node and this generation
   * @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT
   */
  async release(key: VolumeKeyInput, allocId: string, only: ReleaseOptions = {}): Promise<void> {
    const known = checked(nameSchema, allocId, 'the alloc id');
    const { nodeId, generation } = checked(releaseSchema, only, 'the options');
    await this.#client.askExisting(key, {
      type: 'volume.release',
      allocId: known,
      ...(nodeId !== undefined && { nodeId }),
      ...(generation !== undefined && { generation }),
    });
  }

  /**
   * Retries failed work and runs waiting work now. After a forced deletion, retries its leftovers.
   * @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT; VOLUME_IN_USE: only a node can undo the leftovers
   */
  async retry(key: VolumeKeyInput, options: RetryOptions = {}): Promise<void> {
    await this.#client.askExisting(key, { type: 'volume.retry', ...checkedRetry(options) });
  }

  /**
   * Sets the availability. `pause` and `drain` refuse new use; `drain` also asks users by event to stop.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  async setAvailability(key: VolumeKeyInput, availability: Availability): Promise<void> {
    const known = checked(availabilitySchema, availability, 'the availability');
    await this.#client.askExisting(key, { type: 'volume.set-availability', availability: known });
  }

  /**
   * Forgets a deleted volume whose leftovers the caller has cleaned up.
   * @throws StagecraftError VOLUME_NOT_FOUND; NOTHING_LEFT
   */
  async acknowledge(key: VolumeKeyInput): Promise<void> {
    await this.#client.askExisting(key, { type: 'volume.acknowledge' });
  }

  /**
   * Lists volumes by pages, in the order of their keys. A deleted volume is listed only while it has leftovers.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE
   */
  list(filter: VolumeFilter = {}): Promise<Page<Volume>> {
    return this.#client.list(filterSchema, filter, ({ state, context }, { node, idPrefix = '', ...conditions }) => {
      const { key, spec, publications } = context;
      const isListed =
        isMeant({ plugin: spec?.plugin, state: volumeStateOf(state, context) }, conditions) &&
        (node === undefined || Object.hasOwn(publications, node)) &&
        key.id.startsWith(idPrefix);
      return isListed ? volumeOf(state, context) : undefined;
    });
  }

  /** Returns the committed state of a volume; undefined if there is none. */
  async get(key: VolumeKeyInput): Promise<Volume | undefined> {
    const view = await this.#client.get(key);
    return view && volumeOf(view.state, view.context);
  }

  /**
   * Compares volumes with ListVolumes of their plugins, now. A volume that differs emits an event and is repaired.
   * @param plugin default: every plugin that has volumes and offers LIST_VOLUMES
   * @throws StagecraftError INVALID_ARGUMENT; PLUGIN_NOT_FOUND, PLUGIN_UNAVAILABLE, PLUGIN_LACKS, CSI_ERROR, if a plugin was
   *   named
   */
  async reconcile(plugin?: string): Promise<Reconciled[]> {
    this.#client.refuseIfClosed();
    if (plugin !== undefined) await refuseUnknown(checked(nameSchema, plugin, 'the plugin'), this.#options);
    return this.#options.reconciler.run(plugin);
  }

  /**
   * Plugins that list volumes without a record, in words, as the comparisons of this runtime have found them last; none while
   * another one leads.
   */
  get orphansFound(): readonly { plugin: string; what: string }[] {
    return this.#options.orphans.told;
  }

  /**
   * Reads the lists of plugins, and finds the volumes in them that no record has. Others who use the same storage may have made
   * them. While a volume is being created, only those that were found before are listed.
   * @param plugin default: every plugin with a controller
   * @throws StagecraftError INVALID_ARGUMENT, PLUGIN_NOT_FOUND
   */
  async orphans(plugin?: string): Promise<Orphans> {
    this.#client.refuseIfClosed();
    const { reconciler, orphans } = this.#options;
    if (plugin !== undefined) await refuseUnknown(checked(nameSchema, plugin, 'the plugin'), this.#options);
    const look = await reconciler.lookForOrphans(plugin);
    return { orphans: plugin === undefined ? orphans.all : orphans.of(plugin), ...look };
  }

  /**
   * Follows the changes of volumes in order and without gaps, from now on or after the id of an event. Ends with its signal,
   * its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<VolumeEvent> {
    return this.#client.updates(volumesTopic, options, changeOf<VolumeChanged>);
  }

  /**
   * Returns the committed context, which must not be changed. Works without leading, too.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  async look(key: VolumeKeyInput): Promise<VolumeContext> {
    return (await this.#client.present(this.#client.accept(key))).context;
  }

  /** Publishes as `publish` does. @returns committed context with the publication, which must not be changed */
  publishTo(key: VolumeKeyInput, nodeId: string, options: ClaimedPublish): Promise<VolumeContext> {
    return this.#publishing.publish(key, nodeId, options);
  }

  /**
   * Reports that the node has unmounted the volume for a claim. Resolves once the claim is gone.
   * @throws as VolumeClaiming.unstaged
   */
  unstaged(key: VolumeKeyInput, claim: LetGo, options: AwaitOptions & WaitReporting): Promise<void> {
    return this.#claiming.unstaged(key, claim, options);
  }

  /**
   * Returns the claim generation of a leftover staging on a node for an alloc, after a forced deletion; undefined if
   * there is none.
   */
  async leftStaged(
    key: VolumeKeyInput,
    { nodeId, allocId }: Pick<LetGo, 'nodeId' | 'allocId'>,
  ): Promise<number | undefined> {
    const leftovers = (await this.#client.view(volumeKeyOf(key)))?.context.leftovers ?? [];
    return leftovers.find((one) => one.what === 'staged' && one.nodeId === nodeId && one.allocId === allocId)
      ?.generation;
  }

  /**
   * Reports that a node has unmounted the volume for a hold. Resolves once that is committed.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  async holdReleased(key: VolumeKeyInput, released: HoldReleased): Promise<void> {
    await this.#client.askExisting(key, { type: 'volume.hold-released', ...released });
  }

  /**
   * Reports that a node has expanded the volume; does nothing if that was not due.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  async nodeExpanded(key: VolumeKeyInput, expanded: NodeExpanded): Promise<void> {
    await this.#client.askExisting(key, { type: 'volume.node-expanded', ...expanded });
  }

  /** Ends all waits with the error of `peek`, as another runtime leads now. */
  interrupt(): void {
    this.#client.interrupt();
  }

  /** Ends all waits and refuses every later request. */
  close(reason?: StagecraftError): void {
    this.#client.close(reason);
  }
}

export const availabilitySchema = z.enum(['active', 'pause', 'drain']);
