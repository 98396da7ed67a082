/**
 * `runtime.allocations`: all volumes of an alloc together. Reads committed records; every change goes through the
 * mailbox of the alloc (machines/alloc/alloc.ts).
 */

import { mountsOf } from '../../machines/alloc/parts.js';
import { givenUpIn, lateIn } from '../../machines/alloc/refusals.js';
import type { AllocChanged, AllocContext } from '../../machines/alloc/types.js';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import { mountAddress, singleMountAt } from '../../machines/kit/addresses.js';
import type { Failure } from '../../machines/kit/host.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { byAddress } from '../engine/actors-of.js';
import { pause } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { Engine } from '../engine/engine.js';
import { asData } from '../engine/machine/data.js';
import type { FollowOptions } from '../engine/topics/topic-reader.js';
import { changeOf } from '../engine/topics/topics.js';
import { messageOf, StagecraftError, unlessQuarantined } from '../errors.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import type { FormerMounts } from '../mounts/former-mounts.js';
import { type AllocVolumeRequest, allocIdOf, askedVolumes, knownVolumes } from '../mounts/mount-spec.js';
import type { MountStatus } from '../mounts/mount-view.js';
import {
  type AwaitOptions,
  awaitSchema,
  checkedOptions,
  inTime,
  timeLeft,
  type WaitOptions,
  waitSchema,
} from '../requests/await-options.js';
import type { AllocClient, AllocKey } from './alloc-client.js';
import { type AllocEvent, type AllocStatus, type AllocView, allocStateOf, failedWith, waitsOf } from './alloc-view.js';
import { allWaitsOf } from './alloc-waits.js';
import { allocsTopic } from './alloc-work.js';
import { DefaultModes } from './default-modes.js';
import type { SingleMounts } from './single-mounts.js';

interface AllocationsOptions {
  client: AllocClient;
  engine: Pick<Engine, 'storeTrouble'>;
  claims: Pick<ClaimClient, 'look'>;
  /** Id of the present boot of the host. */
  bootId: string;
  /** Status of these mounts here, or of all. */
  mounts(volumes?: readonly VolumeKey[]): Promise<MountStatus[]>;
  /** Mounts of an agent at another place: no reboot of this host has taken them. */
  former: Pick<FormerMounts, 'why'>;
  /** Compares these with the kernel. */
  compare(volumes: readonly VolumeKey[]): Promise<void>;
  singles: Pick<SingleMounts, 'preparing'>;
}

export class Allocations {
  readonly #options: AllocationsOptions;
  readonly #client: AllocClient;
  readonly #openModes: DefaultModes;
  /** Number of callers that wait for an alloc to be prepared, by its address. */
  readonly #callers = new Map<string, number>();
  /** Refuses what is new, before the client refuses everything. */
  readonly #refusal = new Closing();

  constructor(options: AllocationsOptions) {
    this.#options = options;
    const { client, engine, claims } = options;
    this.#client = client;
    this.#openModes = new DefaultModes({ node: client.node, clock: client.clock, engine, claims });
  }

