/**
 * Holds what is believed of mounts against what the kernel shows: as the runtime starts, before any call; when a plugin is
 * back; and at intervals. What differs is told to the mount concerned, as an event in its mailbox, like all else. Only the
 * kernel's table is read: nothing that is mounted is touched; whether what a process serves answers still, a process of its
 * own finds out. What is to be done then: machines/mount-changes.ts
 */
import { existsSync } from 'node:fs';
import { nodeOwnedPrefix } from '../../machines/addresses.js';
import type { KernelMount, MountContext, MountRequest, MountSight, StagingSight } from '../../machines/mount-types.js';
import { nameOf } from '../../machines/volume-requests.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import type { MountTable } from '../host/mount-table.js';
import { coveredBy, isOfProcess, strangerAt } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import { unlessOutOfService } from './out-of-service.js';
import type { MountPaths } from './paths.js';
import { sideBySide } from './side-by-side.js';
import type { Strays } from './strays.js';

/** What is done about a mount that is not there any more: it is mounted again, or only told of. */
export type OnPluginLoss = 'remount' | 'report';

export interface MountWatchOptions {
  nodeId: string;
  engine: Pick<Engine, 'views' | 'ask'>;
  paths: MountPaths;
  tables: MountTables;
  strays: Pick<Strays, 'tell'>;
  /** Whether a mount that is there answers. */
  isDead(path: string): Promise<boolean>;
  bootId: string;
  onPluginLoss: OnPluginLoss;
  clock: Clock;
  logger: Logger;
}

const intervalMs = 30_000;
const retryMs = 1_000;
/** Mounts that are looked at together, and targets of each: one that does not answer takes its time. */
const atOnce = 4;

/** What a look could not find out, or tell: the others are looked at all the same. */
interface Failed {
  volume: string;
  error: unknown;
}

type Seen = Pick<Extract<MountRequest, { type: 'mount.observed' }>, 'users' | 'staging'>;

