/**
 * `runtime.mounts`: volumes on this node. Reads committed records; every change goes through the mailbox of the mount
 * (machines/mount/mount.ts), or of the alloc of a single mount (allocs/single-mounts.ts)
 */

import { z } from 'zod';
import type { Failure } from '../../machines/kit/host.js';
import { isIn } from '../../machines/kit/parts.js';
import type { MountChanged, MountContext } from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { EarlierHolds } from '../allocs/earlier-holds.js';
import type { SingleMounts } from '../allocs/single-mounts.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import { byAddress } from '../engine/actors-of.js';
import type { FollowOptions } from '../engine/topics/topic-reader.js';
import { changeOf } from '../engine/topics/topics.js';
import { refuseNoObject, type StagecraftError } from '../errors.js';
import {
  type AwaitOptions,
  awaitSchema,
  checkedOptions,
  checkedRetry,
  type RetryOptions,
  type WaitOptions,
  waitSchema,
} from '../requests/await-options.js';
import { checked, type VolumeKeyInput, volumeKeyOf } from '../requests/fields.js';
import type { FormerMounts } from './former-mounts.js';
import { type MountClient, userOf } from './mount-client.js';
import { mountNotFound } from './mount-faults.js';
import { mountsTopic } from './mount-kind.js';
import { observedAt, strangenessAt, type ToBeSeen } from './mount-seen.js';
import { allocIdOf, type KnownMount, knownMount, type MountRequest } from './mount-spec.js';
import type { Following, MountInfo } from './mount-steps.js';
import { type MountTables, shownHere } from './mount-tables.js';
import { elsewhere, type MountEvent, type MountStatus, mountStatusOf } from './mount-view.js';
import type { OrphanedMount, OrphanedMounts } from './orphaned-mounts.js';
import type { MountPaths } from './paths.js';
import type { Stats, VolumeStats } from './volume-stats.js';

interface MountManagerOptions {
  client: MountClient;
  singles: SingleMounts;
  holds: Pick<EarlierHolds, 'claim' | 'unmount'>;
  paths: MountPaths;
  tables: MountTables;
  stats: Stats;
  orphans: OrphanedMounts;
  former: Pick<FormerMounts, 'why'>;
  access: PluginAccess;
  /** Compares these with the kernel. */
  compare(volumes: readonly VolumeKey[]): Promise<void>;
}

export class MountManager {
  readonly #options: MountManagerOptions;
  readonly #client: MountClient;