  /**
   * Has all volumes of an alloc claimed, published and mounted here, or none: where one can't be had, or the time is over,
   * or it is given up, all are given back. The same again is the same. What may come yet is waited for: a slot that is
   * taken, whoever has the volumes, a plugin. What does not come by itself refuses it, unless `wait`. Modes that are left out are those that it has already, else those that the
   * volume was made for first.
   * @param options `timeoutMs`, `signal`: until then it has to be done, else it is undone, unless somebody else in this
   *   process has asked for the same, and waits still; the time outlives this process
   * @returns where they are, in the order of the requests
   * @throws StagecraftError INVALID_ARGUMENT with every fault: nothing was asked of anybody; CLAIM_CONFLICT: the alloc has
   *   others; what keeps a volume from it; TIMEOUT, ABORTED: what was begun is undone, or is being undone where that takes
   *   longer, as while a call hangs; but what was prepared before and is being recovered, or what others here wait for
   *   still: the message says that it goes on; HOST_UNFIT: it was prepared before and stays so, and something else is seen
   *   at the path of a volume
   */
  async prepare(
    allocId: string,
    requests: readonly AllocVolumeRequest[],
    options: WaitOptions = {},
  ): Promise<AllocMount[]> {
    this.#refusal.refuseIfClosed();
    const { bootId } = this.#options;
    const { clock } = this.#client;
    const id = allocIdOf(allocId);
    const key = { allocId: id };
    const asked = askedVolumes(requests);
    const { timeoutMs, signal, wait } = checkedOptions(waitSchema, options);
    const left = timeLeft(clock, timeoutMs);
    const address = this.#client.addressOf(key);
    await this.#client.settled(key, { timeoutMs, signal });
    this.#refusal.refuseIfClosed();
    const of = { allocId: id, address, had: this.#client.volumesAt(key), timeoutMs: left(), signal };
    const volumes = knownVolumes(await this.#openModes.fill(asked, of));
    this.#refusal.refuseIfClosed();
    const limitMs = left();
    const untilMs = limitMs === undefined ? null : clock.now() + limitMs;
    const leave = this.#enter(address);
    try {
      const request = { type: 'alloc.prepare', volumes, untilMs, bootId, wait } as const;
      await this.#options.singles.preparing(id, volumes, () =>
        inTime(clock, { timeoutMs: limitMs, signal }, (limit) => this.#client.ask(key, request, limit)),
      );
      const isStanding = this.#client.stateAt(key) === 'prepared';
      if (isStanding) await this.#options.compare(volumes.map(({ volume }) => volume));
      if (this.#client.hasLost(key)) await this.#client.ask(key, { type: 'alloc.recover', isNewBoot: false });
      const mounts = await this.#prepared(key, { left, signal, leave });
      if (isStanding) await this.#refuseHidden(id);
      return mounts;
    } finally {
      leave();
    }
  }

  /**
   * Releases all volumes of an alloc, once its workload has stopped: unmounts them in parallel, then frees their
   * claims. Does nothing if there is no alloc. Resolves when that is done.
   * @throws StagecraftError INVALID_ARGUMENT; TIMEOUT, ABORTED: the work is repeated until it is done
   */
  async release(allocId: string, options: AwaitOptions = {}): Promise<void> {
    this.#refusal.refuseIfClosed();
    const id = allocIdOf(allocId);
    const waiting = checkedOptions(awaitSchema, options);
    await this.#release({ allocId: id }, waiting);
  }

  /** All allocs of this node, in the order of their ids. */
  async list(): Promise<AllocStatus[]> {
    this.#client.refuseIfClosed();
    const reported = await this.#reportedMounts();
    const all = this.#all().sort(byAddress(([address]) => address));
    return all.map(([, view]) => this.#client.statusOf(view, reported));
  }

  /** @throws StagecraftError ALLOC_NOT_FOUND */
  async status(allocId: string): Promise<AllocStatus> {
    const key = this.#client.accept(allocId);
    const reported = await this.#reportedMounts(this.#client.volumesAt(key).map(({ volume }) => volume));
    const view = this.#client.peek(key);
    if (!view) throw this.#client.notFound(key);
    return this.#client.statusOf(view, reported);
  }

  /**
   * Follows the events of the allocs of this node in one order, none left out, from now or from after an event's id.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<AllocEvent> {
    this.#refusal.refuseIfClosed();
    return this.#client.updates(allocsTopic(this.#client.node), options, changeOf<AllocChanged>);
  }

  /**
   * Recovers all allocs after a start: each is worked on until it is prepared again.
   * @throws StagecraftError STORE_UNAVAILABLE: not all were reported
   */
  async recover(): Promise<void> {
    const { bootId, former } = this.#options;
    const isHere = ({ volumes }: AllocContext): boolean =>
      volumes.every(({ volume }) => former.why(volume) === undefined);
    const tell = (address: string, isNewBoot: boolean): Promise<unknown> =>
      this.#client.actors.ask(address, { type: 'alloc.recover', isNewBoot }).catch(unlessQuarantined);
    await Promise.all(
      [...this.#client.actors.views()].map(([address, { context }]) =>
        tell(address, context.bootId !== bootId && isHere(context)),
      ),
    );
  }

  /**
   * Releases all allocs, also while nothing new is accepted.
   * @throws StagecraftError DRAIN_FAILED naming those that were not released in time
   */
  async releaseAll(timeoutMs: number): Promise<void> {
    const keys = this.#all().map(
      ([
        ,
        {
          context: { allocId },
        },
      ]) => ({ allocId }),
    );
    const standing = 'the next start goes on with it';
    const outcomes = await Promise.allSettled(keys.map((key) => this.#release(key, { timeoutMs, standing })));
    const faults = outcomes.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []));
    if (faults.length > 0) throw new StagecraftError('DRAIN_FAILED', faults.join('; '), { faults });
  }

  /** Accepts nothing new, except `releaseAll` and reading. */
  refuse(reason?: StagecraftError): void {
    this.#openModes.close(this.#refusal.close(reason));
  }

  /** Ends all waiting; every later call is refused. */
  close(reason?: StagecraftError): void {
    this.refuse(reason);
    this.#client.close(reason);
  }

  async #prepared(key: AllocKey, { left, signal, leave }: Caller): Promise<AllocMount[]> {
    const { allocId } = key;
    const address = this.#client.addressOf(key);
    const seen: { isDecided: boolean; failure: Failure | null } = { isDecided: false, failure: null };
    const reached = (view: AllocView): AllocMount[] | undefined => {
      seen.failure = view.context.failure;
      try {
        return preparedIn(address, view);
      } catch (error) {
        seen.isDecided = true;
        throw error;
      }
    };
    const awaited = { key, goal: 'prepared', reached };
    try {
      return await this.#client.until({ ...awaited, standing: 'it goes on', timeoutMs: left(), signal });
    } catch (error) {
      const areOthers = leave();
      const view = this.#client.peek(key);
      const { reason: isRefusing } = this.#refusal;
      // The alloc was released while it was undone, and is gone.
      if (!view && seen.failure && !isRefusing) throw failedWith(address, seen.failure);
      // A caller who gives up takes nothing from an alloc that was prepared before.
      if (seen.isDecided || areOthers || isRefusing || !view || allocStateOf(view.state) === 'recovering') throw error;
      const failure = (signal?.aborted ? givenUpIn : lateIn)({
        allocId,
        waits: allWaitsOf(this.#client.statusOf(view)),
      });
      const aborted = this.#abort(key, failure);
      const trouble = this.#options.engine.storeTrouble();
      if (trouble) throw undoneLater(address, failure, trouble);
      await aborted;
      try {
        // The alloc may have been prepared meanwhile: then the caller gets it.
        return await this.#client.until({ ...awaited, goal: 'undone', timeoutMs: undoingMs });
      } catch (error) {
        if (seen.isDecided || this.#refusal.reason) throw error;
        throw failedWith(address, failure, '; it is being undone still');
      }
    }
  }

  /** Has the alloc undone: repeats the request until the store accepts it. */
  async #abort(key: AllocKey, failure: Failure): Promise<void> {
    for (;;) {
      try {
        await this.#client.ask(key, { type: 'alloc.abort', failure });
        return;
      } catch (error) {
        // Stops at another refusal: the alloc is over, or goes on in another runtime.
        if (!isStoreAway(error)) return;
        await pause(this.#client.clock, abortAgainMs);
      }
    }
  }

  /**
   * Counts one more caller.
   * @returns function that ends the wait, once, and tells whether others still wait
   */
  #enter(address: string): () => boolean {
    const count = (): number => this.#callers.get(address) ?? 0;
    this.#callers.set(address, count() + 1);
    let isHere = true;
    return () => {
      if (isHere) this.#callers.set(address, count() - 1);
      isHere = false;
      const areOthers = count() > 0;
      if (!areOthers) this.#callers.delete(address);
      return areOthers;
    };
  }

  /** @param waiting `standing`: what becomes of the request if the wait is in vain */
  async #release(key: AllocKey, waiting: AwaitOptions & { standing?: string }): Promise<void> {
    const address = this.#client.addressOf(key);
    const message = `alloc ${key.allocId} was released before it was prepared`;
    this.#openModes.end(address, new StagecraftError('ABORTED', message, { address }));
    if (!this.#client.has(key)) return;
    const { standing, ...own } = waiting;
    await inTime(this.#client.clock, own, (limit) => this.#released(key, { standing, signal: limit }));
  }

  async #released(key: AllocKey, waiting: AwaitOptions & { standing: string | undefined }): Promise<void> {
    await this.#client.ask(key, { type: 'alloc.release' }, waiting.signal);
    const reached = (view: AllocView): true | undefined => {
      if (allocStateOf(view.state) === 'releasing') return undefined;
      const message = `alloc ${key.allocId} was prepared again before it was released`;
      throw new StagecraftError('ABORTED', message, { address: this.#client.addressOf(key) });
    };
    await this.#client.until({ key, goal: 'released', reached, gone: true, ...waiting });
  }

  /** Refuses to return paths where the mount is hidden or replaced. */
  async #refuseHidden(id: string): Promise<void> {
    const { volumes } = await this.status(id);
    const hidden = volumes.flatMap(({ name, state, message }) =>
      state === 'mounted' && message !== undefined ? [`${name}: ${message}`] : [],
    );
    if (hidden.length === 0) return;
    const message = `alloc ${id} is prepared, but what it has is not seen at its path: ${hidden.join('; ')}`;
    throw new StagecraftError('HOST_UNFIT', message, { address: this.#client.addressOf({ allocId: id }) });
  }

  async #reportedMounts(volumes?: readonly VolumeKey[]): Promise<(key: VolumeKey) => MountStatus | undefined> {
    const addressOf = ({ namespace, id }: VolumeKey): string => mountAddress(this.#client.node, namespace, id);
    const reported = new Map((await this.#options.mounts(volumes)).map((mount) => [addressOf(mount.volume), mount]));
    return (key) => reported.get(addressOf(key));
  }

  /** Committed allocs, without single mounts. */
  #all(): [address: string, view: AllocView][] {
    return [...this.#client.actors.views()].filter(([address]) => !singleMountAt(address));
  }
}

/** A caller that waits for an alloc to be prepared. */
interface Caller {
  /** Remaining time; undefined: no limit. */
  left(): number | undefined;
  signal: AbortSignal | undefined;
  /**
   * Ends the wait.
   * @returns whether others still wait
   */
  leave(): boolean;
}

/** Pause before the store is asked again to accept the end of an alloc. */
const abortAgainMs = 1_000;

/** Limit of a caller whose time is over, for what was begun to be undone. */
const undoingMs = 1_000;

/**
 * Mounts of a prepared alloc; undefined: it is on its way.
 * @throws StagecraftError why it can't be had
 */
function preparedIn(address: string, view: AllocView): AllocMount[] | undefined {
  const { state } = view;
  const alloc = view.context;
  const { allocId, failure } = alloc;
  if (allocStateOf(state) === 'prepared') return asData(mountsOf(alloc) ?? []);
  if (allocStateOf(state) === 'failed' && failure) throw failedWith(address, failure);
  if (allocStateOf(state) !== 'releasing') return undefined;
  if (!failure)
    throw new StagecraftError('ABORTED', `alloc ${allocId} was released before it was prepared`, { address });
  // Undone later if it cannot be undone at once.
  const still = Object.entries(waitsOf(view)).map(([name, reason]) => `'${name}': ${reason}`);
  if (still.length > 0) throw failedWith(address, failure, `; it is being undone still (${still.join('; ')})`);
  return undefined;
}

const isStoreAway = (error: unknown): boolean => error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE';

const undoneLater = (address: string, { message }: Failure, cause: Error): StagecraftError =>
  new StagecraftError(
    'STORE_UNAVAILABLE',
    `${message}; the store gives no answer (${cause.message}): what was begun is undone once it does`,
    { address, outcome: 'unknown', cause },
  );