export class MountWatch {
  readonly #options: MountWatchOptions;
  readonly #stop = new AbortController();
  #tellCompared: () => void = () => {};
  /** The first comparison is done. */
  readonly #compared = new Promise<void>((resolve) => {
    this.#tellCompared = resolve;
  });
  #isStarted = false;
  /** Places that were told of, as something else is seen there. */
  #covered = new Set<string>();
  /** By plugin, or undefined for all; whether there is to be another one after it. */
  readonly #underWay = new Map<string | undefined, boolean>();

  constructor(options: MountWatchOptions) {
    this.#options = options;
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
   * Compares the mounts of a plugin that is back, or all.
   * @param isFirst calls wait for it: whether mounts answer is not asked
   * @throws Error where something could not be compared; all else was
   */
  async look(plugin?: string, isFirst = false): Promise<void> {
    const { engine, paths, tables } = this.#options;
    // What is committed before the table is read must be in it.
    const before = this.#mounts();
    // Where nothing was ever mounted there is nothing to look for.
    if (before.size === 0 && !existsSync(paths.root)) return;
    const table = await tables.table();
    const after = this.#mounts();
    const failed: Failed[] = [];
    await sideBySide(before, atOnce, async ([address, mount]) => {
      if (!mount.volume || (plugin !== undefined && mount.volume.plugin !== plugin)) return;
      const fail = (error: unknown): void => void failed.push({ volume: nameOf(mount.key), error });
      const seen = await this.#seen(mount, table, isFirst ? undefined : fail);
      if (isFirst || seen.users.length + seen.staging.length > 0)
        await engine
          .ask(address, { type: 'mount.observed', ...seen, isStart: isFirst })
          .catch(unlessOutOfService)
          .catch(fail);
    });
    if (plugin === undefined) {
      await this.#options.strays.tell();
      this.#tellCovered(before, after, table);
    }
    const [first, ...more] = failed;
    if (!first) return;
    const others = more.length > 0 ? `; and ${more.length} more` : '';
    throw new Error(`${first.volume}: ${messageOf(first.error)}${others}`, { cause: first.error });
  }

  #mounts(): Map<string, MountContext> {
    const { engine, nodeId } = this.#options;
    const views = engine.views(nodeOwnedPrefix('mount', nodeId));
    return new Map([...views].map(([address, { context }]) => [address, context as MountContext]));
  }

  /**
   * Logs each once. What is not ours is left alone, and what it covers is there still, or is mounted again once that is gone.
   * @param after as it was once the table was read: what was mounted anew meanwhile may be what that shows
   */
  #tellCovered(before: Map<string, MountContext>, after: Map<string, MountContext>, table: MountTable): void {
    const covered = new Set<string>();
    for (const [address, mount] of before) {
      const still = new Map(this.#shown(after.get(address)).map(({ path, number }) => [path, number]));
      for (const { path, number, found } of this.#shown(mount)) {
        const stranger = still.get(path) === number ? strangerAt(table, path, found) : undefined;
        if (!stranger) continue;
        covered.add(path);
        if (!this.#covered.has(path))
          this.#options.logger.warn({ path }, `${nameOf(mount.key)} is ${coveredBy(stranger)}`);
      }
    }
    this.#covered = covered;
  }

  /** Where the kernel is to show it, and what. */
  #shown(mount: MountContext | undefined): { path: string; number: number; found?: KernelMount }[] {
    if (!mount?.volume) return [];
    const { paths } = this.#options;
    const { key, volume, staging, users } = mount;
    const isShown = staging.state === 'staged' && staging.found !== undefined;
    return [
      ...(isShown ? [{ ...staging, path: paths.staging(volume.plugin, key).path }] : []),
      ...users
        .filter(({ state }) => state === 'published')
        .map((user) => ({ ...user, path: paths.target(volume.plugin, key, user.allocId).path })),
    ];
  }

  /** Compares the mounts of a plugin that is back, once the first time is over. */
  lookSoon(plugin: string): void {
    void this.#compared.then(() => {
      if (!this.#stop.signal.aborted) void this.#lookAgain(plugin);
    });
  }

  async #first(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      try {
        await this.look(undefined, true);
        break;
      } catch (error) {
        if (signal.aborted) break;
        logger.warn({}, `mounts can't be compared with the kernel's table yet: ${messageOf(error)}`);
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
      if (!signal.aborted) await this.#lookAgain();
    }
  }

  /** What fails is done again in its turn. All who ask during a look have one more after it. */
  async #lookAgain(plugin?: string): Promise<void> {
    if (this.#underWay.has(plugin)) {
      this.#underWay.set(plugin, true);
      return;
    }
    do {
      this.#underWay.set(plugin, false);
      await this.look(plugin).catch((error: unknown) => {
        this.#options.logger.warn({}, `mounts can't be compared with the kernel's table now: ${messageOf(error)}`);
      });
    } while (this.#underWay.get(plugin) && !this.#stop.signal.aborted);
    this.#underWay.delete(plugin);
  }

  /** @param fail told what could not be asked; absent: whether mounts answer is not asked */
  async #seen(
    { key, volume, users, staging, bootId: mountedIn }: MountContext,
    table: MountTable,
    fail: ((error: unknown) => void) | undefined,
  ): Promise<Seen> {
    const { paths, bootId, onPluginLoss } = this.#options;
    const plugin = volume?.plugin ?? '';
    // What was mounted in another boot is gone with it, and so are those who had it.
    const isNewBoot = mountedIn !== null && mountedIn !== bootId;
    const isMended = onPluginLoss === 'remount' && !isNewBoot;
    const isDeadAt = async (path: string, found: KernelMount | undefined): Promise<boolean> => {
      const entry = table.at(path).at(-1);
      if (!fail || !entry || !isOfProcess(entry) || strangerAt(table, path, found)) return false;
      return this.#options.isDead(path).catch((error: unknown) => {
        fail(error);
        return false;
      });
    };
    const stagings: StagingSight[] = [];
    const { path: stagingPath } = paths.staging(plugin, key);
    const isStaged = staging.state === 'staged';
    const isMissing = isStaged && (isNewBoot || (staging.found !== undefined && !table.has(stagingPath)));
    // A stage whose answer was lost may have left something that died with its driver.
    const mayBeDead = isStaged ? !isMissing : staging.state === 'doubtful' && !staging.isDead;
    const isDead = mayBeDead && (await isDeadAt(stagingPath, isStaged ? staging.found : undefined));
    if (isMissing || isDead) stagings.push({ number: staging.number, isMended, ...(isDead && { isDead }) });
    // What is bound from something dead is dead itself.
    const deadDevice = isDead ? table.at(stagingPath).at(-1)?.device : undefined;
    const sights: MountSight[] = [];
    await sideBySide(users, atOnce, async ({ state, number, allocId, found }) => {
      if (state !== 'published') return;
      const { path } = paths.target(plugin, key, allocId);
      const isThere = table.has(path);
      const isBound = deadDevice !== undefined && table.at(path).at(-1)?.device === deadDevice;
      if (!isThere) sights.push({ number, is: 'missing', isMended });
      else if (isBound || (await isDeadAt(path, found))) sights.push({ number, is: 'dead', isMended });
    });
    return { users: sights, staging: stagings };
  }
}
