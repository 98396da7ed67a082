/** Clock of one process among several on a simulated clock: while the process is frozen, its timers wait, as after SIGSTOP. */
import type { Clock } from '../../src/engine/clock.js';

export interface FrozenClock extends Clock {
  freeze(): void;
  /** Runs what has become due meanwhile, in order. */
  thaw(): void;
}

export function frozenClock(clock: Clock): FrozenClock {
  let isFrozen = false;
  const due = new Set<() => void>();
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, callback) => {
      const cancel = clock.after(delayMs, () => {
        if (isFrozen) due.add(callback);
        else callback();
      });
      return () => {
        cancel();
        due.delete(callback);
      };
    },
    freeze: () => {
      isFrozen = true;
    },
    thaw: () => {
      isFrozen = false;
      for (const callback of [...due]) if (due.delete(callback)) callback();
    },
  };
}
