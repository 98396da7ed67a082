/** The delay before a repeat: design.md, Time limits, retries, backoff. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type BackoffPolicy, defaultBackoff, jittered } from '../../../machines/kit/backoff.js';

const policy = fc.record({
  initialMs: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  maxMs: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
});
const attempt = fc.integer({ min: 1, max: 1_000_000 });
/** Uniform in [0, 1), as `Stamped` says, with both ends. */
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** The longest delay that may come. */
const ceiling = (backoff: BackoffPolicy, attempts: number): number => jittered(backoff, attempts, 1);

describe('backoff', () => {
  it('the default doubles from 100 ms and is clamped at 5 minutes', () => {
    const longest = [1, 2, 3, 4, 11, 12, 13, 14, 60, 61, 62, 1_000, 1_000_000].map((n) => ceiling(defaultBackoff, n));
    expect(longest).to.deep.equal([
      100, 200, 400, 800, 102_400, 204_800, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000,
    ]);
  });

  it('any delay is whole milliseconds from 0 up to the limit, for up to a million attempts', () => {
    fc.assert(
      fc.property(policy, attempt, random, (backoff, attempts, chance) => {
        const delayMs = jittered(backoff, attempts, chance);
        expect(Number.isSafeInteger(delayMs), String(delayMs)).to.equal(true);
        expect(delayMs).to.be.at.least(0);
        expect(delayMs).to.be.below(Math.min(backoff.maxMs, backoff.initialMs * 2 ** (attempts - 1)));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  it('more attempts never make the longest delay shorter', () => {
    fc.assert(
      fc.property(policy, attempt, attempt, (backoff, a, b) => {
        expect(ceiling(backoff, Math.min(a, b))).to.be.at.most(ceiling(backoff, Math.max(a, b)));
      }),
      { seed: 2 },
    );
  });

  it('the jitter is full: chance picks anything between nothing and the longest delay', () => {
    const at = (chance: number): number => jittered({ initialMs: 1_000, maxMs: 60_000 }, 3, chance);
    expect([at(0), at(0.25), at(0.5), at(1 - Number.EPSILON)]).to.deep.equal([0, 1_000, 2_000, 3_999]);
  });

  it('the same numbers give the same delay', () => {
    fc.assert(
      fc.property(policy, attempt, random, (backoff, attempts, chance) => {
        expect(jittered(backoff, attempts, chance)).to.equal(jittered(backoff, attempts, chance));
      }),
      { seed: 3 },
    );
  });

  it('no attempt counts as the first one, and an initial delay above the clamp is clamped', () => {
    expect(ceiling(defaultBackoff, 0)).to.equal(100);
    expect(ceiling({ initialMs: 10_000, maxMs: 50 }, 1)).to.equal(50);
  });
});
