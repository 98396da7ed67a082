/**
 * How full a mounted volume is, and how well, as its plugin says: asked for on demand, and at intervals where the plugin
 * tells of conditions, so that one that becomes abnormal is broadcast. One call for a volume at a time, be it for stats or
 * to change something.
 */

import { mountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { isStaged } from '../../machines/mount/staging.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { callFailureOf } from '../calls/call-failure.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import type { AdmittedCall } from '../calls/plugin-port.js';
import { otherDriver } from '../calls/plugin-refusals.js';
import { lockKey, nodeCallsOf, type VolumeLocks } from '../calls/volume-locks.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import { answerWithin, type Limits, withDeadline } from '../engine/deadline.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import { forEachLimited } from './for-each-limited.js';
import type { FormerMounts } from './former-mounts.js';
import { mountNotFound } from './mount-faults.js';
import type { NodePort, NodeStats, VolumePlace } from './node-port.js';
import type { MountPaths } from './paths.js';

/** Sizes are bytes, or numbers of inodes; above 2⁵³−1 in decimal. */
export interface VolumeStats extends NodeStats {
  volume: VolumeKey;
  /** Moment of the request, milliseconds since the epoch. */
  at: number;
}

interface StatsOptions {
  nodeId: string;
  engine: ActorSystem;
  node: Pick<NodePort, 'stats'>;
  access: PluginAccess;
  /** Locks that are shared with all calls in this process. */
  locks: VolumeLocks;
  paths: MountPaths;
  /** Mounts of an agent at another place: their plugins are not asked. */
  former: Pick<FormerMounts, 'why' | 'refuse'>;
  /** Directory where a plugin sees its own paths of this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
  clock: Clock;
  logger: Logger;
  /** Time between two looks at all volumes. */
  intervalMs: number;
  /** Limit for one call to the node service; a call for stats takes no longer than `mostMs`. */
  timeoutMs: number;
}

/** Limit for the wait for a turn and for the plugin. */
const waitMs = 10_000;
/** Limit for the answer of the plugin: calls that change the volume wait no longer than that. */
const mostMs = 10_000;
/** Volumes of one plugin that are looked at together. */
const atOnce = 4;

export class Stats {
  readonly #options: StatsOptions;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #stop = new AbortController();
  /** Calls under way, by address. */
  readonly #underWay = new Map<string, Promise<VolumeStats>>();
  /** Plugins whose volumes are being looked at. */
  readonly #lookedAt = new Set<string>();

  constructor(options: StatsOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  /** Looks at all volumes at intervals. */
  start(): void {
    void this.#loop();
  }

  stop(): void {
    this.#stop.abort(new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed'));
  }

  /**
   * Asks for the stats of a volume. Calls at the same time share the answer.
   * @throws StagecraftError MOUNT_NOT_FOUND, MOUNT_ELSEWHERE, PLUGIN_LACKS, PLUGIN_UNAVAILABLE, CSI_ERROR
   */
  of(key: VolumeKey): Promise<VolumeStats> {
    const address = mountAddress(this.#options.nodeId, key.namespace, key.id);
    const present = this.#underWay.get(address);
    if (present) return present;
    const asked = this.#ask(address, key).finally(() => this.#underWay.delete(address));
    this.#underWay.set(address, asked);
    return asked;
  }

  async #ask(address: string, key: VolumeKey): Promise<VolumeStats> {
    const { locks } = this.#options;
    const lock = this.#lockOf(address, key);
    const limits = this.#limits(waitMs, `${volumeName(key)} has had no turn`);
    await withDeadline(limits, (signal) => locks.wait([lock], signal));
    try {
      // The volume may be another one by now.
      if (this.#lockOf(address, key) !== lock) return await this.#ask(address, key);
      return await this.#asked(address, key);
    } finally {
      locks.leave([lock]);
    }
  }

  /** Asks when it is the call's turn. */
  async #asked(address: string, key: VolumeKey): Promise<VolumeStats> {
    const { access, clock } = this.#options;
    const { plugin, driver, ...place } = this.#placeOf(address, key);
    const admitted = await access.enter({ plugin }, { signal: this.#stop.signal, waitMs, waits: () => {} });
    try {
      const other = otherDriver({ plugin, ...(driver && { driver }) }, admitted.observation);
      if (other) throw new StagecraftError(other.code, `${volumeName(key)}: ${other.message}`, { address });
      const { capabilities } = admitted.observation;
      if (!capabilities.has('GET_VOLUME_STATS') && !capabilities.has('VOLUME_CONDITION'))
        throw new StagecraftError('PLUGIN_LACKS', `plugin '${plugin}' offers no GET_VOLUME_STATS: it gives none`);
      const at = clock.now();
      const seen = await this.#answer(admitted, plugin, place);
      admitted.leave({ grpcCode: 'OK' });
      const { condition = null } = seen;
      // A known condition would only fill the journal, and push out who has mounted the volume.
      if (!isSameData(this.#mounts.peek(address)?.context.condition ?? null, condition))
        await this.#mounts.report(address, { type: 'mount.condition', condition });
      return { volume: key, at, ...seen };
    } catch (error) {
      admitted.leave(callFailureOf(error));
      throw error;
    } finally {
      admitted.leave();
    }
  }

  /**
   * Answers once the call ends or is given up; a call that was given up lets the next one in, whether its client
   * heeds that or not.
   */
  #answer(admitted: AdmittedCall, plugin: string, place: VolumePlace): Promise<NodeStats> {
    const { node, timeoutMs } = this.#options;
    const ask = async (signal: AbortSignal): Promise<NodeStats> => {
      const client = await admitted.client();
      signal.throwIfAborted();
      return node.stats(client, place, { signal });
    };
    return answerWithin(this.#limits(Math.min(timeoutMs, mostMs), `plugin '${plugin}' gave no stats`), ask);
  }

  /** A time limit, and the life of the runtime. @param failed says what has not happened in time */
  #limits(timeoutMs: number, failed: string): Limits {
    const late = (): StagecraftError => new StagecraftError('TIMEOUT', `${failed} within ${timeoutMs} ms`);
    return { clock: this.#options.clock, timeoutMs, late, ends: [this.#stop.signal] };
  }

  #lockOf(address: string, key: VolumeKey): string {
    const { plugin, csiId } = this.#placeOf(address, key);
    return lockKey(plugin, nodeCallsOf(csiId));
  }

  /** @throws StagecraftError MOUNT_NOT_FOUND, MOUNT_ELSEWHERE */
  #placeOf(address: string, key: VolumeKey): VolumePlace & { plugin: string; driver: string | undefined } {
    const { paths, baseDirOf, nodeId, former } = this.#options;
    former.refuse(key);
    const context = this.#mounts.peek(address)?.context;
    const user = context?.users.find((one) => isIn(one, 'published'));
    const isStagedHere = context !== undefined && isStaged(context.staging);
    if (!context?.volume || (!user && !isStagedHere)) throw mountNotFound(key, nodeId);
    const { plugin, driver, csiId } = context.volume;
    const told = (path: string): string => paths.toPlugin(plugin, path, baseDirOf(plugin));
    const staging = told(paths.staging(plugin, key).path);
    const volumePath = user ? told(paths.target(plugin, key, user.allocId).path) : staging;
    return { plugin, driver, csiId, volumePath, ...(isStagedHere && { stagingPath: staging }) };
  }

  async #loop(): Promise<void> {
    const { clock, intervalMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(clock, intervalMs, signal);
      if (!signal.aborted) this.#look();
    }
  }

  /** Looks at mounted volumes of plugins that can be asked now and report conditions: each plugin on its own. */
  #look(): void {
    const { access, former } = this.#options;
    const due = new Map<string, VolumeKey[]>();
    for (const [, { context }] of this.#mounts.views()) {
      const { key, volume, users } = context;
      if (!volume || !users.some((user) => isIn(user, 'published')) || former.why(key) !== undefined) continue;
      const { plugin } = volume;
      if (access.obstacle({ plugin }) !== undefined || !access.offers(plugin, 'VOLUME_CONDITION')) continue;
      due.set(plugin, [...(due.get(plugin) ?? []), key]);
    }
    for (const [plugin, keys] of due) void this.#lookAtAll(plugin, keys);
  }

  /** Looks at the volumes of one plugin; left out while the look before goes on. */
  async #lookAtAll(plugin: string, keys: VolumeKey[]): Promise<void> {
    if (this.#lookedAt.has(plugin)) return;
    this.#lookedAt.add(plugin);
    await forEachLimited(keys, atOnce, (key) => this.#lookAt(key));
    this.#lookedAt.delete(plugin);
  }

  /** Never rejects. */
  async #lookAt(key: VolumeKey): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.of(key).catch((error: unknown) => {
      const address = mountAddress(this.#options.nodeId, key.namespace, key.id);
      this.#options.logger.debug({ address }, `its condition can't be had now: ${messageOf(error)}`);
    });
  }
}
