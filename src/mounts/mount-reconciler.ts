/**
 * Holds what is believed of mounts against what the kernel shows: as the runtime starts, before any call; when a plugin is
 * back; and at intervals. What differs is told to the mount concerned, as an event in its mailbox, like all else. Only the
 * kernel's table is read: nothing that is mounted is touched; whether what a process serves answers still, a process of its
 * own finds out. What is to be done then: machines/mount/changes.ts
 */

import { existsSync } from 'node:fs';
import { mountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { isDead, isStaged } from '../../machines/mount/staging.js';
import type { MountContext, MountRequest, MountSight, StagingSight } from '../../machines/mount/types.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, unlessQuarantined } from '../errors.js';
import type { MountTable } from '../host/mount-table.js';
import { forEachLimited } from './for-each-limited.js';
import { seenAt, servedAt, strangerAt, type ToBeSeen } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import type { OrphanedMounts } from './orphaned-mounts.js';
import type { MountPaths } from './paths.js';

/** What is done about a mount that is not there any more: it is mounted again, or only told of. */
export type OnPluginLoss = 'remount' | 'report';

export interface MountReconcilerOptions {
  nodeId: string;
  engine: ActorSystem;
  paths: MountPaths;
  tables: MountTables;
  orphans: Pick<OrphanedMounts, 'tell'>;
  /** Whether a mount that is there answers. */
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
/** Mounts that are looked at together, and targets of each: one that does not answer takes its time. */
const atOnce = 4;

type Seen = Pick<Extract<MountRequest, { type: 'mount.observed' }>, 'users' | 'staging'>;
type Fail = (error: unknown) => undefined;
/** By address. */
type Mounts = ReadonlyMap<string, MountContext>;

export class MountReconciler {
  readonly #options: MountReconcilerOptions;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #stop = new AbortController();
  #tellCompared: () => void = () => {};
  /** The first comparison is done. */
  readonly #compared = new Promise<void>((resolve) => {
    this.#tellCompared = resolve;
  });
  #isStarted = false;
  /** What was told of something else that is seen at a place. */
  #strange = new Set<string>();
  /** Looks by what they are for; whether there is to be another one after it. */
  readonly #underWay = new Map<string, boolean>();

  constructor(options: MountReconcilerOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  /** Compares all, as often as that takes, then goes on at intervals. Resolves after the first time. */
  start(): Promise<void> {
    if (!this.#isStarted) void this.#first();
    this.#isStarted = true;
    return this.#compared;
  }

  stop(): void {
    this.#stop.abort();
  }

  /**
   * Compares the mounts of a plugin that is back, or all, and finds out which of them are dead.
   * @throws Error where something could not be found out, or told; all else was
   */
  async look(plugin?: string): Promise<void> {
    const looks = await Promise.allSettled([this.#compare(plugin), this.#findDead(plugin)]);
    for (const look of looks) if (look.status === 'rejected') throw look.reason;
  }

  /**
   * What the kernel's table shows of these volumes, for who is about to go by it. What is dead stands there still.
   * @throws Error where the table can't be read, or one could not be told; the others were
   */
  async compare(volumes: readonly VolumeKey[]): Promise<void> {
    const known = this.#contexts();
    const addresses = volumes.map(({ namespace, id }) => mountAddress(this.#options.nodeId, namespace, id));
    const mounts = new Map([...known].filter(([address]) => addresses.includes(address)));
    if (mounts.size === 0) return;
    const table = await this.#options.tables.table();
    await this.#tellEach(mounts, undefined, (mount) => this.#missing(mount, table));
  }

  /** What the kernel's table tells. */
  async #compare(plugin?: string, isFirst = false): Promise<void> {
    // What is committed before the table is read must be in it.
    const before = this.#contexts();
    // Where nothing was ever mounted there is nothing to look for.
    if (before.size === 0 && !existsSync(this.#options.paths.root)) return;
    const table = await this.#options.tables.table();
    const after = this.#contexts();
    await this.#tellEach(before, plugin, (mount) => this.#missing(mount, table), isFirst);
    if (plugin !== undefined) return;
    await this.#options.orphans.tell();
    this.#tellStrange(before, after, table);
  }

  /** Takes its time where some do not answer. */
  async #findDead(plugin?: string): Promise<void> {
    const mounts = this.#contexts();
    if (mounts.size === 0) return;
    const table = await this.#options.tables.table();
    await this.#tellEach(mounts, plugin, (mount, fail) => this.#dead(mount, table, fail));
  }

  /** Tells each what is seen of it. @throws Error what is known of one that could not be looked at, or told; the others were */
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
        void failed.push(new Error(`${nameOf(mount.key)}: ${messageOf(cause)}`, { cause }));
      const seen = await seenOf(mount, fail);
      if (!isStart && seen.users.length + seen.staging.length === 0) return;
      const told = this.#mounts.ask(address, { type: 'mount.observed', ...seen, isStart });
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
   * Logs each once. What is not ours is left alone: what it covers is there still, and what it has replaced is mounted again
   * once that is gone.
   * @param after as it was once the table was read: what was mounted anew meanwhile may be what that shows
   */
  #tellStrange(before: Mounts, after: Mounts, table: MountTable): void {
    const strange = new Set<string>();
    for (const [address, mount] of before) {
      const still = new Map(this.#shown(after.get(address)).map(({ path, number }) => [path, number]));
      for (const shown of this.#shown(mount)) {
        const { path, number, where } = shown;
        const stranger = still.get(path) === number ? strangerAt(table, shown) : undefined;
        if (stranger === undefined) continue;
        const told = `${path}: ${stranger}`;
        strange.add(told);
        if (!this.#strange.has(told)) this.#options.logger.warn({ path }, `${nameOf(mount.key)}${where}: ${stranger}`);
      }
    }
    this.#strange = strange;
  }

  /** Where the kernel is to show it, and what. */
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

  /** Compares the mounts of a plugin that is back, once the first time is over. */
  lookSoon(plugin: string): void {
    void this.#compared.then(() => {
      if (!this.#stop.signal.aborted) void this.#again(`plugin ${plugin}`, () => this.look(plugin));
    });
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
    this.#tellCompared();
    void this.#loop();
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

  /** What fails is done again in its turn. All who ask during a look have one more after it. */
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
    // What keeps others from being mounted may have been unmounted by somebody.
    const isGone = isDead(staging) && !isThere;
    return {
      users: users
        .filter((user) => isIn(user, 'published') && !table.has(paths.target(plugin, key, user.allocId).path))
        .map(({ number }) => ({ number, is: 'missing', isMended })),
      staging: isMissing || isGone ? [{ number, isMended, ...(isGone && { isGone }) }] : [],
    };
  }

  async #dead({ key, volume, users, staging, bootId }: MountContext, table: MountTable, fail: Fail): Promise<Seen> {
    const { paths } = this.#options;
    const { plugin = '' } = volume ?? {};
    const isMended = this.#isMended(bootId);
    /** By device: what is bound from something dead is dead itself. Undefined: that could not be found out. */
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
    const seenOfStaging = async (): Promise<Pick<StagingSight, 'isDead' | 'isGone'> | undefined> => {
      const { found } = staging;
      // A stage that failed, or whose answer was lost, may have left something that died with its driver.
      if (!isDead(staging) && !isIn(staging, 'not-needed'))
        return (await isDeadAt({ path, found: isStaged(staging) ? found : undefined })) ? { isDead: true } : undefined;
      // What keeps others from being mounted may have been made anew.
      const { is } = seenAt(table, { path, found });
      const isKept = isDead(staging) && users.some((user) => isIn(user, 'published'));
      const mayLive = isKept && (is === 'ours' || is === 'replaced');
      return mayLive && (await isDeadAt({ path, found })) === false ? { isGone: true } : undefined;
    };
    const seen = await seenOfStaging();
    const sights: MountSight[] = [];
    await forEachLimited(users, atOnce, async (user) => {
      if (!isIn(user, 'published')) return;
      const { number, allocId, found } = user;
      const shown = { path: paths.target(plugin, key, allocId).path, found };
      if (await isDeadAt(shown)) sights.push({ number, is: 'dead', isMended });
    });
    return { users: sights, staging: seen ? [{ number: staging.number, isMended, ...seen }] : [] };
  }

  /** What was mounted in another boot is gone with it, and so are those who had it. */
  #isOfOtherBoot(mountedIn: string | null): boolean {
    return mountedIn !== null && mountedIn !== this.#options.bootId;
  }

  #isMended(mountedIn: string | null): boolean {
    return this.#options.onPluginLoss === 'remount' && !this.#isOfOtherBoot(mountedIn);
  }
}
