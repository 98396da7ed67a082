/**
 * Holds keep a volume attached to this node while an alloc without a claim has it mounted. The controller side
 * commits a hold before anything is staged, and releases it once nothing of that alloc is here. Reports of mounts are
 * repeated until they succeed, also by the next runtime. Definition: machines/volume/wishes.ts
 */

import { mountAddress } from '../../machines/kit/addresses.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { MountContext } from '../../machines/mount/types.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { onAbort, unlessAborted } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { oneAtATime } from '../engine/one-at-a-time.js';
import { isRetryable, messageOf, StagecraftError } from '../errors.js';
import { limited } from '../requests/limited.js';
import type { ClaimClient } from './claim-client.js';
import { forEachLimited } from './for-each-limited.js';
import { type MountClient, userOf } from './mount-client.js';
import { retrying } from './retry.js';

export interface HoldsOptions {
  nodeId: string;
  engine: ActorSystem;
  client: MountClient;
  claims: Pick<ClaimClient, 'look' | 'holdReleased'>;
  clock: Clock;
  logger: Logger;
}

/** An alloc and a volume. */
interface Use {
  key: VolumeKey;
  allocId: string;
}

interface Given {
  signal: AbortSignal;
  onWait(reason: string | null): void;
}

/** A mount that a caller waits for: until it ends, its hold may be newer than the one in its record. */
interface MountUnderWay {
  end: AbortController;
  ended: Promise<unknown>;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;
/** Time between two rounds. */
const intervalMs = 60_000;
const looksAtOnce = 16;
/** Limit for one answer. */
const limitMs = 10_000;

type MountView = ViewOf<typeof mountMachine>;

export class Holds {
  readonly #options: HoldsOptions;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #stop = new AbortController();
  readonly #mounting = new Map<string, Set<MountUnderWay>>();
  /** Addresses of mounts whose reports are being sent. */
  readonly #reporting = new Set<string>();
  /** Whether each check of the last round was answered. */
  #isAnswered = false;
  #unobserve: () => void = () => {};

