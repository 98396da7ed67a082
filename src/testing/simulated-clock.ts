/** Clock that stands still until a test advances it: the `Clock` port for tests. */
import type { Clock } from '../engine/clock.js';

export interface SimulatedClock extends Clock {
  /**
   * Advances the time and runs due timers in order. Before each timer, everything that the earlier ones started in
   * this process comes to rest. Resolves when that is done.
   * @param ms milliseconds; 0: only lets present work come to rest
   */
  advance(ms: number): Promise<void>;
  /** Number of set timers. */
  readonly pending: number;
}

interface Timer {
  dueAtMs: number;
  callback: () => void;
}

/** @param startMs wall clock at the start, in milliseconds since the epoch */
export function simulatedClock(startMs = Date.UTC(2026, 0, 1)): SimulatedClock {
  let nowMs = startMs;
  const timers = new Set<Timer>();

  const nextDue = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueAtMs > untilMs) continue;
      // Timers of the same time run in the order in which they were set, which a Set keeps.
      if (!next || timer.dueAtMs < next.dueAtMs) next = timer;
    }
    return next;
  };

  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    after(delayMs, callback) {
      const timer: Timer = { dueAtMs: nowMs + Math.max(delayMs, 0), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await rest();
      for (let timer = nextDue(untilMs); timer; timer = nextDue(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueAtMs);
        timer.callback();
        await rest();
      }
      nowMs = untilMs;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Waits a few turns of the event loop: enough for chains of promises, and for a store that answers in a later turn. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
