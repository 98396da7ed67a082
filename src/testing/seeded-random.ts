/** Repeatable random numbers: the `Random` port for tests. */
import type { Random } from '../engine/random.js';

/** @param seed any integer; equal seeds give equal numbers and ids */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  let ids = 0;
  // Mulberry32: 32 bits of state, passes the usual tests, and is four lines long.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    id: () => {
      ids += 1;
      return `seed-${seed}-${ids}`;
    },
  };
}
