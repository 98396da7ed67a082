/** Waits that end in vain. */
import { expect } from 'chai';
import { Waiters } from '../../src/engine/waiters.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

describe('a wait in vain whose error can not be made', () => {
  const failed = (): Error => {
    throw new Error('there is none');
  };

  it('V1 given up, or out of time: it ends with what was thrown, and nothing of it is left', async () => {
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
