/**
 * Holds what is believed of mounts against what the kernel shows: as the runtime starts, before any call; when a plugin is
 * back; and at intervals. What differs is told to the mount concerned, as an event in its mailbox, like all else. Only the
 * kernel's table is read: nothing that is mounted is touched. What is to be done then: machines/mount-changes.ts
 */
import { existsSync } from 'node:fs';
import { nodeOwnedPrefix } from '../../machines/addresses.js';
import type { MountContext, MountSight, StagingSight } from '../../machines/mount-types.js';
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

export class MountWatch {
  readonly #options: MountWatchOptions;
  readonly #stop = new AbortController();
  #compared: Promise<void> | undefined;
  /** Targets that were told of, as something else is seen there. */
  #covered = new Set<string>();
  /** By plugin, or undefined for all; whether there is to be another one after it. */
  readonly #underWay = new Map<string | undefined, boolean>();

  constructor(options: MountWatchOptions) {
    this.#options = options;
  }

  /** Compares all, as often as that takes, then goes on at intervals. Resolves after the first time. */
  start(): Promise<void> {
    this.#compared ??= this.#first();
    return this.#compared;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Compares the mounts of a plugin that is back, or all. */
  async look(plugin?: string, isFirst = false): Promise<void> {
    const { engine, nodeId, paths, tables } = this.#options;
    // What is committed before the table is read must be in it.
    const views = [...engine.views(nodeOwnedPrefix('mount', nodeId))];
    // Where nothing was ever mounted there is nothing to look for.
    if (views.length === 0 && !existsSync(paths.root)) return;
    const table = await tables.table();
    await sideBySide(views, atOnce, async ([address, { context }]) => {
      const mount = context as MountContext;
      if (!mount.volume || (plugin !== undefined && mount.volume.plugin !== plugin)) return;
      const seen = await this.#seen(mount, table, plugin !== undefined);
      if (isFirst || seen.users.length + seen.staging.length > 0)
        await engine.ask(address, { type: 'mount.observed', ...seen, isStart: isFirst }).catch(unlessOutOfService);
    });
    if (plugin !== undefined) return;
    await this.#options.strays.tell();
    this.#tellCovered(
      views.map(([, { context }]) => context as MountContext),
      table,
    );
  }

  /** Logs each once. What is not ours is left alone, and what it covers is there still, or is mounted again once that is gone. */
  #tellCovered(mounts: MountContext[], table: MountTable): void {
    const { paths, logger } = this.#options;
    const covered = new Set<string>();
    for (const { key, volume, users } of mounts) {
      if (!volume) continue;
      for (const { state, allocId, found } of users) {
        if (state !== 'published') continue;
        const { path } = paths.target(volume.plugin, key, allocId);
        const stranger = strangerAt(table, path, found);
        if (!stranger) continue;
        covered.add(path);
        if (!this.#covered.has(path)) logger.warn({ path }, `${nameOf(key)} is ${coveredBy(stranger)}`);
      }
    }
    this.#covered = covered;
  }

  /** Compares the mounts of a plugin that is back, once the first time is over. */
  lookSoon(plugin: string): void {
    if (this.#compared && !this.#stop.signal.aborted) void this.#compared.then(() => this.#lookAgain(plugin));
  }

  async #first(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      try {
        await this.look(undefined, true);
        break;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({}, `mounts can't be compared with the kernel's table yet: ${messageOf(error)}`);
        await pause(clock, retryMs, signal);
      }
    }
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
        this.#options.logger.debug({}, `mounts can't be compared with the kernel's table now: ${messageOf(error)}`);
      });
    } while (this.#underWay.get(plugin) && !this.#stop.signal.aborted);
    this.#underWay.delete(plugin);
  }

  async #seen(
    { key, volume, users, staging, bootId: mountedIn }: MountContext,
    table: MountTable,
    mayBeDead: boolean,
  ): Promise<{ users: MountSight[]; staging: StagingSight[] }> {
    const { paths, bootId, onPluginLoss } = this.#options;
    const plugin = volume?.plugin ?? '';
    // What was mounted in another boot is gone with it, and so are those who had it.
    const isNewBoot = mountedIn !== null && mountedIn !== bootId;
    const isMended = onPluginLoss === 'remount' && !isNewBoot;
    const isDeadAt = async (path: string): Promise<boolean> => {
      const entry = table.at(path).at(-1);
      return entry !== undefined && isOfProcess(entry) && (await this.#options.isDead(path));
    };
    const stagings: StagingSight[] = [];
    if (staging.state === 'staged') {
      const { number, found } = staging;
      const { path } = paths.staging(plugin, key);
      const isMissing = isNewBoot || (found !== undefined && table.at(path).length === 0);
      const isDead = !isMissing && mayBeDead && (await isDeadAt(path));
      if (isMissing || isDead) stagings.push({ number, isMended, ...(isDead && { isDead }) });
    }
    // What is bound from something dead is dead itself.
    const isAllDead = stagings.some(({ isDead }) => isDead);
    const sights: MountSight[] = [];
    await sideBySide(users, atOnce, async ({ state, number, allocId }) => {
      if (state !== 'published') return;
      const { path } = paths.target(plugin, key, allocId);
      const isThere = table.at(path).length > 0;
      const isDead = isThere && mayBeDead && (isAllDead || (await isDeadAt(path)));
      if (!isThere || isDead) sights.push({ number, is: isDead ? 'dead' : 'missing', isMended });
    });
    return { users: sights, staging: stagings };
  }
}
