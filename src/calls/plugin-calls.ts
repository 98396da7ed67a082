/**
 * One piece of work with a plugin, from its turn to what came of it: admission, gate, secrets, call, and the answer as
 * data that a machine can keep. What the classes of answers lead to is the machine's to say.
 */
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { Awaiting, CallFailure, CallOutcome } from '../../machines/kit/csi-types.js';
import { codeIn } from '../../machines/kit/host.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import { onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { EffectCall } from '../engine/effects.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { CallBounds } from './call-bounds.js';
import type { Homes } from './homes.js';
import { otherDriver } from './other-driver.js';
import type { Admitted, PluginAccess, PluginSight } from './plugin-access.js';
import { resolveSecrets, type SecretsProvider } from './secrets.js';
import { lockKey, type VolumeLocks } from './volume-locks.js';

export interface PluginCallsOptions {
  access: PluginAccess;
  secrets: SecretsProvider;
  clock: Clock;
  retry: BackoffPolicy;
  /** Those that others in this process share. */
  locks: VolumeLocks;
  /** Where the calls about a volume are made; default: wherever they are asked for. */
  homes?: Homes;
}

/** What is to be done once a call may be made. */
export interface Work<TAnswer> {
  /** The plugin's ids of the volumes that it is about, or `nodeCallsOf` them: nothing else is asked about them meanwhile. */
  volumes?: readonly string[];
  /** Why the plugin can't do this at all, by what it offers; undefined where it can. */
  refusal?(sight: Admitted['sight']): string | undefined;
  /** What stands in its way for now: it is tried again later. */
  hindrance?(sight: Admitted['sight']): CallFailure | undefined;
  /** The answer where nothing has to be called; where it rejects, that can't be told yet, and no call was made. */
  without?(sight: Admitted['sight']): TAnswer | undefined | Promise<TAnswer | undefined>;
  /** Whether the plugin is another one by now than its machine has committed: then it is asked for again, at once. */
  isOutdated?(): boolean;
  /** What has to be so on this host before the call: where it rejects, no call was made. */
  prepare?(): Promise<void>;
  call(client: unknown, bounds: CallBounds, sight: Admitted['sight']): Promise<TAnswer>;
  /** Why the answer, also one of `without`, can't be taken for done; undefined where it can. */
  fault?(answer: TAnswer): CallFailure | undefined;
  /** The answer where it was so already. */
  already?: TAnswer;
  /** Marks a call that makes a volume. This node becomes the home of a volume without one. */
  makes?: boolean;
  /** Marks an attach or detach. A plugin that needs no call for that gets none, whichever node is the home. */
  attaches?: boolean;
}

/** All that a call is made with, whatever it asks. */
export type PluginCall = Pick<VolumeCall, 'plugin' | 'secrets' | 'isForced' | 'driver' | 'home' | 'topology'>;

/** How often it is looked whether a call for another node may be made here. */
const elsewhereLookMs = 30_000;
/** How often it is looked whether who an earlier call went to has ended. */
const recipientLookMs = 1_000;
/** How long a forced request waits for a plugin. */
const forcedWaitMs = 10_000;

export class PluginCalls {
  readonly #options: PluginCallsOptions;
  readonly #locks: VolumeLocks;

  constructor(options: PluginCallsOptions) {
    this.#options = options;
    this.#locks = options.locks;
  }

  /** Never rejects but with what aborted it. */
  async run<TAnswer>(run: EffectCall<PluginCall>, work: Work<TAnswer>): Promise<CallOutcome<TAnswer>> {
    if (this.#isElsewhere(run) && this.#options.access.isClosed(run.input.plugin))
      return this.#away(run, () => this.#options.access.isClosed(run.input.plugin));
    if (run.clearInMs() > 0) {
      const isWorthAsking = await run.endDoubts();
      if (run.clearInMs() > 0) return this.#overtaken(run, isWorthAsking);
    }
    const { plugin } = run.input;
    const keys = (work.volumes ?? []).map((csiId) => lockKey(plugin, csiId));
    if (!this.#locks.take(keys)) {
      try {
        await this.#turn(run, keys);
      } catch (error) {
        return { status: 'not-begun', failure: failureOf(error), retry: this.#options.retry };
      }
      // Its machine holds that no call was made: it has to know better before one is. Who kept its turn until then would
      // have others wait who could call, and they would have to begin anew in their turn, without end.
      this.#locks.leave(keys);
      return anew(`nothing else is asked of plugin '${plugin}' about the volume now`);
    }
    try {
      return await this.#admitted(run, work);
    } finally {
      this.#locks.leave(keys);
    }
  }

  /** The agent of another node makes this call, once that one leads. */
  async #away(run: EffectCall<PluginCall>, isStill = (): boolean => true): Promise<CallOutcome<never>> {
    let said: string | undefined;
    // Here only another definition of the plugin ends it.
    while (!run.signal.aborted && this.#isElsewhere(run) && isStill()) {
      const message = await this.#whyAway(run, said);
      run.signal.throwIfAborted();
      if (run.input.isForced)
        return { status: 'not-begun', failure: { code: 'VOLUME_ELSEWHERE', message, final: true } };
      // The home may go down meanwhile, or come back.
      if (message !== said) run.waits(awaits(run, message));
      said = message;
      await pause(this.#options.clock, elsewhereLookMs, run.signal);
    }
    return anew('it may be made on this node now');
  }

  /** @param said what was said before: that holds where the store can't be read now */
  async #whyAway({ input }: EffectCall<PluginCall>, said: string | undefined): Promise<string> {
    const why = this.#options.homes?.elsewhere(input);
    return (await (said === undefined ? why : why?.catch(() => said))) ?? '';
  }

  #isElsewhere({ input }: EffectCall<PluginCall>): boolean {
    return this.#options.homes?.isElsewhere(input) === true;
  }

