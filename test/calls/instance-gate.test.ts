/** Tests the admission of calls to one plugin: failures that block it, its reopening, and the order of calls. */
import { expect } from 'chai';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import type { PluginAnswer, PluginObservation } from '../../src/calls/plugin-port.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

describe('admission of calls to a plugin', () => {
  const clock = simulatedClock();
  const signal = new AbortController().signal;
  let observation: PluginObservation;
  let changed: () => void;
  let access: PluginAccess;
  beforeEach(() => {
    observation = { capabilities: new Set(), pluginCapabilities: new Set(), hasService: true, wellAtMs: 1_000_000 };
    access = new PluginAccess(
      {
        isKnown: () => true,
        observation: () => observation,
        client: async () => ({}),
        lookAgain: () => {},
        watch: (_, heard) => {
          changed = heard;
          return () => {};
        },
      },
      { clock, maxInFlight: 1 },
    );
  });

  const see = (wellAtMs: number): void => {
    observation = { ...observation, wellAtMs };
    changed();
  };

  async function called(...answers: (PluginAnswer | undefined)[]): Promise<string | undefined> {
    for (const answer of answers) (await access.enter({ plugin: 'disk' }, { signal, waits: () => {} })).leave(answer);
    return access.obstacle({ plugin: 'disk' });
  }
  const lost = { grpcCode: 'UNAVAILABLE' };

  it('V9 only an answer of the plugin ends a row of failures, not an unsent call or our own deadline', async () => {
    const silence = { grpcCode: 'DEADLINE_EXCEEDED' };
    expect(await called(lost, lost, { grpcCode: 'OK' }, lost, { grpcCode: 'ABORTED' }, lost, lost)).to.equal(undefined);
    expect(await called(undefined, silence, {}, lost)).to.include('did not answer 3 calls in a row');
  });

  it('V9 the next good probe reopens it, even if the clock was set back', async () => {
    expect(await called(lost, lost, lost)).to.include('did not answer');
    see(1_000_000);
    expect(access.obstacle({ plugin: 'disk' })).to.include('did not answer');
    see(0);
    expect(access.obstacle({ plugin: 'disk' })).to.include('did not answer');
    see(400_000);
    expect(access.obstacle({ plugin: 'disk' })).to.equal(undefined);
  });

  it('V9 a call begun before a good probe that fails after it does not count as a failure', async () => {
    await called(lost, lost);
    const begun = await access.enter({ plugin: 'disk' }, { signal, waits: () => {} });
    see(400_000);
    begun.leave(lost);
    expect(access.obstacle({ plugin: 'disk' })).to.equal(undefined);
    expect(await called(lost)).to.include('did not answer');
  });

  it('V9 calls enter in order of arrival, even if others arrive as a turn gets free', async () => {
    const order: number[] = [];
    const first = await access.enter({ plugin: 'disk' }, { signal, waits: () => {} });
    const others = [1, 2, 3].map(async (at) => {
      const admitted = await access.enter({ plugin: 'disk' }, { signal, waits: () => {} });
      order.push(at);
      if (at === 1) others.push(called({ grpcCode: 'OK' }).then(() => void order.push(4)));
      admitted.leave({ grpcCode: 'OK' });
    });
    first.leave({ grpcCode: 'OK' });
    for (const one of others) await one;
    expect(order).to.deep.equal([1, 2, 3, 4]);
  });

  it('V9 turns go on after the queue was empty, and skip calls that gave up', async () => {
    const order: string[] = [];
    for (const round of ['a', 'b']) {
      const first = await access.enter({ plugin: 'disk' }, { signal, waits: () => {} });
      const givingUp = new AbortController();
      const others = [1, 2, 3].map(async (at) => {
        const admitted = await access.enter(
          { plugin: 'disk' },
          { signal: at === 2 ? givingUp.signal : signal, waits: () => {} },
        );
        order.push(`${round}${at}`);
        admitted.leave({ grpcCode: 'OK' });
      });
      givingUp.abort(new Error('not wanted any more'));
      first.leave({ grpcCode: 'OK' });
      const [, second] = await Promise.allSettled(others);
      expect(second).to.include({ status: 'rejected' });
    }
    expect(order).to.deep.equal(['a1', 'a3', 'b1', 'b3']);
  });
});
