/** An effect that waits before it asks the world for something: it asks nothing once its lease has lapsed. */
import { expect } from 'chai';
import type { Effect } from '../../../src/engine/effects/effects.js';
import { Lab, type Life, leaseTtlMs } from '../lab.js';
import { workerKind } from '../worker.js';

describe('an effect that waits', () => {
  let lab: Lab;
  let life: Life;
  /** What was asked of the world. */
  let asked: string[];
  let goOn: () => void;

  beforeEach(async () => {
    lab = new Lab();
    asked = [];
    const work: Effect = {
      sentDeadlineMs: 60_000,
      run: async (call) => {
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        call.sent();
        asked.push(call.address);
        return 'gold';
      },
    };
    life = await lab.start([workerKind({ work })]);
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
  });

  const context = (): unknown => life.engine.peek('worker/a')?.context;
  const silence = (): (() => void) => {
    const releases = (['renewLease', 'acquireLease'] as const).map((method) => life.store.hold(method));
    return () => {
      for (const release of releases) release();
    };
  };

  it('the lease is held when it asks: it does', async () => {
    await lab.clock.advance(10 * leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal(['worker/a']);
    expect(context()).to.deep.include({ results: ['gold'] });
  });

  it('the lease has lapsed when it would ask: it asks nothing, and its machine hears LEASE_LAPSED', async () => {
    const speak = silence();
    await lab.clock.advance(leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal([]);
    speak();
    await lab.clock.advance(leaseTtlMs);
    expect(context()).to.have.nested.property('results[0].code', 'LEASE_LAPSED');
  });

  it('the lease had lapsed and is held again: it asks', async () => {
    const speak = silence();
    await lab.clock.advance(leaseTtlMs + 1_000);
    speak();
    await lab.clock.advance(leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal(['worker/a']);
  });
});
