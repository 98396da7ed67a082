/** Effects that prepare a request: after the lease has lapsed they send nothing. */
import { expect } from 'chai';
import type { Effect } from '../../../src/engine/effects/effects.js';
import { Lab, type Life, leaseTtlMs } from '../lab.js';
import { workerKind } from '../worker.js';

describe('an effect that prepares a request', () => {
  let lab: Lab;
  let life: Life;
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

  it('lease held at the request: sent', async () => {
    await lab.clock.advance(10 * leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal(['worker/a']);
    expect(context()).to.deep.include({ results: ['gold'] });
  });

  it('lease lapsed before the request: nothing sent, and the machine gets LEASE_LAPSED', async () => {
    const speak = silence();
    await lab.clock.advance(leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal([]);
    speak();
    await lab.clock.advance(leaseTtlMs);
    expect(context()).to.have.nested.property('results[0].code', 'LEASE_LAPSED');
  });

  it('lease lapsed and held again: sent', async () => {
    const speak = silence();
    await lab.clock.advance(leaseTtlMs + 1_000);
    speak();
    await lab.clock.advance(leaseTtlMs);
    goOn();
    await lab.rest();
    expect(asked).to.deep.equal(['worker/a']);
  });
});
