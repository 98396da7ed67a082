/**
 * Effects of an alloc: claims, publishes and mounts all of its volumes, or gives them all back. Each step may be
 * repeated, so a run that is started again repeats all. Errors that may pass are retried.
 */

import { type AllocWork, allocMachine } from '../../machines/alloc/alloc.js';
import { allocParts } from '../../machines/alloc/parts.js';
import type { AllocInput, AllocOutcome, AllocVolume } from '../../machines/alloc/types.js';
import { addressParts, nodeOf, singleMountAt } from '../../machines/kit/addresses.js';
import { onAbort } from '../abort.js';
import { callFailureOf } from '../calls/call-failure.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import { isRetryable } from '../errors.js';
import { type ClaimClient, holdsClaim, lookUp, type PublishedVolume } from '../mounts/claim-client.js';
import type { KnownMount } from '../mounts/mount-spec.js';
import type { MountSteps } from '../mounts/mount-steps.js';
import {
  claimLost,
  firstPauseMs,
  isClaimLost,
  isClosing,
  isConflict,
  isFinal,
  isKeptNoMore,
  named,
  type RetryPolicy,
  retrying,
} from './alloc-faults.js';
import { StepReport, type VolumeProgress } from './step-report.js';

/** Steps of a mount that an alloc asks for. */
export type AllocMounting = Pick<
  MountSteps,
  'check' | 'publishing' | 'bring' | 'reachable' | 'confirm' | 'standing' | 'take' | 'held'
>;

interface AllocWorkOptions {
  node: string;
  claims: ClaimClient;
  mounting: AllocMounting;
  clock: Clock;
  /** Resolves once the mounts in the records have been compared with the kernel; undefined if they have. */
  compared(): Promise<void> | undefined;
}

type Run = EffectCall<AllocWork>;

/** One volume of an alloc, during one run. */
interface VolumeWork {
  run: Run;
  volume: AllocVolume;
  report: VolumeProgress;
  policy: RetryPolicy;
}

/** Result of one request to claim and publish. */
interface Begun {
  generation?: number;
  published?: PublishedVolume;
}

/** Reason why a volume can't be had. */
interface Fault {
  name: string;
  error: unknown;
}

type MayRetry = RetryPolicy['mayRetry'];