  /** Its machine holds that no call was made: the home is committed before one is. */
  #commitHome(run: EffectCall<PluginCall>, home: string): CallOutcome<never> {
    run.waits({ type: 'call.home', home });
    return anew(`its home is node ${home}`);
  }

  /** What it undoes would come after it. */
  async #overtaken(run: EffectCall<PluginCall>, mayEndBefore: boolean): Promise<CallOutcome<never>> {
    const { clock } = this.#options;
    const until = new Date(clock.now() + run.clearInMs()).toISOString();
    const orBefore = mayEndBefore ? ', or until the process that it went to has ended' : '';
    const reason = 'an earlier call that this one undoes may still be under way at the plugin, until';
    run.waits(awaits(run, `${reason} ${until} at the latest${orBefore}`));
    let isWorthAsking = mayEndBefore;
    for (let leftMs = run.clearInMs(); leftMs > 0 && !run.signal.aborted; leftMs = run.clearInMs()) {
      await pause(clock, isWorthAsking ? Math.min(leftMs, recipientLookMs) : leftMs, run.signal);
      if (isWorthAsking) isWorthAsking = await run.endDoubts();
    }
    return anew('nothing that it undoes is under way any more');
  }

  /** Resolves when nothing else is asked about these volumes. */
  async #turn(run: EffectCall<PluginCall>, keys: string[]): Promise<void> {
    const { plugin, isForced } = run.input;
    const which = keys.length > 1 ? 'one of the volumes' : 'the volume';
    const reason = `another call to plugin '${plugin}' about ${which} is under way`;
    run.waits(awaits(run, reason));
    if (!isForced) return this.#locks.wait(keys, run.signal);
    const limit = new AbortController();
    const late = new StagecraftError('PLUGIN_UNAVAILABLE', `${reason} for more than ${forcedWaitMs} ms`);
    const cancel = this.#options.clock.after(forcedWaitMs, () => limit.abort(late));
    const unsubscribe = onAbort(run, (reason) => limit.abort(reason));
    try {
      await this.#locks.wait(keys, limit.signal);
    } finally {
      cancel();
      unsubscribe();
    }
  }

  async #admitted<TAnswer>(run: EffectCall<PluginCall>, work: Work<TAnswer>): Promise<CallOutcome<TAnswer>> {
    const { access, retry } = this.#options;
    const { plugin, isForced } = run.input;
    let hasWaited = false;
    let admitted: Admitted;
    try {
      admitted = await access.enter(plugin, {
        signal: run,
        waitMs: isForced ? forcedWaitMs : undefined,
        waits: (reason) => {
          hasWaited = true;
          run.waits(awaits(run, reason));
        },
      });
    } catch (error) {
      return { status: 'not-begun', failure: failureOf(error), retry };
    }
    if (hasWaited) {
      // Its machine holds that no call was made: it has to know better before one is.
      admitted.leave();
      return anew(`plugin '${plugin}' takes calls again`);
    }
    let isSent = false;
    try {
      const { sight } = admitted;
      const { homes } = this.#options;
      // Also what the plugin offers is the driver's own.
      const other = otherDriver(run.input, sight);
      if (this.#isElsewhere(run) && (other || !work.attaches)) {
        // Nor does it say what the plugin of the home has made, and can delete.
        admitted.leave();
        return await this.#away(run);
      }
      if (other) return { status: 'not-begun', failure: other };
      const isHomeless = homes?.isToBeFound(run.input) === true;
      if (homes && isHomeless && work.makes && sight.hasService) return this.#commitHome(run, homes.own);
      const refusal = work.refusal?.(sight);
      if (refusal !== undefined) return { status: 'not-begun', failure: lacking(refusal) };
      const hindrance = work.hindrance?.(sight);
      if (hindrance) return { status: 'not-begun', failure: hindrance, retry };
      const without = work.without?.(sight);
      const answer = without instanceof Promise ? await without : without;
      if (answer !== undefined) {
        admitted.leave();
        return done(work, answer, { sight, input: run.input, retry });
      }
      if (homes && isHomeless)
        return this.#commitHome(run, await homes.find(run.input.plugin, run.input.topology ?? []));
      if (this.#isElsewhere(run)) {
        admitted.leave();
        return await this.#away(run);
      }
      const bounds = new Bounds(run, await this.#secrets(run));
      const wasOutdated = work.isOutdated?.();
      const client = await admitted.client();
      if (work.prepare) await work.prepare();
      // Last before the call: one to another process than is recorded would be taken for ended too early.
      if (wasOutdated || work.isOutdated?.()) return anew(`plugin '${plugin}' is another process by now`);
      const seen = admitted.seen();
      const since = otherDriver(run.input, seen);
      if (since) return { status: 'not-begun', failure: since };
      run.sent();
      isSent = true;
      const made = await this.#whileWanted(run, work.call(client, bounds, sight));
      admitted.leave({ grpcCode: 'OK' });
      return done(work, made, { sight: seen, input: run.input, retry });
    } catch (error) {
      const failure = failureOf(error);
      admitted.leave(failure);
      const { answerClass } = failure;
      if (answerClass === 'already-so' && work.already !== undefined) return { status: 'done', answer: work.already };
      return { status: isSent ? 'failed' : 'not-begun', failure, retry };
    } finally {
      admitted.leave();
    }
  }

  /** A call that is given up lets the next one in, whether its client heeds that or not. */
  #whileWanted<T>(run: EffectCall, called: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const unsubscribe = run.onAbort(reject);
      called.then(
        (answer) => {
          unsubscribe();
          resolve(answer);
        },
        (error: unknown) => {
          unsubscribe();
          reject(error);
        },
      );
    });
  }

  #secrets(run: EffectCall<PluginCall>): Record<string, string> | Promise<Record<string, string>> {
    const { secrets, clock } = this.#options;
    const refs = run.input.secrets;
    if (Object.keys(refs).length === 0) return {};
    return resolveSecrets(secrets, refs, { clock, signal: run.signal });
  }
}

