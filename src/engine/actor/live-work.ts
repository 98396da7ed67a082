/** Running timers and effects of one actor, as its committed state asks for them. */
import type { StagecraftError } from '../../errors.js';
import type { Run } from '../effects/effect-runner.js';
import type { Timer } from '../timer-heap.js';
import type { ActorHost } from './actor-ports.js';
import type { ActorRecord, LiveEffect, LiveTimer } from './actor-record.js';

interface RunningTimer {
  live: LiveTimer;
  timer: Timer;
}

/** Shared by all actors without timers and effects, which are most. */
const none: readonly never[] = Object.freeze([]);

/** Compares by name (id, seq, attempt); other fields may have changed meanwhile. */
function isAmong<T extends { id: string; seq: number; attempt?: number }>(list: readonly T[], one: T): boolean {
  return list.some(({ id, seq, attempt }) => id === one.id && seq === one.seq && attempt === one.attempt);
}

export class LiveWork {
  readonly #address: string;
  readonly #host: ActorHost;
  #timers: readonly RunningTimer[] = none;
  #runs: readonly Run[] = none;
  #endReason: StagecraftError | undefined;

  constructor(address: string, host: ActorHost) {
    this.#address = address;
    this.#host = host;
  }

  /** @param restoredSeq effects up to this seq were begun by an earlier runtime */
  begin({ timers, effects }: ActorRecord, restoredSeq: number): void {
    for (const timer of timers) this.#startTimer(timer);
    if (effects.length === 0) return;
    for (const effect of effects) this.#startEffect(effect, effect.seq <= restoredSeq);
  }

  /** Cancels timers and effects that `after` no longer asks for, and starts new ones. The others go on. */
  change(before: ActorRecord, after: ActorRecord): void {
    if (before.timers !== after.timers) {
      const timers = this.#timers;
      this.#timers = timers.filter(({ live }) => isAmong(after.timers, live));
      for (const { live, timer } of timers) if (!isAmong(after.timers, live)) this.#host.cancelTimer(timer);
      for (const timer of after.timers) if (!isAmong(before.timers, timer)) this.#startTimer(timer);
    }
    if (before.effects === after.effects) return;
    const runs = this.#runs;
    this.#runs = runs.filter(({ live }) => isAmong(after.effects, live));
    for (const run of runs) if (!isAmong(after.effects, run.live)) this.#host.cancelEffect(run);
    for (const effect of after.effects) if (!isAmong(before.effects, effect)) this.#startEffect(effect, false);
  }

  /** When the request of this effect went out, in milliseconds since the epoch; undefined: not sent yet. */
  sentAtMs({ id, seq }: LiveEffect): number | undefined {
    return this.#runs.find(({ live }) => live.id === id && live.seq === seq)?.sentAtMs;
  }

  end(reason: StagecraftError): void {
    this.#endReason = reason;
    const [timers, runs] = [this.#timers, this.#runs];
    this.#timers = none;
    this.#runs = none;
    for (const { timer } of timers) this.#host.cancelTimer(timer);
    for (const run of runs) this.#host.cancelEffect(run, reason);
  }

  #startTimer(live: LiveTimer): void {
    this.#timers = [...this.#timers, { live, timer: this.#host.startTimer(this.#address, live) }];
  }

  #startEffect(live: LiveEffect, recovered: boolean): void {
    if (this.#endReason) return;
    const run = this.#host.startEffect(this.#address, live, recovered);
    // The effect may have ended this actor while it started.
    if (this.#endReason) this.#host.cancelEffect(run, this.#endReason);
    else this.#runs = [...this.#runs, run];
  }
}
