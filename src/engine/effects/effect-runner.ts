/**
 * Runs the effects that committed snapshots ask for: starts, bounds and cancels them, and turns their results into
 * plain data. Knows no store and no machine; the actor decides what a result means.
 */
import type { AnyEventObject } from 'xstate';
import { messageOf, StagecraftError } from '../../errors.js';
import type { LiveEffect } from '../actor/actor-record.js';
import { type Clock, pause } from '../clock.js';
import type { Feed } from '../feed.js';
import { asData, copyOfData } from '../machine/data.js';
import type { Timer, TimerHeap } from '../timer-heap.js';
import { type AskedCall, deadlineOf, type Effect, type EffectCall, type Saying } from './effects.js';

interface EffectStart {
  address: string;
  live: LiveEffect;
  effect: Effect | undefined;
  recovered: boolean;
  /** Milliseconds until no effect that `src` undoes can still be running. Default: 0. */
  clearInMs?: (call: AskedCall) => number;
  /** See EffectCall. Default: no calls are in doubt. */
  endDoubts?: (call: AskedCall) => Promise<boolean>;
}

type Deliver = (run: Run, event: AnyEventObject, says: Saying) => void;

/** Turns an error into plain data for a machine, as errors do not survive JSON. */
export function flattened(error: unknown): { name: string; message: string; code: string; final: boolean } {
  const { code, final }: { code?: unknown; final?: unknown } = error instanceof Object ? error : {};
  return {
    name: textOf(() => (error instanceof Error ? error.name : 'Error')),
    message: textOf(() => messageOf(error)),
    code: code === undefined ? 'EFFECT_FAILED' : textOf(() => code),
    final: final === true,
  };
}

/** Handles any thrown value, also one without text. */
function textOf(part: () => unknown): string {
  try {
    return String(part());
  } catch {
    return 'unknown error';
  }
}

const interrupted = ({ address, live }: Run): StagecraftError =>
  new StagecraftError('INTERRUPTED', `${live.src} was interrupted: it may have been done, or may still`, {
    address,
  });

/** Shared by all cancelled runs: a new error with its stack would cost more than the step that left the state. */
const stateLeft = new StagecraftError('ABORTED', 'the state that asked for this effect was left');

interface RunnerOptions {
  /** Asked at `sent`, before a prepared request goes out; false: the lease has lapsed. */
  mayAct?(): boolean;
  feed?: Feed;
}

export class EffectRunner {
  readonly #clock: Clock;
  readonly #timers: TimerHeap;
  readonly #deliver: Deliver;
  readonly #mayAct: () => boolean;
  readonly #feed: Feed | undefined;
  /** Number of runs that have not ended; cancelled runs count until they end. */
  #unended = 0;
  readonly #stopping = new Set<AbortController>();

  constructor(clock: Clock, timers: TimerHeap, deliver: Deliver, { mayAct = () => true, feed }: RunnerOptions = {}) {
    this.#clock = clock;
    this.#timers = timers;
    this.#deliver = deliver;
    this.#mayAct = mayAct;
    this.#feed = feed;
  }

  start(asked: EffectStart): Run {
    const run = this.prepare(asked);
    this.begin(run);
    return run;
  }

  /** Makes a run that has not begun. A run that is cancelled before `begin` never begins. */
  prepare(asked: EffectStart): Run {
    return new Run(asked, this.#deliver);
  }

  begin(run: Run): void {
    const { effect, address } = run;
    this.#unended += 1;
    try {
      if (!effect)
        throw new StagecraftError('NO_EFFECT', `no effect '${run.live.src}' is defined for this machine`, { address });
      this.#setDeadline(run, deadlineOf(effect, run.input));
      run.onSent = () => this.#sent(run, effect.sentDeadlineMs);
      this.#feed?.effect(address, run.live, { phase: 'started' });
      const isRepeat = run.recovered || run.attempt > 1;
      const running = effect.atMostOnce && isRepeat ? Promise.reject(interrupted(run)) : effect.run(run);
      Promise.resolve(running).then(
        (output) => {
          this.#ended(run);
          if (effect.deadlineMs === 'loop') run.isOver = true;
          else run.finish(output);
        },
        (error) => this.#failed(run, error),
      );
    } catch (error) {
      this.#failed(run, error);
    }
  }

  /** @param reason abort reason of the run's signal; default ABORTED: its state was left */
  cancel(run: Run, reason = stateLeft): void {
    if (run.isOver) return;
    run.isOver = true;
    this.#clearDeadline(run);
    run.abort(reason);
  }

  /** Resolves once all cancelled runs have ended, or `graceMs` has passed. */
  async stop(graceMs: number): Promise<void> {
    if (this.#unended === 0) return;
    const ended = new AbortController();
    this.#stopping.add(ended);
    await pause(this.#clock, graceMs, ended.signal);
    this.#stopping.delete(ended);
  }

  #sent(run: Run, limitMs: number | undefined): void {
    const { address, live } = run;
    if (limitMs !== undefined && !this.#mayAct()) {
      const message = `${live.src} was not begun: the lease has lapsed, and somebody else may act by now`;
      throw new StagecraftError('LEASE_LAPSED', message, { address });
    }
    run.sentAtMs = this.#clock.now();
    this.#feed?.effect(address, live, { phase: 'sent' });
    if (limitMs !== undefined) this.#setDeadline(run, limitMs);
  }

  #failed(run: Run, error: unknown): void {
    this.#ended(run);
    run.fail(error);
  }

  #ended(run: Run): void {
    this.#clearDeadline(run);
    this.#unended -= 1;
    if (this.#unended === 0) for (const ended of this.#stopping) ended.abort();
  }

  #setDeadline(run: Run, limitMs: number): void {
    if (limitMs === Number.POSITIVE_INFINITY || run.isOver) return;
    const { address } = run;
    const { src } = run.live;
    run.deadline = this.#timers.after(limitMs, () => {
      run.fail(new StagecraftError('TIMEOUT', `${src} took too long; it may still go on`, { address }));
      run.abort(new StagecraftError('TIMEOUT', `${src}: the deadline has passed`, { address }));
    });
  }

  #clearDeadline({ deadline }: Run): void {
    if (deadline) this.#timers.cancel(deadline);
  }
}