export class AllocWorker {
  readonly #options: AllocWorkOptions;
  /** Runs that have not ended, by the address of their alloc. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: AllocWorkOptions) {
    this.#options = options;
  }

  /** Fails with the fault of the first volume that can't be had; the others are given up then. */
  async prepare(run: Run): Promise<AllocOutcome> {
    const { wait, allocId, volumes } = run.input;
    const { mounting } = this.#options;
    // Mounted by a version up to 0.3.0: a failure would unmount it under its workload.
    const isHeld = (): boolean => volumes.some(({ volume }) => mounting.held({ key: volume, allocId }));
    // The caller of a single mount gets each refusal at once; after a restart nobody waits for it.
    const isToldAtOnce = singleMountAt(run.address) !== undefined && !wait && !run.recovered;
    const mayRetry: MayRetry = (error) =>
      isHeld() ? !isKeptNoMore(error) : !isToldAtOnce && isRetryable(error) && (wait || !isFinal(error));
    try {
      return await this.#alone(run, async (report) => {
        const fault = await this.#all({ run, report, mayRetry }, async (one) => {
          await this.#mustHold(one);
          await this.#prepareOne(one);
        });
        return fault ? failed(fault) : { status: 'done', steps: report.rest() };
      });
    } catch (error) {
      return { status: 'failed', failure: callFailureOf(error) };
    }
  }

  /** Takes as long as it takes, whatever is in the way; fails only if a claim is lost. */
  recover(run: Run): Promise<AllocOutcome> {
    const mayRetry: MayRetry = (error) => !isClaimLost(error);
    return this.#alone(run, async (report) => {
      const fault = await this.#all({ run, report, mayRetry }, (one) => this.#recoverOne(one));
      if (fault && !isClaimLost(fault.error)) throw fault.error;
      return fault ? failed(fault) : { status: 'done', steps: report.rest() };
    });
  }

  /** Releases the volumes of the alloc. Has no time limit. */
  release(run: Run): Promise<AllocOutcome> {
    const { volumes } = run.input;
    return this.#alone(run, async (report) => {
      const all = { run, report, signal: run.signal, mayRetry: () => true };
      await Promise.all(volumes.map((volume) => this.#releaseOne(this.#workOn(volume, all))));
      return { status: 'done', steps: report.rest() };
    });
  }

  /** Waits for the run before, which is given up: its requests must not come after those of this run. */
  #alone<T>(run: Run, work: (report: StepReport) => Promise<T>): Promise<T> {
    const before = this.#underWay.get(run.address);
    const report = new StepReport(run, this.#options.clock);
    const begun = (async () => {
      const volumes = run.input.volumes.map(({ name }) => report.of(name));
      // The alloc may have committed steps of the run before.
      if (run.recovered || run.attempt > 1) for (const volume of volumes) volume.step({ type: 'restart' });
      await this.#whileWaiting(volumes, Promise.allSettled([before]), 'what was begun for it before has not ended yet');
      await this.#whileWaiting(
        volumes,
        this.#options.compared(),
        'what is mounted here is compared with what was before',
      );
      run.signal.throwIfAborted();
      return work(report);
    })();
    this.#underWay.set(run.address, begun);
    const end = (): void => {
      report.rest();
      if (this.#underWay.get(run.address) === begun) this.#underWay.delete(run.address);
    };
    begun.then(end, end);
    return begun;
  }

  /** Reports what all volumes wait for, if that takes time. */
  async #whileWaiting(volumes: VolumeProgress[], done: Promise<unknown> | undefined, reason: string): Promise<void> {
    if (!done) return;
    const cancel = this.#options.clock.after(firstPauseMs, () => {
      for (const volume of volumes) volume.waits(reason);
    });
    await done;
    cancel();
    for (const volume of volumes) volume.waits(null);
  }

  /** @returns the first fault; the other volumes are given up then */
  async #all(
    { run, ...all }: { run: Run; report: StepReport; mayRetry: MayRetry },
    one: (work: VolumeWork) => Promise<void>,
  ): Promise<Fault | undefined> {
    const end = new AbortController();
    const unsubscribe = onAbort(run.signal, (reason) => end.abort(reason));
    let first: Fault | undefined;
    try {
      await Promise.all(
        run.input.volumes.map((volume) =>
          one(this.#workOn(volume, { run, ...all, signal: end.signal })).catch((error: unknown) => {
            first ??= { name: volume.name, error: singleMountAt(run.address) ? error : named(volume, error) };
            end.abort(first.error);
          }),
        ),
      );
      return first;
    } finally {
      unsubscribe();
    }
  }

  async #prepareOne({ run, volume: wanted, report, policy }: VolumeWork): Promise<void> {
    const { claims } = this.#options;
    const { mounting } = this.#options;
    const { allocId, wait } = run.input;
    const { signal, onWait } = policy;
    const { name, volume: key, mode: _, readOnly, taskPath, ...usage } = wanted;
    const asked: KnownMount = { key, allocId, readOnly, usage };
    const step = <T>(work: () => Promise<T>): Promise<T> => retrying(policy, work);
    const checked = await step(() => mounting.check(asked, signal, { wait }));
    const work = { run, volume: wanted, report, policy };
    const publishing = mounting.publishing(asked);
    const held = run.input.generations[name];
    if (held !== undefined) report.step({ type: 'claim.confirmed' });
    const begun = held === undefined ? await this.#claimAndPublish(work, publishing.readOnly) : { generation: held };
    const generation = begun.generation ?? (await this.#claim(work));
    const claimed = { ...publishing, claim: { allocId, generation } };
    const published = begun.published ?? (await step(() => claims.publish(key, claimed, { signal, onWait })));
    report.step({ type: 'volume.published' });
    const mount = await step(() => mounting.bring(checked, published, { signal, onWait }));
    report.step({ type: 'volume.mounted', mount: { ...mount, name, taskPath } });
  }

  /**
   * Claims and publishes in one request, if nothing is in the way of either.
   * @returns the outcome: the rest is asked for separately
   */
  async #claimAndPublish({ run, volume, report, policy }: VolumeWork, readOnly: boolean): Promise<Begun> {
    const { claims, node, mounting } = this.#options;
    // Before each attempt to claim, #claim asks whether the hold is kept.
    const isHeld = mounting.held({ key: volume.volume, allocId: run.input.allocId }) !== undefined;
    if (!claims.claimAndPublish || isHeld) return {};
    const { volume: key, mode, accessMode, attachmentMode } = volume;
    const asking = { allocId: run.input.allocId, nodeId: node, mode, accessMode, attachmentMode, readOnly };
    const { signal, onWait } = policy;
    const begun: Begun = {};
    const claimed = (generation: number): void => {
      if (begun.generation === undefined) report.step({ type: 'claim.taken', generation });
      begun.generation = generation;
    };
    try {
      const published = await claims.claimAndPublish(key, asking, { signal, onWait, claimed });
      return begun.generation === undefined ? {} : { ...begun, published };
    } catch (error) {
      if (signal.aborted) throw error;
      return begun;
    }
  }

  /** @returns generation of the claim */
  async #claim(work: VolumeWork): Promise<number> {
    const { run, volume, report, policy } = work;
    const { claims, node } = this.#options;
    const { volume: key, mode, accessMode, attachmentMode } = volume;
    const asking = { allocId: run.input.allocId, nodeId: node, mode, accessMode, attachmentMode };
    const onWait: RetryPolicy['onWait'] = (reason, error) => {
      if (reason !== null && isConflict(error)) report.refuse(reason);
      else report.waits(reason);
    };
    const { signal } = policy;
    const { generation } = await retrying({ ...policy, onWait }, async () => {
      await this.#mustBeHeld(work);
      return claims.claim(key, asking, { signal });
    });
    report.step({ type: 'claim.taken', generation });
    return generation;
  }

  /**
   * Checks that the hold under which the alloc has the volume mounted still keeps it: without it, others may have written.
   * @throws StagecraftError CLAIM_LOST
   */
  async #mustBeHeld({ run, volume, policy: { signal } }: VolumeWork): Promise<void> {
    const { claims, node, mounting } = this.#options;
    const { allocId } = run.input;
    const hold = mounting.held({ key: volume.volume, allocId });
    // Generation 0: the hold was never given, so nothing can have kept it.
    if (!hold || hold.generation === 0) return;
    const { holds = [] } = await claims.look(volume.volume, { nodeId: node }, { signal });
    const isKept = holds.some((one) => one.allocId === allocId && one.generation >= hold.generation);
    if (!isKept) throw claimLost(volume, allocId);
  }

  /**
   * Checks that the claim of an earlier run is still the alloc's own.
   * @throws StagecraftError CLAIM_LOST
   */
  async #mustHold({ run, volume, policy }: VolumeWork): Promise<void> {
    const { claims, node } = this.#options;
    const { allocId, generations } = run.input;
    const { signal } = policy;
    const generation = generations[volume.name];
    if (generation === undefined) return;
    const claim = { allocId, generation };
    const about = { nodeId: node, claims: [claim] };
    const known = await retrying(policy, () => lookUp(claims, volume.volume, about, { signal }));
    if (!holdsClaim(known, claim)) throw claimLost(volume, allocId);
  }

  /**
   * Recovers a volume. The node may have been fenced while the agent was away, and the claim may be another alloc's.
   * A volume that is still mounted needs only its plugin; else it is prepared again.
   */
  async #recoverOne(work: VolumeWork): Promise<void> {
    const { mounting } = this.#options;
    const { run, volume, report, policy } = work;
    const { name, volume: key, taskPath } = volume;
    const { allocId } = run.input;
    const { signal, onWait } = policy;
    // Before the claim is checked: it may be lost while the plugin is away, for however long.
    await mounting.reachable(key, { signal, onWait });
    await this.#mustHold(work);
    await retrying(policy, () => mounting.confirm({ key, allocId }));
    const standing = await mounting.standing({ key, allocId });
    if (!standing) return this.#prepareOne(work);
    report.step({ type: 'volume.mounted', mount: { ...standing, name, taskPath } });
  }

  /** Releases a volume, as the workload has stopped: the claim is free once the node has let go and reported so. */
  async #releaseOne({ run, volume, report, policy }: VolumeWork): Promise<void> {
    const { claims, node } = this.#options;
    const { mounting } = this.#options;
    const { name, volume: key } = volume;
    const { allocId, generations } = run.input;
    const { signal, onWait } = policy;
    const step = <T>(work: () => Promise<T>): Promise<T> => retrying(policy, work);
    const known = generations[name];
    const own = { allocId, nodeId: node, ...(known !== undefined && { generation: known }) };
    const [{ generation }] = await Promise.all([
      step(() => claims.release(key, own, { signal })),
      step(() => mounting.take({ key, allocId }, { signal, onWait })).then(() =>
        report.step({ type: 'volume.unmounted' }),
      ),
    ]);
    if (generation !== undefined) {
      report.step({ type: 'claim.released' });
      await step(() => claims.unstaged(key, { nodeId: node, allocId, generation }, { signal, onWait }));
    }
    report.step({ type: 'slot.freed' });
  }

  #workOn(
    volume: AllocVolume,
    { run, report: all, signal, mayRetry }: Pick<RetryPolicy, 'signal' | 'mayRetry'> & { run: Run; report: StepReport },
  ): VolumeWork {
    const report = all.of(volume.name);
    const { clock } = this.#options;
    // The last reason is kept for the next runtime.
    const isReason = (error: unknown): boolean => !isClosing(error);
    return { run, volume, report, policy: { clock, signal, onWait: report.waits, mayRetry, isReason } };
  }
}

const failed = ({ name, error }: Fault): AllocOutcome => ({ status: 'failed', failure: callFailureOf(error), name });

export const allocsTopic = (node: string): string => `allocs/${encodeURIComponent(node)}`;

/** Lasts as long as its state: time limits are the machine's. */
const lasting = (run: (call: EffectCall<AllocWork>) => Promise<unknown>): Effect => ({
  deadlineMs: Number.POSITIVE_INFINITY,
  run: (call: EffectCall<AllocWork>) => run(call),
});

export const allocKind = (worker: AllocWorker): ActorKind => ({
  machine: allocMachine,
  parts: allocParts,
  begin: (address): AllocInput => {
    const single = singleMountAt(address);
    return { node: nodeOf(address), allocId: addressParts(address)[2] ?? '', ...(single && { single }) };
  },
  topic: (address) => allocsTopic(nodeOf(address)),
  effects: {
    prepareAlloc: lasting((call) => worker.prepare(call)),
    recoverAlloc: lasting((call) => worker.recover(call)),
    releaseAlloc: lasting((call) => worker.release(call)),
  },
});
