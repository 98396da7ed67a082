/**
 * What the alloc machine asks for: all volumes of an alloc claimed, published and mounted, or all given back. Each step is
 * the same when it is done again, so that whoever is killed begins anew. What may go well later is tried until it does.
 */

import type { AllocWork } from '../../machines/alloc/alloc.js';
import type { AllocMount, AllocVolume } from '../../machines/alloc/types.js';
import type { CallOutcome } from '../../machines/kit/csi-types.js';
import { nameOf } from '../../machines/volume/requests.js';
import { onAbort } from '../abort.js';
import { failureOf } from '../calls/plugin-calls.js';
import type { Clock } from '../engine/clock.js';
import type { EffectCall } from '../engine/effects.js';
import { isRetryable, StagecraftError } from '../errors.js';
import type { ClaimClient } from './claim-client.js';
import { firstPauseMs, insistent, type Patience } from './insistent.js';
import type { KnownMount } from './mount-spec.js';
import type { Mounting } from './mounting.js';

export interface AllocWorkOptions {
  node: string;
  claims: ClaimClient;
  /** Made by the time it is asked. */
  mounting(): Mounting;
  clock: Clock;
  /** Resolves once what was believed in has been compared with the kernel; undefined where it is. */
  compared(): Promise<void> | undefined;
}

type Run = EffectCall<AllocWork>;

type Preparing = (volume: AllocVolume, signal: AbortSignal) => Promise<AllocMount>;

export class AllocWorker {
  readonly #options: AllocWorkOptions;
  /** By address: what was begun for an alloc, and has not ended yet. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: AllocWorkOptions) {
    this.#options = options;
  }

  /** Fails with what is wrong with the first volume that can't be had; all others are given up then. */
  async prepare(run: Run): Promise<CallOutcome<AllocMount[]>> {
    try {
      const { wait } = run.input;
      const mayGoWell = (error: unknown): boolean => isRetryable(error) && (wait || !isFinal(error));
      const one: Preparing = async (volume, signal) => {
        const patience = this.#patience(run, volume, { signal, mayGoWell });
        await this.#mustHold(run, volume, patience);
        return this.#prepareOne(run, volume, patience);
      };
      return { status: 'done', answer: await this.#alone(run, () => this.#all(run, one)) };
    } catch (error) {
      return { status: 'failed', failure: failureOf(error) };
    }
  }

  /** As long as it takes, whatever is in the way; fails only where it has lost its claim. */
  async recover(run: Run): Promise<CallOutcome<AllocMount[]>> {
    const one: Preparing = (volume, signal) => this.#recoverOne(run, volume, signal);
    try {
      return { status: 'done', answer: await this.#alone(run, () => this.#all(run, one)) };
    } catch (error) {
      if (!isClaimLost(error)) throw error;
      return { status: 'failed', failure: failureOf(error) };
    }
  }

  /** As long as it takes. */
  release(run: Run): Promise<void> {
    const { allocId, volumes } = run.input;
    return this.#alone(run, async () => {
      await Promise.all(volumes.map((volume) => this.#releaseOne(run, volume, allocId)));
    });
  }

  /** What is left of a run before, given up by now, must not come after what this one does. */
  #alone<T>(run: Run, work: () => Promise<T>): Promise<T> {
    const before = this.#underWay.get(run.address);
    const begun = (async () => {
      await this.#telling(run, Promise.allSettled([before]), 'what was begun for it before has not ended yet');
      await this.#telling(run, this.#options.compared(), 'what is mounted here is compared with what was before');
      run.signal.throwIfAborted();
      return work();
    })();
    this.#underWay.set(run.address, begun);
    const end = (): void => {
      if (this.#underWay.get(run.address) === begun) this.#underWay.delete(run.address);
    };
    begun.then(end, end);
    return begun;
  }

  /** Says what it waits for, where that takes its time. */
  async #telling(run: Run, done: Promise<unknown> | undefined, reason: string): Promise<void> {
    if (!done) return;
    const tellers = run.input.volumes.map((volume) => teller(run, volume));
    const cancel = this.#options.clock.after(firstPauseMs, () => {
      for (const tell of tellers) tell(reason);
    });
    await done;
    cancel();
    for (const tell of tellers) tell(null);
  }

  async #all(run: Run, one: Preparing): Promise<AllocMount[]> {
    const all = new AbortController();
    const unsubscribe = onAbort(run.signal, (reason) => all.abort(reason));
    let first: { error: unknown } | undefined;
    try {
      const mounts = await Promise.all(
        run.input.volumes.map((volume) =>
          one(volume, all.signal).catch((error: unknown) => {
            first ??= { error: named(volume, error) };
            all.abort(first.error);
            return undefined;
          }),
        ),
      );
      if (first) throw first.error;
      return mounts.flatMap((mount) => mount ?? []);
    } finally {
      unsubscribe();
    }
  }

  async #prepareOne(run: Run, wanted: AllocVolume, patience: Patience): Promise<AllocMount> {
    const { claims } = this.#options;
    const mounting = this.#options.mounting();
    const { allocId, wait } = run.input;
    const { signal, tell } = patience;
    const { name, volume: key, mode: _, readOnly, taskPath, ...usage } = wanted;
    const asked: KnownMount = { key, allocId, readOnly, usage };
    const step = <T>(work: () => Promise<T>): Promise<T> => insistent(patience, work);
    const checked = await step(() => mounting.check(asked, signal, { wait }));
    const generation = run.input.generations[name] ?? (await this.#claim(run, wanted, patience));
    const publishing = { ...mounting.publishing(asked), claim: { allocId, generation } };
    const published = await step(() => claims.publish(key, publishing, { signal, tell }));
    const mount = await step(() => mounting.bring({ ...checked, isClaimed: true }, published, { signal, tell }));
    return { ...mount, name, taskPath };
  }

  /** @returns the generation of its claim */
  async #claim(run: Run, wanted: AllocVolume, patience: Patience): Promise<number> {
    const { claims, node } = this.#options;
    const { name, volume: key, mode, accessMode, attachmentMode } = wanted;
    const asking = { allocId: run.input.allocId, nodeId: node, mode, accessMode, attachmentMode };
    const { signal } = patience;
    const { generation } = await insistent(patience, () => claims.claim(key, asking, { signal }));
    run.send({ type: 'alloc.claimed', name, generation });
    return generation;
  }

  /** What it has claimed before, in a run that was killed, is its own still. @throws StagecraftError CLAIM_LOST */
  async #mustHold({ input: { allocId, generations } }: Run, wanted: AllocVolume, patience: Patience): Promise<void> {
    const { claims } = this.#options;
    const { name, volume: key } = wanted;
    const { signal } = patience;
    const generation = generations[name];
    if (generation === undefined) return;
    const isHeld = await insistent(patience, () => claims.holds(key, { allocId, generation }, { signal }));
    if (!isHeld) throw claimLost(wanted, allocId);
  }

  /**
   * While it was away its node may have been taken for lost: what it has claimed may be somebody else's by now. What is
   * mounted still needs nobody but its plugin; else it is prepared once more.
   */
  async #recoverOne(run: Run, wanted: AllocVolume, signal: AbortSignal): Promise<AllocMount> {
    const mounting = this.#options.mounting();
    const { name, volume: key, taskPath } = wanted;
    const { allocId } = run.input;
    const patience = this.#patience(run, wanted, { signal, mayGoWell: (error) => !isClaimLost(error) });
    const { tell } = patience;
    // Before its claim is asked for: that may be lost while its plugin is away, for however long.
    await mounting.reachable(key, { signal, tell });
    await this.#mustHold(run, wanted, patience);
    await insistent(patience, () => mounting.confirm({ key, allocId }));
    const standing = await mounting.standing({ key, allocId });
    if (standing) return { ...standing, name, taskPath };
    return this.#prepareOne(run, wanted, patience);
  }

  /** The workload has stopped: the slot is free once the node has let go, and said so. */
  async #releaseOne(run: Run, volume: AllocVolume, allocId: string): Promise<void> {
    const { volume: key } = volume;
    const { claims, node } = this.#options;
    const mounting = this.#options.mounting();
    const { signal } = run;
    const patience = this.#patience(run, volume, { signal, mayGoWell: () => true });
    const { tell } = patience;
    const step = <T>(work: () => Promise<T>): Promise<T> => insistent(patience, work);
    const known = run.input.generations[volume.name];
    const own = { allocId, nodeId: node, ...(known !== undefined && { generation: known }) };
    const [{ generation }] = await Promise.all([
      step(() => claims.release(key, own, { signal })),
      step(() => mounting.take({ key, allocId }, { signal, tell })),
    ]);
    if (generation === undefined) return;
    await step(async () => mounting.refuseUnclaimed(key));
    await step(() => claims.unstaged(key, { nodeId: node, allocId, generation }, { signal, tell }));
    tell(null);
  }

  #patience(run: Run, volume: AllocVolume, { signal, mayGoWell }: Pick<Patience, 'signal' | 'mayGoWell'>): Patience {
    const { clock } = this.#options;
    // What it waited for so far is what the next runtime begins with.
    const isReason = (error: unknown): boolean => !isClosing(error);
    return { clock, signal, tell: teller(run, volume), mayGoWell, isReason };
  }
}

