/** Limits of a wait. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { inTime, timeLeft } from '../../src/requests/await-options.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';

describe('the time that is left', () => {
  it('34 is in whole milliseconds, as messages name it, and never below 0', () => {
    let now = 100;
    const left = timeLeft({ monotonicMs: () => now }, 20_000);
    now += 22.472889000084;
    expect(left()).to.equal(19_978);
    now += 30_000;
    expect(left()).to.equal(0);
    expect(timeLeft({ monotonicMs: () => now }, undefined)()).to.equal(undefined);
  });
});

/** A request that its caller's limit ends fails with a StagecraftError, never with the bare reason. */
describe('a request within limits', () => {
  const clock = simulatedClock();
  const untilOver = (limit?: AbortSignal): Promise<void> =>
    new Promise((_, reject) => {
      limit?.addEventListener('abort', () => reject(limit.reason), { once: true });
    });

  it('V1 timeout before anything was asked for: TIMEOUT, and nothing has changed', async () => {
    const refused = refusalOf(inTime(clock, { timeoutMs: 78 }, untilOver));
    await clock.advance(78);
    const message = '78 ms have passed before anything was asked for; nothing has changed';
    expect(await refused).to.include({ code: 'TIMEOUT', outcome: 'refused', message });
  });

  for (const timeoutMs of [undefined, 1_000])
    it(`V1 given up ${timeoutMs ? 'within' : 'without'} a time limit before anything was asked for: ABORTED`, async () => {
      const caller = new AbortController();
      const refused = refusalOf(inTime(clock, { timeoutMs, signal: caller.signal }, untilOver));
      caller.abort(new Error('no longer wanted'));
      expect(await refused).to.include({ code: 'ABORTED', outcome: 'refused' });
      expect((await refused).message).to.include('no longer wanted');
    });

  it('V1 work that fails by itself, or with an error of its own at the limit: that error', async () => {
    const own = new StagecraftError('VOLUME_IN_USE', 'mounted');
    const failing = async (): Promise<never> => {
      throw own;
    };
    expect(await refusalOf(inTime(clock, { timeoutMs: 78 }, failing))).to.equal(own);
    const refused = refusalOf(inTime(clock, { timeoutMs: 78 }, (limit) => untilOver(limit).catch(failing)));
    await clock.advance(78);
    expect(await refused).to.equal(own);
  });
});