  constructor(options: HoldsOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  start(): void {
    this.#unobserve = this.#mounts.observe(({ address, view }) => this.#noticed(address, view));
    for (const [address, view] of this.#mounts.views()) this.#noticed(address, view);
    void this.#loop();
  }

  /**
   * Checks whether the holds of all mounts here are kept. What waits for that is mounted; what was fenced, or deleted
   * with force, is unmounted. Calls at the same time share one round. An unanswered check is repeated in the next
   * round. Never rejects.
   */
  readonly look = oneAtATime(async (): Promise<void> => {
    const mounts = [...this.#mounts.views()].map(heldIn).filter(({ users }) => users.length > 0);
    let isAnswered = true;
    let isSilent = false;
    const silent = (): void => {
      isSilent = true;
    };
    await forEachLimited(mounts, looksAtOnce, async (mount) => {
      // Skips the other volumes once the claims port does not answer for one.
      if (isSilent || !(await this.#check(mount, silent))) isAnswered = false;
    });
    this.#isAnswered = isAnswered;
  });

  /** Checks the holds of one volume. */
  async lookAt(key: VolumeKey): Promise<void> {
    const address = mountAddress(this.#options.nodeId, key.namespace, key.id);
    const view = this.#mounts.peek(address);
    const mount = view && heldIn([address, view]);
    if (mount && mount.users.length > 0) await this.#check(mount);
  }

  /**
   * @returns whether there was an answer that is no error
   * @param silent called if there was no answer at all
   */
  async #check({ address, key, users }: HeldMount, silent?: () => void): Promise<boolean> {
    const { logger } = this.#options;
    try {
      const kept = await this.#limited((signal) => this.#holdsOf(key, signal), silent);
      for (const { allocId, hold, isUnconfirmed } of users) {
        const isKept = kept.some((one) => one.allocId === allocId && one.generation >= hold);
        if (!isKept) await this.#mounts.report(address, { type: 'mount.leave', allocId, hold });
        else if (isUnconfirmed) await this.#mounts.report(address, { type: 'mount.confirm', allocId });
      }
      return true;
    } catch (error) {
      logger.debug({ address }, `cannot ask now whether its holds are kept: ${messageOf(error)}`);
      return false;
    }
  }

  /** Checks at intervals; sooner after a round without answers, as mounts may wait for it. */
  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      await pause(this.#options.clock, this.#isAnswered ? intervalMs : retryMs, signal);
      if (signal.aborted) return;
      retryMs = this.#isAnswered ? firstRetryMs : Math.min(retryMs * 2, intervalMs);
      await this.look();
    }
  }

  stop(): void {
    this.#unobserve();
    this.#stop.abort(new Error('the runtime was closed'));
  }

  /**
   * Runs a mount that asks for a hold. `endMounts` gives it up.
   * @throws StagecraftError ABORTED: unmounted meanwhile; what the work throws
   */
  async mounting<T>(use: Use, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const end = new AbortController();
    const unsubscribe = onAbort(signal, () => end.abort(signal.reason));
    const name = nameIn(use);
    const all = this.#mounting.get(name) ?? new Set();
    this.#mounting.set(name, all);
    const done = work(end.signal);
    const one: MountUnderWay = { end, ended: done.catch(() => {}) };
    all.add(one);
    try {
      return await done;
    } catch (error) {
      if (end.signal.aborted) throw end.signal.reason;
      await this.#failed(use, end.signal);
      throw error;
    } finally {
      unsubscribe();
      all.delete(one);
      if (all.size === 0) this.#mounting.delete(name);
    }
  }

  /** Gives up the mounts of an alloc that callers wait for. Resolves when none of them asks for anything any more. */
  async endMounts(use: Use, signal: AbortSignal): Promise<void> {
    const all = [...(this.#mounting.get(nameIn(use)) ?? [])];
    const message = `${nameOf(use.key)} was unmounted for alloc ${use.allocId} meanwhile`;
    for (const { end } of all)
      end.abort(new StagecraftError('ABORTED', message, { address: this.#options.client.addressOf(use.key) }));
    if (all.length > 0) await unlessAborted(signal, () => Promise.all(all.map(({ ended }) => ended)));
  }

  /** Resolves once the controller side has been told what a mount has to report of an alloc. */
  async reported({ key, allocId }: Use, signal: AbortSignal): Promise<void> {
    await this.#options.client.until(key, {
      goal: `reported as unmounted for alloc ${allocId}`,
      reached: ({ unreported = [] }) => (unreported.some((one) => one.allocId === allocId) ? undefined : true),
      gone: true,
      signal,
    });
  }

  /** Resolves when the controller side keeps no hold of an alloc that has nothing here any more. */
  async released(use: Use, given: Given): Promise<void> {
    const { claims, clock, nodeId, engine } = this.#options;
    const { key, allocId } = use;
    const { signal } = given;
    // Without the store no hold is released.
    const mayRetry = (error: unknown): boolean => isRetryable(error) && !engine.storeTrouble();
    const policy = { clock, ...given, mayRetry };
    await this.reported(use, signal);
    // A runtime that was killed while it mounted may have left a hold that its mount does not know of.
    const holds = await retrying(policy, () => this.#holdsOf(key, signal));
    const hold = holds.find((one) => one.allocId === allocId);
    // A later mount request has a newer hold.
    if (!hold || this.#isWanted(use)) return;
    await retrying(policy, () => claims.holdReleased(key, { nodeId, ...hold }, { signal }));
  }

  /** Releases the hold before the caller is told that the mount failed, if the claims port answers in time. */
  async #failed(use: Use, signal: AbortSignal): Promise<void> {
    const { clock, engine, client } = this.#options;
    // If nothing is here, or the store is away, there is nothing to wait for.
    if (!client.contextAt(use.key) || engine.storeTrouble()) return;
    const failed = (): Error => new Error(`no answer within ${limitMs} ms`);
    const limits = { clock, timeoutMs: limitMs, signal, failed, end: this.#stop.signal };
    await limited(limits, (given) => this.reported(use, given)).catch(() => {});
  }

  #isWanted(use: Use): boolean {
    const context = this.#options.client.contextAt(use.key);
    return this.#mounting.has(nameIn(use)) || (context !== undefined && userOf(context, use.allocId) !== undefined);
  }

  async #holdsOf(key: VolumeKey, signal: AbortSignal): Promise<Hold[]> {
    const { claims, nodeId } = this.#options;
    try {
      return (await claims.look(key, { nodeId }, { signal })).holds ?? [];
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return [];
      throw error;
    }
  }

  #noticed(address: string, view: MountView | undefined): void {
    if (!view || unreportedIn(view.context).length === 0) return;
    if (this.#reporting.has(address)) return;
    this.#reporting.add(address);
    void this.#report(address).finally(() => this.#reporting.delete(address));
  }

  /** Repeats a report until it succeeds, with growing pauses. */
  async #report(address: string): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stop;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      const context = this.#mounts.peek(address)?.context;
      const [hold] = context ? unreportedIn(context) : [];
      if (!context || !hold) return;
      try {
        await this.#tellReleased(context.key, hold);
        await this.#mounts.report(address, { type: 'mount.hold-released', ...hold });
        retryMs = firstRetryMs;
      } catch (error) {
        logger.debug({ address }, `that alloc ${hold.allocId} let go can't be reported now: ${messageOf(error)}`);
        await pause(clock, retryMs, signal);
        retryMs = Math.min(retryMs * 2, longestRetryMs);
      }
    }
  }

  async #tellReleased(key: VolumeKey, hold: Hold): Promise<void> {
    const { claims, nodeId } = this.#options;
    await this.#limited((signal) => claims.holdReleased(key, { nodeId, ...hold }, { signal }));
  }

  #limited<T>(ask: (signal: AbortSignal) => Promise<T>, silent?: () => void): Promise<T> {
    const failed = (): Error => {
      silent?.();
      return new Error(`no answer within ${limitMs} ms`);
    };
    const limits = { clock: this.#options.clock, timeoutMs: limitMs, failed, end: this.#stop.signal };
    return limited(limits, (signal) => unlessAborted(signal, () => ask(signal)));
  }
}

/** A mount with those of its users that have a hold. */
interface HeldMount {
  address: string;
  key: VolumeKey;
  users: { allocId: string; hold: number; isUnconfirmed: boolean }[];
}

function heldIn([address, { context }]: [address: string, view: MountView]): HeldMount {
  const { key, users, unconfirmed } = context;
  const held = users.flatMap(({ allocId, hold, isClaimed }) =>
    hold === undefined || isClaimed ? [] : [{ allocId, hold, isUnconfirmed: unconfirmed.includes(allocId) }],
  );
  return { address, key, users: held };
}

const unreportedIn = ({ unreported }: MountContext): Hold[] => unreported ?? [];

const nameIn = ({ key: { namespace, id }, allocId }: Use): string => JSON.stringify([namespace, id, allocId]);