/** Tells the alloc what one of its volumes waits for, whenever that changes. */
function teller(run: Run, { name }: AllocVolume): (reason: string | null) => void {
  let told: string | null = null;
  return (reason) => {
    if (reason !== told) run.send({ type: 'alloc.waits', name, reason });
    told = reason;
  };
}

/** Errors that every further try would meet, unless somebody changes something. */
const isFinal = (error: unknown): boolean => error instanceof StagecraftError && error.final === true;

const isClosing = (error: unknown): boolean => error instanceof StagecraftError && error.code === 'RUNTIME_CLOSED';

const claimLostCode = 'CLAIM_LOST';

const isClaimLost = (error: unknown): boolean => error instanceof StagecraftError && error.code === claimLostCode;

export const claimLost = ({ volume }: AllocVolume, allocId: string): StagecraftError => {
  const why = 'its node was taken for lost, somebody released it by hand, or the volume was deleted with force';
  const message = `${nameOf(volume)}: the claim of alloc ${allocId} was given up: ${why}. The volume may be in use elsewhere: it is unmounted here`;
  return new StagecraftError(claimLostCode, message, { final: true });
};

/** Which of its volumes it is. */
function named({ name, volume }: AllocVolume, error: unknown): unknown {
  if (!(error instanceof StagecraftError)) return error;
  const { code, message, cause, ...details } = error;
  const text = message.includes(nameOf(volume)) ? `'${name}': ${message}` : `'${name}', ${nameOf(volume)}: ${message}`;
  return new StagecraftError(code, text, { ...details, cause });
}
