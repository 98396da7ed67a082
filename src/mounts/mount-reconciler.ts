/**
 * Compares the mounts in the records with the kernel: at the start, before any call; when a plugin is back; and at
 * intervals. Sends each difference to its mount, as an event. Reads only the mount table and touches nothing that is
 * mounted: whether a file system answers is found out by another process. What follows: machines/mount/changes.ts
 */

import { existsSync } from 'node:fs';
import { mountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { isDead, isStaged } from '../../machines/mount/staging.js';
import type {
  MountContext,
  MountObservation,
  MountRequest,
  StagingObservation,
  Target,
} from '../../machines/mount/types.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, unlessQuarantined } from '../errors.js';
import type { MountTable } from '../host/mount-table.js';
import { forEachLimited } from './for-each-limited.js';
import type { FormerMounts } from './former-mounts.js';
import { isOtherDisk } from './host-tool.js';
import { observedAt, servedAt, strangenessAt, type ToBeSeen } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import type { OrphanedMounts } from './orphaned-mounts.js';
import type { MountPath, MountPaths } from './paths.js';

/** Reaction to a lost mount: mounted again, or only reported. */
export type OnPluginLoss = 'remount' | 'report';

interface MountReconcilerOptions {
  nodeId: string;
  engine: ActorSystem;
  paths: MountPaths;
  tables: MountTables;
  orphans: Pick<OrphanedMounts, 'tell'>;
  /** Mounts of an agent at another place: this host can't show them. */
  former: Pick<FormerMounts, 'why'>;
  /** Whether a mount does not answer. */
  isDead(path: string): Promise<boolean>;
  bootId: string;
  onPluginLoss: OnPluginLoss;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
}

const intervalMs = 30_000;
const retryMs = 1_000;
const subject = "the comparison of mounts with the kernel's table";
/** Mounts that are looked at together, and targets of each: a mount that does not answer takes its time. */
const atOnce = 4;

type Seen = Pick<Extract<MountRequest, { type: 'mount.observed' }>, 'users' | 'staging'>;
const nothingSeen: Seen = { users: [], staging: [] };
type Fail = (error: unknown) => undefined;
/** Mounts by address. */
type Mounts = ReadonlyMap<string, MountContext>;

export class MountReconciler {
  readonly #options: MountReconcilerOptions;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #stop = new AbortController();
  /** Plugins that are compared after the first comparison of all; undefined once that is done. */
  #afterFirst: Set<string> | undefined = new Set();
  /** Log lines about other things seen at our paths, each logged once. */
  #strange = new Set<string>();
  /** Looks under way, by their subject; true: another one follows. */
  readonly #underWay = new Map<string, boolean>();

  constructor(options: MountReconcilerOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  /** Compares all mounts until that succeeds, then goes on at intervals. Resolves after the first time. */
  async start(): Promise<void> {
    await this.#first();
    const back = this.#afterFirst ?? [];
    this.#afterFirst = undefined;
    for (const plugin of back) this.lookSoon(plugin);
    void this.#loop();
  }

  stop(): void {
    this.#stop.abort();
  }

  /**
   * Compares the mounts of a plugin that is back, or all, and finds the dead ones.
   * @throws Error what could not be found out or sent; all else was
   */
  async look(plugin?: string): Promise<void> {
    const looks = await Promise.allSettled([this.#compare(plugin), this.#findDead(plugin)]);
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
  }

  /**
   * Compares these volumes with the mount table, for a caller who is about to rely on it. Dead mounts are still in
   * the table.
   * @throws Error if the table can't be read, or a mount could not be told; the others were
   */
  async compare(volumes: readonly VolumeKey[]): Promise<void> {
    const known = this.#contexts();
    const addresses = volumes.map(({ namespace, id }) => mountAddress(this.#options.nodeId, namespace, id));
    const mounts = new Map([...known].filter(([address]) => addresses.includes(address)));
    if (mounts.size === 0) return;
    const table = await this.#options.tables.table();
    await this.#tellEach(mounts, undefined, (mount) => this.#missing(mount, table));
  }

  /** Compares with the mount table. */
  async #compare(plugin?: string, isFirst = false): Promise<void> {
    // The table is read after the records, so it has all that is committed.
    const before = this.#contexts();
    // If nothing was ever mounted, there is nothing to look for.
    if (before.size === 0 && !existsSync(this.#options.paths.root)) return;
    const table = await this.#options.tables.table();
    const after = this.#contexts();
    await this.#tellEach(before, plugin, (mount) => this.#missing(mount, table), isFirst);
    if (plugin !== undefined) return;
    await this.#options.orphans.tell();
    this.#tellStrange(before, after, table);
  }

  /** Finds dead mounts. Takes its time if some do not answer. */
  async #findDead(plugin?: string): Promise<void> {
    const mounts = this.#contexts();
    if (mounts.size === 0) return;
    const table = await this.#options.tables.table();
    await this.#tellEach(mounts, plugin, (mount, fail) => this.#dead(mount, table, fail));
  }

  /**
   * Sends each mount what is seen of it.
   * @throws Error about those that could not be looked at or told; the others were
   */
  async #tellEach(
    mounts: Mounts,
    plugin: string | undefined,
    seenOf: (mount: MountContext, fail: Fail) => Seen | Promise<Seen>,
    isStart = false,
  ): Promise<void> {
    const failed: Error[] = [];
    await forEachLimited(mounts, atOnce, async ([address, mount]) => {
      if (!mount.volume || (plugin !== undefined && mount.volume.plugin !== plugin)) return;
      const fail = (cause: unknown): undefined =>
        void failed.push(new Error(`${volumeName(mount.key)}: ${messageOf(cause)}`, { cause }));
      const isFormer = this.#options.former.why(mount.key) !== undefined;
      const seen = isFormer ? nothingSeen : await seenOf(mount, fail);
      if (!isStart && seen.users.length + seen.staging.length === 0) return;
      const told = this.#mounts.report(address, { type: 'mount.observed', ...seen, isStart });
      await told.catch(unlessQuarantined).catch(fail);
    });
    const [first, ...more] = failed;
    if (!first) return;
    if (more.length > 0) first.message += `; and ${more.length} more`;
    throw first;
  }

  #contexts(): Mounts {
    return new Map([...this.#mounts.views()].map(([address, { context }]) => [address, context]));
  }

  /**
   * Logs each stranger once and leaves it alone: the mount that it covers is still there, and one that it has
   * replaced is mounted again once the stranger is gone.
   * @param after records from after the table was read: a stranger may be what was mounted meanwhile
   */
  #tellStrange(before: Mounts, after: Mounts, table: MountTable): void {
    const strange = new Set<string>();
    for (const [address, mount] of before) {
      const still = new Map(this.#shown(after.get(address)).map(({ path, number }) => [path, number]));
      for (const shown of this.#shown(mount)) {
        const { path, number, where } = shown;
        const stranger = still.get(path) === number ? strangenessAt(table, shown) : undefined;
        if (stranger === undefined) continue;
        const told = `${path}: ${stranger}`;
        strange.add(told);
        if (!this.#strange.has(told))
          this.#options.logger.warn({ path }, `${volumeName(mount.key)}${where}: ${stranger}`);
      }
    }
    this.#strange = strange;
  }

  /** Paths where the kernel should show a mount, and what. */
  #shown(mount: MountContext | undefined): (ToBeSeen & { number: number; where: string })[] {
    if (!mount?.volume) return [];
    const { paths } = this.#options;
    const { key, volume, staging, users } = mount;
    const isShown = isStaged(staging) && staging.found !== undefined;
    return [
      ...(isShown ? [{ ...staging, path: paths.staging(volume.plugin, key).path, where: ', where it is staged' }] : []),
      ...users
        .filter((user) => isIn(user, 'published'))
        .map((user) => ({ ...user, path: paths.target(volume.plugin, key, user.allocId).path, where: '' })),
    ];
  }

  /** Compares the mounts of a plugin that is back, once the first comparison is done. */
  lookSoon(plugin: string): void {
    if (this.#afterFirst) this.#afterFirst.add(plugin);
    else if (!this.#stop.signal.aborted) void this.#again(`plugin ${plugin}`, () => this.look(plugin));
  }

  async #first(): Promise<void> {
    const { clock, troubles } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      try {
        await this.#compare(undefined, true);
        troubles.over(this);
        break;
      } catch (error) {
        if (signal.aborted) break;
        const message = `mounts can't be compared with the kernel's table yet: ${messageOf(error)}`;
        troubles.failed(this, { subject, message, cause: error });
        await pause(clock, retryMs, signal);
      }
    }
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(this.#options.clock, intervalMs, signal);
      if (signal.aborted) return;
      void this.#again('dead', () => this.#findDead());
      await this.#again('all', () => this.#compare());
    }
  }

  /** Repeats a failed look in its turn. Calls during a look share one more look after it. */
  async #again(what: string, look: () => Promise<void>): Promise<void> {
    if (this.#underWay.has(what)) {
      this.#underWay.set(what, true);
      return;
    }
    const { troubles } = this.#options;
    const task = `mounts: ${what}`;
    do {
      this.#underWay.set(what, false);
      await look().then(
        () => troubles.over(task),
        (error: unknown) => {
          const message = `mounts can't be compared with the kernel's table now: ${messageOf(error)}`;
          troubles.failed(task, { subject, message, cause: error });
        },
      );
    } while (this.#underWay.get(what) && !this.#stop.signal.aborted);
    this.#underWay.delete(what);
  }

  #missing({ key, volume, users, staging, bootId }: MountContext, table: MountTable): Seen {
    const { paths } = this.#options;
    const { plugin = '' } = volume ?? {};
    const isMended = this.#isMended(bootId);
    const isThere = table.has(paths.staging(plugin, key).path);
    const { number, found } = staging;
    const isMissing = isStaged(staging) && (this.#isOfOtherBoot(bootId) || (found !== undefined && !isThere));
    // Somebody may have removed the obstacle of other targets.
    const isDeadGone = isDead(staging) && !isThere;
    return {
      users: users
        .filter((user) => isIn(user, 'published') && isGone(table, paths.target(plugin, key, user.allocId), user))
        .map(({ number }) => ({ number, is: 'missing', isMended })),
      staging: isMissing || isDeadGone ? [{ number, isMended, ...(isDeadGone && { isGone: true }) }] : [],
    };
  }

  async #dead({ key, volume, users, staging, bootId }: MountContext, table: MountTable, fail: Fail): Promise<Seen> {
    const { paths } = this.#options;
    const { plugin = '' } = volume ?? {};
    const isMended = this.#isMended(bootId);
    /** Answers by device: what is bound from a dead mount is dead itself. Undefined: that could not be found out. */
    const asked = new Map<string, Promise<boolean | undefined>>();
    const ask = (path: string, device: string): Promise<boolean | undefined> => {
      const isDead = asked.get(device) ?? this.#options.isDead(path).catch(fail);
      asked.set(device, isDead);
      return isDead;
    };
    const isDeadAt = async (shown: ToBeSeen): Promise<boolean | undefined> => {
      const served = servedAt(table, shown);
      return served ? ask(shown.path, served.device) : false;
    };
    const { path } = paths.staging(plugin, key);
    const seenOfStaging = async (): Promise<Pick<StagingObservation, 'isDead' | 'isGone'> | undefined> => {
      const { found } = staging;
      // A stage that failed, or whose answer was lost, may have left a mount that died with its driver.
      if (!isDead(staging) && !isIn(staging, 'not-needed'))
        return (await isDeadAt({ path, found: isStaged(staging) ? found : undefined })) ? { isDead: true } : undefined;
      // The plugin may have removed the obstacle of other targets.
      const { is } = observedAt(table, { path, found });
      const isKept = isDead(staging) && users.some((user) => isIn(user, 'published'));
      const mayLive = isKept && (is === 'ours' || is === 'replaced');
      return mayLive && (await isDeadAt({ path, found })) === false ? { isGone: true } : undefined;
    };
    const seen = await seenOfStaging();
    const observations: MountObservation[] = [];
    await forEachLimited(users, atOnce, async (user) => {
      if (!isIn(user, 'published')) return;
      const { number, allocId, found } = user;
      const shown = { path: paths.target(plugin, key, allocId).path, found };
      if (await isDeadAt(shown)) observations.push({ number, is: 'dead', isMended });
    });
    return { users: observations, staging: seen ? [{ number: staging.number, isMended, ...seen }] : [] };
  }

  /** Whether it was mounted in another boot of the host: such mounts are gone, and so are their users. */
  #isOfOtherBoot(mountedIn: string | null): boolean {
    return mountedIn !== null && mountedIn !== this.#options.bootId;
  }

  #isMended(mountedIn: string | null): boolean {
    return this.#options.onPluginLoss === 'remount' && !this.#isOfOtherBoot(mountedIn);
  }
}

/** Whether the volume is not at its target any more: nothing is mounted there, or its device shows another disk. */
const isGone = (table: MountTable, { path }: MountPath, { found }: Target): boolean =>
  !table.has(path) || (found?.disk !== undefined && isOtherDisk(found.disk));