  constructor(options: MountManagerOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  /**
   * Mounts a volume for an alloc, at a path of its own, with a claim; the same request again has the same result. The
   * volume is published to this node, and unpublished with the last claim here. Resolves when the kernel shows it.
   * @param options `wait`: waits for what may come, such as the claim of another alloc, in place of a refusal. The end of
   *   `timeoutMs`, or `signal`, ends the wait only. While it stands under a hold of 0.3.0 its claim is always waited for
   * @throws StagecraftError INVALID_ARGUMENT; CLAIM_CONFLICT naming who has it; VOLUME_NOT_FOUND, VOLUME_IN_USE,
   *   NOT_LEADER, SECRETS_UNAVAILABLE, HOST_UNFIT, CSI_ERROR, MOUNT_NOT_AS_ASKED, PLUGIN_LACKS: what was begun is undone;
   *   TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, NodeStageVolume and NodePublishVolume
   */
  async mount(request: MountRequest, options: WaitOptions = {}): Promise<MountInfo> {
    this.#client.refuseIfClosed();
    const asked = knownMount(request);
    const { wait, ...limits } = checkedOptions(waitSchema, options);
    const { singles, holds } = this.#options;
    return this.#within(limits, asked, async (following) => {
      await holds.claim(asked, following);
      return singles.mount(asked, { ...following, wait });
    });
  }

  /**
   * Unmounts a volume of an alloc, and unstages it after the last alloc; does nothing if it is not mounted. Gives up
   * a mount that somebody waits for. Resolves when the kernel does not show it any more, and its claim is released.
   * @throws StagecraftError INVALID_ARGUMENT; CLAIM_CONFLICT: the alloc has it by `allocations.prepare`; TIMEOUT, ABORTED:
   *   the work is repeated until it is done
   * @see CSI specification, NodeUnpublishVolume and NodeUnstageVolume
   */
  async unmount(request: Omit<MountRequest, 'usage'> & { usage?: unknown }, options: AwaitOptions = {}): Promise<void> {
    this.#client.refuseIfClosed();
    refuseNoObject(request, 'the request');
    const { volume, allocId } = request;
    const limits = checkedOptions(awaitSchema, options);
    const asked = { key: volumeKeyOf(volume), allocId: allocIdOf(allocId) };
    const { singles, holds } = this.#options;
    await this.#within(limits, asked, async (following) => {
      if (await singles.unmount(asked, following)) return;
      singles.refuseOfAlloc(asked);
      await holds.unmount(asked, following);
    });
  }

  /** Runs a request within its limits, and names what it waits for if they end it. */
  async #within<T>(
    limits: AwaitOptions,
    asked: Pick<KnownMount, 'key' | 'allocId'>,
    work: (following: Following) => Promise<T>,
  ): Promise<T> {
    let reason: string | null = null;
    const onWait = (why: string | null): void => {
      reason = why;
    };
    return this.#client.within(limits, { ...asked, trouble: () => reason }, (signal) => work({ signal, onWait }));
  }

  /** Whether the alloc has the volume in this way, and the kernel shows it. @throws StagecraftError INVALID_ARGUMENT */
  async has(request: MountRequest): Promise<boolean> {
    this.#client.refuseIfClosed();
    const asked = knownMount(request);
    // If it is mounted anew while the table is read, the table shows the old or the new one.
    const before = this.#shownFor(asked);
    const table = await this.#options.tables.table();
    return [before, this.#shownFor(asked)].some(
      (shown) => shown && observedAt(table, shown).is === 'ours' && strangenessAt(table, shown) === undefined,
    );
  }

  /** Path where an alloc has a volume in just that way, and what is to be seen there. */
  #shownFor({ key, allocId, usage, readOnly }: KnownMount): ToBeSeen | undefined {
    const context = this.#client.contextAt(key);
    const user = context && userOf(context, allocId);
    if (!context?.volume || !user || !isIn(user, 'published') || user.readOnly !== readOnly) return undefined;
    const { accessMode, attachmentMode } = context.capability ?? {};
    if (accessMode !== usage.accessMode || attachmentMode !== usage.attachmentMode) return undefined;
    const { path } = this.#options.paths.target(context.volume.plugin, key, allocId);
    return { path, found: user.found };
  }

  /** All volumes that are here, or are to go, in the order of their keys. */
  async list(): Promise<MountStatus[]> {
    const all = await this.told();
    return all.sort(byAddress(({ volume }) => this.#client.addressOf(volume)));
  }

  /** These volumes only. */
  async told(volumes?: readonly VolumeKey[]): Promise<MountStatus[]> {
    this.#client.refuseIfClosed();
    const { paths, tables, former } = this.#options;
    // Without the table, what is seen in place of a mount is left out.
    const table = await tables.table().catch(() => undefined);
    return this.#client.committed(volumes).flatMap(({ state, context }) => {
      const why = former.why(context.key);
      const status = mountStatusOf(state, context, paths, why === undefined ? table : undefined);
      if (!status) return [];
      if (why !== undefined) return [elsewhere(status, why)];
      const trouble = status.error ? undefined : this.#silence(context);
      return trouble ? { ...status, error: trouble } : status;
    });
  }

  /**
   * Usage and health as the plugin reports them now.
   * @throws StagecraftError MOUNT_NOT_FOUND; MOUNT_ELSEWHERE; PLUGIN_LACKS, PLUGIN_UNAVAILABLE, CSI_ERROR, TIMEOUT
   * @see CSI specification, NodeGetVolumeStats
   */
  async stats(key: VolumeKeyInput): Promise<VolumeStats> {
    return this.#options.stats.of(this.#client.accept(key));
  }

  /**
   * Retries what failed, tries now what waits for its time, and mounts again what the kernel does not show any more.
   * @throws StagecraftError MOUNT_NOT_FOUND, INVALID_ARGUMENT
   */
  async retry(key: VolumeKeyInput, options: RetryOptions = {}): Promise<void> {
    const known = this.#client.accept(key);
    const accepting = checkedRetry(options);
    if (!this.#client.contextAt(known)?.volume) throw mountNotFound(known, this.#client.node);
    await this.#options.compare([known]);
    await this.#client.ask(known, { type: 'mount.retry', ...accepting });
    await this.#options.singles.retry(known);
  }

  /**
   * Orphaned mounts: those below our directory without an owner, as a driver that died may have mounted late, and
   * those that their plugin was to unmount and has not. @param volume default: of all volumes
   */
  async orphans(volume?: VolumeKeyInput): Promise<OrphanedMount[]> {
    this.#client.refuseIfClosed();
    const all = await this.#options.orphans.list();
    if (volume === undefined || all.length === 0) return all;
    const shown = await shownHere(this.#options, volumeKeyOf(volume));
    return all.filter(({ path }) => shown.includes(path));
  }

  /**
   * Unmounts an orphaned mount; what it was mounted on stays.
   * @throws StagecraftError INVALID_ARGUMENT: it is none; MOUNT_STAYS: it is in use
   */
  async cleanOrphan(path: string): Promise<void> {
    this.#client.refuseIfClosed();
    await this.#options.orphans.clean(checked(pathSchema, path, 'the path'));
  }

  /**
   * Follows the events of mounts here in one order, none left out, from now or from after an event's id.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<MountEvent> {
    return this.#client.updates(mountsTopic(this.#client.node), options, changeOf<MountChanged>);
  }

  /** Ends all waiting; every later call is refused. */
  close(reason?: StagecraftError): void {
    this.#client.close(reason);
  }

  /** Failure of a plugin that is known to be unhealthy: a call that it does not answer goes on until its deadline. */
  #silence({ volume, work }: MountContext): Failure | undefined {
    const trouble = volume && work?.isCalling ? this.#options.access.obstacle({ plugin: volume.plugin }) : undefined;
    if (trouble === undefined) return undefined;
    return { code: 'PLUGIN_UNAVAILABLE', message: `a call is under way (${work?.kind}); ${trouble}`, final: false };
  }
}

const pathSchema = z.string();
