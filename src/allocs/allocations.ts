/**
 * `runtime.allocations`: all volumes of an alloc together. Reads committed records; every change goes through the
 * mailbox of the alloc (machines/alloc/alloc.ts).
 */

import { allocMachine } from '../../machines/alloc/alloc.js';
import { mountsOf } from '../../machines/alloc/parts.js';
import { givenUpIn, lateIn } from '../../machines/alloc/refusals.js';
import type { AllocContext, AllocState, AllocVolume } from '../../machines/alloc/types.js';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import { allocAddress, mountAddress, singleMountAt } from '../../machines/kit/addresses.js';
import type { Failure } from '../../machines/kit/host.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { MountContext } from '../../machines/mount/types.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { ActorsOf, byAddress } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Engine } from '../engine/engine.js';
import { asData } from '../engine/machine/data.js';
import { type FollowOptions, followAs } from '../engine/topics/topic-reader.js';
import { messageOf, StagecraftError, unlessQuarantined } from '../errors.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import type { FormerMounts } from '../mounts/former-mounts.js';
import { type AllocVolumeRequest, allocIdOf, askedVolumes, knownVolumes } from '../mounts/mount-spec.js';
import { type AllocEvent, allocEventOf, type MountStatus } from '../mounts/mount-view.js';
import { ActorWaits } from '../requests/actor-waits.js';
import {
  type AwaitOptions,
  awaitSchema,
  checkedOptions,
  inTime,
  timeLeft,
  type WaitOptions,
  waitSchema,
} from '../requests/await-options.js';
import {
  type AllocStatus,
  type AllocView,
  allocStateOf,
  allocStatusOf,
  failedWith,
  hasLost,
  waitsOf,
} from './alloc-view.js';
import { allWaitsOf, waitReasonsOf } from './alloc-waits.js';
import { allocsTopic } from './alloc-work.js';
import { DefaultModes } from './default-modes.js';
import type { SingleMounts } from './single-mounts.js';

interface AllocationsOptions {
  node: string;
  engine: Engine;
  clock: Clock;
  claims: Pick<ClaimClient, 'look'>;
  /** Id of the present boot of the host. */
  bootId: string;
  /** Status of these mounts here, or of all. */
  mounts(volumes?: readonly VolumeKey[]): Promise<MountStatus[]>;
  /** Mounts of an agent at another place: no reboot of this host has taken them. */
  former: Pick<FormerMounts, 'why'>;
  /** Compares these with the kernel. */
  compare(volumes: readonly VolumeKey[]): Promise<void>;
  singles: Pick<SingleMounts, 'preparing' | 'of'>;
}

export class Allocations {
  readonly #options: AllocationsOptions;
  readonly #allocs: ActorsOf<typeof allocMachine>;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #waits: ActorWaits<typeof allocMachine>;
  readonly #openModes: DefaultModes;
  /** Number of callers that wait for an alloc to be prepared, by its address. */
  readonly #callers = new Map<string, number>();
  /** Reason why nothing new is accepted. */
  #refusal: StagecraftError | undefined;
  #closed: StagecraftError | undefined;