interface Hearing {
  callback(reason: unknown): void;
}

/** Shared by all runs without listeners, which are most. */
const none: readonly Hearing[] = Object.freeze([]);
const ignore = (): void => {};

/**
 * One run of an effect until its end, and the effect's view of it. The actor holds the run: a Map of all runs would
 * keep outgrown tables alive until a full collection.
 */
export class Run implements EffectCall {
  readonly address: string;
  readonly id: string;
  readonly src: string;
  readonly seq: number;
  readonly input: unknown;
  readonly recovered: boolean;
  readonly attempt: number;
  readonly live: LiveEffect;
  readonly effect: Effect | undefined;
  readonly send: EffectCall['send'];
  readonly #deliver: Deliver;
  deadline: Timer | undefined;
  onSent: (() => void) | undefined;
  /** When its request went out, in milliseconds since the epoch. Absent: none did. */
  sentAtMs: number | undefined;
  /** True once the result came or the run was cancelled. Later messages of the run are dropped. */
  isOver = false;
  /** Whether its request may go on after its end. */
  isInDoubt = false;
  readonly #clearInMs: EffectStart['clearInMs'];
  readonly #endDoubts: EffectStart['endDoubts'];
  #controller: AbortController | undefined;
  #reason: StagecraftError | undefined;
  #hearing: readonly Hearing[] = none;

  constructor({ address, live, effect, recovered, clearInMs, endDoubts }: EffectStart, deliver: Deliver) {
    this.address = address;
    this.id = live.id;
    this.src = live.src;
    this.seq = live.seq;
    this.input = copyOfData(live.input);
    this.recovered = recovered;
    this.attempt = live.attempt ?? 1;
    this.live = live;
    this.effect = effect;
    this.#deliver = deliver;
    this.#clearInMs = clearInMs;
    this.#endDoubts = endDoubts;
    this.send = (event) => this.#say(event, 'event');
  }

  /** Made on first use: a signal costs more than the commit that asked for the run. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  clearInMs(call: AskedCall = this.live): number {
    return this.#clearInMs?.(call) ?? 0;
  }

  get recipient(): object | undefined {
    return this.live.recipient;
  }

  async endDoubts(call: AskedCall = this.live): Promise<boolean> {
    return (await this.#endDoubts?.(call)) ?? false;
  }

  sent(): void {
    if (this.effect?.makesCall === false)
      throw new Error(`${this.live.src} must not call sent(): it is declared with makesCall: false`);
    if (this.clearInMs() > 0) throw new Error(`${this.live.src} must wait: a call that it undoes may still be running`);
    this.onSent?.();
  }

  mayGoOn(): void {
    if (this.sentAtMs !== undefined) this.isInDoubt = true;
  }

  onAbort(callback: (reason: unknown) => void): () => void {
    if (this.#reason) {
      callback(this.#reason);
      return ignore;
    }
    const hearing = { callback };
    this.#hearing = [...this.#hearing, hearing];
    return () => {
      this.#hearing = this.#hearing.filter((one) => one !== hearing);
    };
  }

  abort(reason: StagecraftError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (let [first] = this.#hearing; first; [first] = this.#hearing) {
      this.#hearing = this.#hearing.slice(1);
      first.callback(reason);
    }
  }

  finish(output: unknown): void {
    try {
      this.#end(asData({ type: `xstate.done.actor.${this.id}`, output, actorId: this.id }));
    } catch (error) {
      this.fail(error); // the output cannot be plain data
    }
  }

  fail(error: unknown): void {
    this.#end({ type: `xstate.error.actor.${this.id}`, error: flattened(error), actorId: this.id });
  }

  #say(event: AnyEventObject, says: Saying): void {
    const said = asData(event);
    if (!this.isOver) this.#deliver(this, said, says);
  }

  #end(event: AnyEventObject): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#deliver(this, event, 'result');
  }
}
