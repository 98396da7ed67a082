/**
 * Makes one call to a plugin, from admission to outcome: locks, checks, secrets, the call, and its answer as data for a
 * machine. A call that has to wait ends with the reason; its machine then waits through admissions.ts. The machine
 * decides what an answer leads to.
 */
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { AdmissionCall, CallFailure, CallOutcome, Settled, Wait } from '../../machines/kit/csi-types.js';
import { SignalOnDemand, unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { Effect, EffectCall } from '../engine/effects/effects.js';
import { StagecraftError } from '../errors.js';
import { resolveSecrets, type SecretsProvider } from '../secrets/secrets.js';
import { Admissions, busyReason, forcedWaitMs, untilClear } from './admissions.js';
import type { CallBounds, FarBounds } from './call-bounds.js';
import { callFailureOf } from './call-failure.js';
import type { Homes, PluginCall } from './homes.js';
import { offers } from './instance-choice.js';
import type { PluginAccess } from './plugin-access.js';
import type { AdmittedCall, PluginObservation } from './plugin-port.js';
import { otherDriver } from './plugin-refusals.js';
import { lockKey, type VolumeLocks } from './volume-locks.js';

interface PluginCallsOptions {
  access: PluginAccess;
  secrets: SecretsProvider;
  clock: Clock;
  retry: BackoffPolicy;
  /** Shared with other callers in this process. */
  locks: VolumeLocks;
  /** Finds the node that makes the calls of a volume; default: calls are made where they are asked for. */
  homes?: Homes;
}

/** Call to a plugin, and its checks. */
export interface PluginWork<TAnswer> {
  /** CSI ids of the volumes concerned, or `nodeCallsOf` them. No other call about them runs at the same time. */
  volumes?: readonly string[];
  /** Returns why the plugin can never do this, by its capabilities; undefined if it can. */
  refusal?(observation: AdmittedCall['observation']): string | undefined;
  /** Returns an obstacle: unless it is final, the call is retried later. If it rejects, no call was made. */
  precondition?(observation: AdmittedCall['observation']): CallFailure | undefined | Promise<CallFailure | undefined>;
  /** Returns the answer if no call is needed. If it throws or rejects, the answer is not known yet, and no call was made. */
  without?(lacks: Lacks): TAnswer | undefined | Promise<TAnswer | undefined>;
  /** Returns data that has to be committed before the call; undefined: none. */
  settle?(observation: AdmittedCall['observation']): Settled | undefined;
  /**
   * Tells whether the plugin runs as another process than the machine has committed. The machine must commit the new
   * process first.
   */
  hasOtherRecipient?(): boolean;
  /** Prepares this host for the call. If it rejects, no call was made. */
  prepare?(): Promise<void>;
  call(client: unknown, bounds: CallBounds, observation: AdmittedCall['observation']): Promise<TAnswer>;
  /** Returns why an answer, also one of `without`, does not count as success; undefined if it does. */
  fault?(answer: TAnswer): CallFailure | undefined;
  /** Answer for a plugin that reports that the work was done before. */
  already?: TAnswer;
  /** Marks a call that makes a volume. This node becomes the home of a volume without one. */
  makes?: boolean;
  /** Marks an attach or detach. If the plugin needs no call for that, none is made, whichever node is the home. */
  attaches?: boolean;
}

/**
 * Tells whether the plugin does not offer a capability (instance-choice.ts).
 * @throws {StagecraftError} PLUGIN_LACKS: this instance does not, but another one does
 */
export type Lacks = (capability: string) => boolean;

export class PluginCalls {
  readonly #options: PluginCallsOptions;
  readonly #locks: VolumeLocks;
  readonly #admissions: Admissions;

  constructor(options: PluginCallsOptions) {
    this.#options = options;
    this.#locks = options.locks;
    this.#admissions = new Admissions(options);
  }

  /** Makes the call now, or returns why not. Rejects only with the reason of an abort. */
  async run<TAnswer>(run: EffectCall<PluginCall>, work: PluginWork<TAnswer>): Promise<CallOutcome<TAnswer>> {
    const { clock, access } = this.#options;
    const { plugin } = run.input;
    if (this.#isElsewhere(run, access.nodeFor(run.input)) && access.isClosed(run.input))
      return this.#away(run, 'elsewhere-or-plugin');
    if (run.clearInMs() > 0) {
      const isWorthAsking = await run.endDoubts();
      const clearInMs = run.clearInMs();
      if (clearInMs > 0) return { status: 'must-wait', ...untilClear(clearInMs, { clock, isWorthAsking }) };
    }
    const keys = (work.volumes ?? []).map((csiId) => lockKey(plugin, csiId));
    const ticket = this.#admissions.redeem(run.address, plugin, keys);
    if (!ticket && !this.#locks.take(keys))
      return { status: 'must-wait', reason: busyReason(plugin, keys), for: 'turn' };
    try {
      return await this.#admitted(run, work, ticket?.admitted);
    } finally {
      this.#locks.leave(keys);
    }
  }

  /**
   * Makes the effect that waits until a call may be made, and makes none.
   * @param volumesOf returns the volumes of a call (Work), by the `src` of its effect
   */
  admission<TCall extends PluginCall>(volumesOf: (src: string, call: TCall) => readonly string[]): Effect {
    return {
      makesCall: false,
      deadlineMs: Number.POSITIVE_INFINITY,
      run: (run: EffectCall<AdmissionCall<TCall>>) =>
        this.#admissions.wait(run, volumesOf(run.input.src, run.input.call)),
    };
  }

  #lacks(plugin: string, { node, observation }: AdmittedCall, capability: string): boolean {
    if (offers(observation, capability)) return false;
    const why = this.#options.access.contradiction(plugin, node, capability);
    if (why !== undefined) throw new StagecraftError('PLUGIN_LACKS', why);
    return true;
  }

  /** Returns why the agent of another node must make this call. */
  async #away(run: EffectCall<PluginCall>, what: Wait['for'] = 'elsewhere'): Promise<CallOutcome<never>> {
    const { homes, retry } = this.#options;
    try {
      const reason = (await homes?.elsewhere(run.input)) ?? '';
      if (!run.input.isForced) return { status: 'must-wait', reason, for: what };
      return { status: 'not-sent', failure: { code: 'VOLUME_ELSEWHERE', message: reason, final: true } };
    } catch (error) {
      return { status: 'not-sent', failure: callFailureOf(error), retry };
    }
  }

  /** @param node node of the instance that would be called; undefined: this node */
  #isElsewhere({ input }: EffectCall<PluginCall>, node: string | undefined): boolean {
    return this.#options.homes?.isElsewhere(input, node) === true;
  }

  /** @param place reserved place among the calls in flight, if any */
  async #admitted<TAnswer>(
    run: EffectCall<PluginCall>,
    work: PluginWork<TAnswer>,
    place: AdmittedCall | undefined,
  ): Promise<CallOutcome<TAnswer>> {
    const { access, retry } = this.#options;
    const { isForced } = run.input;
    let admitted: AdmittedCall;
    try {
      const waitMs = isForced ? forcedWaitMs : undefined;
      // With a free place, all up to `sent` may run before observers know of the commit that asked for the call.
      const entered = place
        ? place.renew()
        : (access.enterIfOpen(run.input) ?? (await access.enterNow(run.input, { signal: run, waitMs })));
      if ('reason' in entered) return { status: 'must-wait', reason: entered.reason, for: 'plugin' };
      admitted = entered;
    } catch (error) {
      return { status: 'not-sent', failure: callFailureOf(error), retry };
    }
    let isSent = false;
    try {
      const { observation, node } = admitted;
      const { homes } = this.#options;
      // Capabilities belong to the driver too, so the driver is compared before them.
      const other = otherDriver(run.input, observation);
      if (this.#isElsewhere(run, node) && (other || !work.attaches)) {
        // Another driver does not know the volumes of the home node's plugin either.
        admitted.leave();
        return await this.#away(run);
      }
      if (other) return { status: 'not-sent', failure: other };
      const isHomeless = homes?.isToBeFound(run.input) === true;
      if (homes && isHomeless && work.makes && observation.hasService)
        return { status: 'call-again', home: node ?? homes.own };
      const refusal = work.refusal?.(observation);
      if (refusal !== undefined) return { status: 'not-sent', failure: lacking(refusal) };
      const precondition = work.precondition?.(observation);
      const obstacle = precondition instanceof Promise ? await precondition : precondition;
      if (obstacle) return { status: 'not-sent', failure: obstacle, retry };
      const without = work.without?.((capability) => this.#lacks(run.input.plugin, admitted, capability));
      const answer = without instanceof Promise ? await without : without;
      if (answer !== undefined) {
        admitted.leave();
        return done(work, answer, { observation, input: run.input, retry });
      }
      if (homes && isHomeless)
        return { status: 'call-again', home: await homes.find(run.input.plugin, run.input.topology ?? []) };
      if (this.#isElsewhere(run, node)) {
        admitted.leave();
        return await this.#away(run);
      }
      const settled = work.settle?.(observation);
      if (settled) return { status: 'call-again', ...settled };
      const bounds = node === undefined ? new Bounds(run, await this.#secrets(run)) : farBounds(run, work);
      const wasOther = work.hasOtherRecipient?.();
      const client = await admitted.client();
      if (work.prepare) await work.prepare();
      // Last check before the call: if the record named another process, the call would count as ended too early.
      if (wasOther || work.hasOtherRecipient?.()) return { status: 'call-again' };
      const seen = admitted.seen();
      const since = otherDriver(run.input, seen);
      if (since) return { status: 'not-sent', failure: since };
      run.sent();
      isSent = true;
      // Even if the client ignores the abort, the next call gets the place.
      const made = await unlessAborted(run, work.call(client, bounds, observation));
      admitted.leave({ grpcCode: 'OK' });
      return done(work, made, { observation: seen, input: run.input, retry });
    } catch (error) {
      const failure = callFailureOf(error);
      admitted.leave(failure);
      const { answerClass } = failure;
      if (answerClass === 'already-so' && work.already !== undefined) return { status: 'done', answer: work.already };
      const outcome = error instanceof StagecraftError ? error.outcome : undefined;
      if (isSent && outcome === 'unknown') run.mayGoOn();
      return { status: isSent && outcome !== 'refused' ? 'failed' : 'not-sent', failure, retry };
    } finally {
      admitted.leave();
    }
  }

  #secrets(run: EffectCall<PluginCall>): Record<string, string> | Promise<Record<string, string>> {
    const { secrets, clock } = this.#options;
    const refs = run.input.secrets;
    if (Object.keys(refs).length === 0) return {};
    return resolveSecrets(secrets, refs, { clock, signal: run.signal });
  }
}

class Bounds extends SignalOnDemand implements CallBounds {
  readonly secrets: Record<string, string>;
  declare readonly far?: FarBounds;

  constructor(run: EffectCall, secrets: Record<string, string>, far?: FarBounds) {
    super(run);
    this.secrets = secrets;
    if (far) this.far = far;
  }
}

function farBounds(run: EffectCall<PluginCall>, { volumes = [] }: PluginWork<unknown>): Bounds {
  const { secrets, home, driver } = run.input;
  return new Bounds(run, {}, { secrets, volumes, home, driver });
}

interface Answered {
  observation: Pick<PluginObservation, 'driver'>;
  input: PluginCall;
  retry: BackoffPolicy;
}

function done<TAnswer>(
  work: PluginWork<TAnswer>,
  answer: TAnswer,
  { observation: { driver }, input, retry }: Answered,
): CallOutcome<TAnswer> {
  const failure = work.fault?.(answer);
  if (failure) return { status: 'failed', failure, retry };
  const isLearned = input.driver === undefined && driver !== undefined;
  return { status: 'done', answer, ...(isLearned && { driver }) };
}

const lacking = (message: string): CallFailure => ({ code: 'PLUGIN_LACKS', message, final: true });
