/** Waits that fail. */
import { expect } from 'chai';
import { Waiters } from '../../src/engine/waiters.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

describe('a failed wait whose error function throws', () => {
  const failed = (): Error => {
    throw new Error('there is none');
  };

  it('V1 cancelled or timed out: ends with the thrown error, and nothing remains', async () => {
    const clock = simulatedClock();
    const waiters = new Waiters();
    const given = new AbortController();
    const refusals: unknown[] = [];
    const wait = (limits: { timeoutMs: number; signal?: AbortSignal }): void => {
      waiters
        .until('here', () => undefined, { clock, failed, ...limits })
        .catch((error) => refusals.push(error.message));
    };
    wait({ timeoutMs: 1_000 });
    wait({ timeoutMs: 2_000, signal: given.signal });
    wait({ timeoutMs: 2_000, signal: AbortSignal.abort() });
    given.abort();
    await clock.advance(5_000);
    expect(refusals).to.deep.equal(Array(3).fill('there is none'));
    expect(waiters.size).to.equal(0);
  });
});