/** A signal is made for those who look at it. */
class Bounds implements CallBounds {
  readonly secrets: Record<string, string>;
  readonly #run: EffectCall;

  constructor(run: EffectCall, secrets: Record<string, string>) {
    this.secrets = secrets;
    this.#run = run;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  onAbort(callback: (reason: unknown) => void): () => void {
    return this.#run.onAbort(callback);
  }
}

interface Answered {
  sight: Pick<PluginSight, 'driver'>;
  input: PluginCall;
  retry: BackoffPolicy;
}

function done<TAnswer>(
  work: Work<TAnswer>,
  answer: TAnswer,
  { sight: { driver }, input, retry }: Answered,
): CallOutcome<TAnswer> {
  const failure = work.fault?.(answer);
  if (failure) return { status: 'failed', failure, retry };
  const isLearned = input.driver === undefined && driver !== undefined;
  return { status: 'done', answer, ...(isLearned && { driver }) };
}

/** What its machine is told while it waits. */
const awaits = (
  { input: { isForced } }: EffectCall<PluginCall>,
  reason: string,
): { type: 'call.awaits' } & Awaiting => ({
  type: 'call.awaits',
  reason,
  ...(isForced && { isForced }),
});

/** Asked for again at once, also by machines that count it as an attempt. */
export const anew = (message: string): CallOutcome<never> => ({
  status: 'not-begun',
  failure: { code: 'CALL_ANEW', message, final: false },
  retry: { initialMs: 0, maxMs: 0 },
  anew: true,
});

const lacking = (message: string): CallFailure => ({ code: 'PLUGIN_LACKS', message, final: true });

/** What was thrown, as data. A failure that is no answer of a plugin is never final. */
export function failureOf(error: unknown): CallFailure {
  const { rpc, grpcCode, answerClass, final = false } = error instanceof StagecraftError ? error : {};
  return {
    ...codeIn(error, 'CALL_FAILED'),
    message: messageOf(error),
    final,
    ...(rpc !== undefined && { rpc }),
    ...(grpcCode !== undefined && { grpcCode }),
    ...(answerClass !== undefined && { answerClass }),
  };
}