  constructor(options: AllocationsOptions) {
    this.#options = options;
    const { engine, clock } = options;
    this.#allocs = new ActorsOf(engine, allocMachine);
    this.#mounts = new ActorsOf(engine, mountMachine);
    this.#openModes = new DefaultModes(options);
    this.#waits = new ActorWaits({
      actors: this.#allocs,
      clock,
      describe: (view) => {
        const alloc = this.#statusOf(view);
        return [alloc.state, ...waitReasonsOf(alloc), ...(alloc.error ? [alloc.error.message] : [])].join('; ');
      },
    });
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
    this.#refuseNew();
    const { clock, bootId } = this.#options;
    const id = allocIdOf(allocId);
    const asked = askedVolumes(requests);
    const { timeoutMs, signal, wait } = checkedOptions(waitSchema, options);
    const left = timeLeft(clock, timeoutMs);
    const address = this.#addressOf(id);
    await this.#settled(id, { timeoutMs, signal });
    this.#refuseNew();
    const of = { allocId: id, address, had: this.#volumesAt(address), timeoutMs: left(), signal };
    const volumes = knownVolumes(await this.#openModes.fill(asked, of));
    this.#refuseNew();
    const limitMs = left();
    const untilMs = limitMs === undefined ? null : clock.now() + limitMs;
    const leave = this.#enter(address);
    try {
      const request = { type: 'alloc.prepare', volumes, untilMs, bootId, wait } as const;
      await this.#options.singles.preparing(id, volumes, () =>
        inTime(clock, { timeoutMs: limitMs, signal }, (limit) => this.#allocs.ask(address, request, { signal: limit })),
      );
      const isStanding = this.#isIn(address, 'prepared');
      if (isStanding) await this.#options.compare(volumes.map(({ volume }) => volume));
      const standing = this.#allocs.peek(address);
      if (standing && hasLost(standing, (key) => this.#mountAt(key)))
        await this.#allocs.ask(address, { type: 'alloc.recover', isNewBoot: false });
      const mounts = await this.#prepared(id, { left, signal, leave });
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
    this.#refuseNew();
    const id = allocIdOf(allocId);
    const waiting = checkedOptions(awaitSchema, options);
    await this.#release(id, waiting);
  }

  /** All allocs of this node, in the order of their ids. */
  async list(): Promise<AllocStatus[]> {
    this.#refuseIfClosed();
    const reported = await this.#reportedMounts();
    const all = this.#all().sort(byAddress(([address]) => address));
    return all.map(([, view]) => this.#statusOf(view, reported));
  }

  /** @throws StagecraftError ALLOC_NOT_FOUND */
  async status(allocId: string): Promise<AllocStatus> {
    this.#refuseIfClosed();
    const id = allocIdOf(allocId);
    const address = this.#addressOf(id);
    const reported = await this.#reportedMounts(this.#volumesAt(address).map(({ volume }) => volume));
    const view = this.#allocs.peek(address);
    if (view) return this.#statusOf(view, reported);
    const singles = this.#options.singles.of(id).map(volumeName).join(', ');
    const todo = singles ? `a program has mounted ${singles} for it by mounts.mount` : 'list them, or prepare it';
    throw new StagecraftError('ALLOC_NOT_FOUND', `there is no alloc '${id}' on this node: ${todo}`);
  }

  /**
   * Follows the events of the allocs of this node in one order, none left out, from now or from after an event's id.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<AllocEvent> {
    this.#refuseNew();
    const { engine, node } = this.#options;
    return followAs(engine, allocsTopic(node), options).reading(allocEventOf);
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
      this.#allocs.ask(address, { type: 'alloc.recover', isNewBoot }).catch(unlessQuarantined);
    await Promise.all(
      [...this.#allocs.views()].map(([address, { context }]) =>
        tell(address, context.bootId !== bootId && isHere(context)),
      ),
    );
  }

  /**
   * Releases all allocs, also while nothing new is accepted.
   * @throws StagecraftError DRAIN_FAILED naming those that were not released in time
   */
  async releaseAll(timeoutMs: number): Promise<void> {
    const ids = this.#all().map(([, { context }]) => context.allocId);
    const standing = 'the next start goes on with it';
    const outcomes = await Promise.allSettled(ids.map((id) => this.#release(id, { timeoutMs, standing })));
    const faults = outcomes.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []));
    if (faults.length > 0) throw new StagecraftError('DRAIN_FAILED', faults.join('; '), { faults });
  }

  /** Accepts nothing new, except `releaseAll` and reading. */
  refuse(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#refusal ??= reason;
    this.#openModes.close(this.#refusal);
  }

  /** Ends all waiting; every later call is refused. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.refuse(reason);
    this.#closed ??= reason;
    this.#waits.close(reason);
  }

  async #prepared(id: string, { left, signal, leave }: Caller): Promise<AllocMount[]> {
    const { engine } = this.#options;
    const address = this.#addressOf(id);
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
    const awaited = { address, name: `alloc ${id}`, goal: 'prepared', reached };
    try {
      return await this.#waits.until({ ...awaited, standing: 'it goes on', timeoutMs: left(), signal });
    } catch (error) {
      const areOthers = leave();
      const view = this.#allocs.peek(address);
      // The alloc was released while it was undone, and is gone.
      if (!view && seen.failure && !this.#refusal) throw failedWith(address, seen.failure);
      // A caller who gives up takes nothing from an alloc that was prepared before.
      if (seen.isDecided || areOthers || this.#refusal || !view || this.#isIn(address, 'recovering')) throw error;
      const failure = (signal?.aborted ? givenUpIn : lateIn)({ allocId: id, waits: allWaitsOf(this.#statusOf(view)) });
      const aborted = this.#abort(address, failure);
      const trouble = engine.storeTrouble();
      if (trouble) throw undoneLater(address, failure, trouble);
      await aborted;
      try {
        // The alloc may have been prepared meanwhile: then the caller gets it.
        return await this.#waits.until({ ...awaited, goal: 'undone', timeoutMs: undoingMs });
      } catch (error) {
        if (seen.isDecided || this.#refusal) throw error;
        throw failedWith(address, failure, '; it is being undone still');
      }
    }
  }

  /** Has the alloc undone: repeats the request until the store accepts it. */
  async #abort(address: string, failure: Failure): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      try {
        await this.#allocs.ask(address, { type: 'alloc.abort', failure });
        return;
      } catch (error) {
        // Stops at another refusal: the alloc is over, or goes on in another runtime.
        if (!isStoreAway(error)) return;
        await pause(clock, abortAgainMs);
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
  async #release(id: string, waiting: AwaitOptions & { standing?: string }): Promise<void> {
    const address = this.#addressOf(id);
    const message = `alloc ${id} was released before it was prepared`;
    this.#openModes.end(address, new StagecraftError('ABORTED', message, { address }));
    if (!this.#allocs.has(address)) return;
    const { standing, ...own } = waiting;
    await inTime(this.#options.clock, own, (limit) => this.#released(id, { standing, signal: limit }));
  }

  async #released(id: string, waiting: AwaitOptions & { standing: string | undefined }): Promise<void> {
    const address = this.#addressOf(id);
    await this.#allocs.ask(address, { type: 'alloc.release' }, { signal: waiting.signal });
    const reached = (view: AllocView): true | undefined => {
      if (allocStateOf(view.state) === 'releasing') return undefined;
      throw new StagecraftError('ABORTED', `alloc ${id} was prepared again before it was released`, { address });
    };
    await this.#waits.until({ address, name: `alloc ${id}`, goal: 'released', reached, gone: true, ...waiting });
  }

  /** Resolves when the alloc is not on its way out. */
  async #settled(id: string, waiting: AwaitOptions): Promise<void> {
    const address = this.#addressOf(id);
    if (!this.#allocs.has(address)) return;
    const reached = ({ state }: AllocView): true | undefined =>
      allocStateOf(state) === 'releasing' ? undefined : true;
    const standing = 'nothing was asked for';
    await this.#waits.until({
      address,
      name: `alloc ${id}`,
      goal: 'released',
      reached,
      gone: true,
      standing,
      ...waiting,
    });
  }

  /** Volumes that it has, or is to have. */
  #volumesAt(address: string): AllocVolume[] {
    const view = this.#allocs.peek(address);
    return view && allocStateOf(view.state) !== 'failed' ? view.context.volumes : [];
  }

  #isIn(address: string, state: AllocState): boolean {
    const view = this.#allocs.peek(address);
    return view !== undefined && allocStateOf(view.state) === state;
  }

  /** Refuses to return paths where the mount is hidden or replaced. */
  async #refuseHidden(id: string): Promise<void> {
    const { volumes } = await this.status(id);
    const hidden = volumes.flatMap(({ name, state, message }) =>
      state === 'mounted' && message !== undefined ? [`${name}: ${message}`] : [],
    );
    if (hidden.length === 0) return;
    const message = `alloc ${id} is prepared, but what it has is not seen at its path: ${hidden.join('; ')}`;
    throw new StagecraftError('HOST_UNFIT', message, { address: this.#addressOf(id) });
  }

  async #reportedMounts(volumes?: readonly VolumeKey[]): Promise<(key: VolumeKey) => MountStatus | undefined> {
    const { node, mounts } = this.#options;
    const addressOf = ({ namespace, id }: VolumeKey): string => mountAddress(node, namespace, id);
    const reported = new Map((await mounts(volumes)).map((mount) => [addressOf(mount.volume), mount]));
    return (key) => reported.get(addressOf(key));
  }

  #statusOf(view: AllocView, reported?: (key: VolumeKey) => MountStatus | undefined): AllocStatus {
    return allocStatusOf(view, (key) => this.#mountAt(key), reported);
  }

  #mountAt({ namespace, id }: VolumeKey): MountContext | undefined {
    return this.#mounts.peek(mountAddress(this.#options.node, namespace, id))?.context;
  }

  /** Committed allocs, without single mounts. */
  #all(): [address: string, view: AllocView][] {
    return [...this.#allocs.views()].filter(([address]) => !singleMountAt(address));
  }

  #addressOf(id: string): string {
    return allocAddress(this.#options.node, id);
  }

  #refuseNew(): void {
    if (this.#refusal) throw this.#refusal;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
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
