/** A store comes back empty while one runtime leads and others stand by: the one that has the actors in memory goes on. */
import { expect } from 'chai';
import { LeaseKeeper } from '../../../src/engine/lease/lease-keeper.js';
import type { Lease } from '../../../src/engine/store.js';
import { memoryStore } from '../../../src/stores/memory/memory.js';
import { EmptiedStore } from '../../support/emptied-store.js';
import { note } from '../desk.js';
import { leaseTtlMs } from '../lab.js';
import { leads, notes, type Side, Sides } from '../sides.js';

const address = 'desk/shared/a';
/** Longest time until the holder of a lease renews it. */
const renewalMs = leaseTtlMs / 3;

describe('a store that comes back empty', () => {
  let sides: Sides;
  let data: EmptiedStore;

  const begin = async (): Promise<Record<'left' | 'right' | 'third', Side>> => {
    sides = new Sides();
    const { clock } = sides.lab;
    data = new EmptiedStore(() => memoryStore({ monotonicMs: () => clock.monotonicMs() }));
    await data.store.open();
    const through = () => data.store;
    const left = await sides.side('left', { through });
    const right = await sides.side('right', { through });
    const third = await sides.side('third', { through });
    await left.elected.ask(address, note('one'));
    return { left, right, third };
  };

  it('O2, 34.6 two stand by, emptied at any moment: the one that leads goes on, and writes all again', async () => {
    for (let moment = 0; moment < renewalMs; moment += 113) {
      const { left, right, third } = await begin();
      await sides.lab.clock.advance(moment);
      await data.empty();
      await sides.lab.clock.advance(3 * leaseTtlMs);
      const told = `emptied after ${moment} ms`;
      expect([left, right, third].map(leads), told).to.deep.equal([true, false, false]);
      expect([left.resigned, right.elections, third.elections], told).to.deep.equal([[], [], []]);
      expect((await right.elected.read(address))?.context, told).to.deep.include({ notes: ['one'] });
      await left.elected.ask(address, note('two'));
      expect(await notes(left, address), told).to.deep.equal(['one', 'two']);
    }
  });

  it('O2, 34.6 emptied a second time: given back again', async () => {
    const { left, right, third } = await begin();
    for (const text of ['two', 'three']) {
      await data.empty();
      await sides.lab.clock.advance(3 * leaseTtlMs);
      await left.elected.ask(address, note(text));
    }
    expect([left, right, third].map(({ elections }) => elections.length)).to.deep.equal([1, 0, 0]);
    expect(await notes(left, address)).to.deep.equal(['one', 'two', 'three']);
  });

  it('O2, 34.6 the one that led is gone: another leads after one lease time, at a higher epoch than ever', async () => {
    const { left, right, third } = await begin();
    for (const method of ['renewLease', 'acquireLease', 'commit'] as const) left.store.hold(method);
    await data.empty();
    await sides.lab.clock.advance(leaseTtlMs - 1_000);
    expect([right, third].map(leads)).to.deep.equal([false, false]);
    expect(right.elected.refusal?.message).to.include('the store has lost data').and.include('15 s');
    await sides.lab.clock.advance(2_000);
    expect([...right.elections, ...third.elections]).to.deep.equal([2]);
  });

  it('O2, 34.6 stopped while the lease is left to another: the stop ends, and no timer remains', async () => {
    const { left, right, third } = await begin();
    left.store.hold('acquireLease');
    await data.empty();
    await sides.lab.clock.advance(1_000);
    for (const one of [right, third]) await sides.stop(one);
    expect([right, third].map(({ elections }) => elections.length)).to.deep.equal([0, 0]);
  });

  describe('the holder finds that another has the lease', () => {
    const asked = { name: 'shared/1', ttlMs: leaseTtlMs, owner: 'old', holder: 'old' };
    let lost: number;
    let regained: number;
    let keeper: LeaseKeeper;
    /** Grants the lease to another, after the data was lost. */
    const grant = async (owner: string, above = 0): Promise<Lease> => {
      const result = await data.store.acquireLease({ ...asked, owner, holder: owner, above });
      if (result.status !== 'granted') throw new Error(`not granted: ${result.status}`);
      return result.lease;
    };

    beforeEach(async () => {
      await begin();
      await data.empty();
      [lost, regained] = [0, 0];
      const nothing = (): void => {};
      keeper = new LeaseKeeper(data.store, sides.lab.clock, {
        ...{ lapsed: nothing, forgotten: nothing, wanted: nothing },
        regained: () => {
          regained += 1;
        },
        lost: () => {
          lost += 1;
        },
      });
      await data.store.acquireLease({ ...asked, above: 6 });
      await keeper.acquire(asked);
      await data.empty();
    });

    it('O2, 34.6 at an epoch not above its own: it asks until that one has given it back', async () => {
      const other = await grant('other', 7);
      expect([other.epoch, keeper.lease.epoch]).to.deep.equal([8, 8]);
      await sides.lab.clock.advance(renewalMs + 5_000);
      expect([lost, regained]).to.deep.equal([0, 0]);
      await data.store.releaseLease(other);
      await sides.lab.clock.advance(2_000);
      expect([lost, regained]).to.deep.equal([0, 1]);
      expect(keeper.lease.epoch).to.equal(9);
    });

    it('O2, 34.6 at such an epoch for a whole lease time: that one works on it, and the lease is lost', async () => {
      const other = await grant('other');
      for (let past = 0; past < 3 * leaseTtlMs; past += 1_000) {
        await data.store.renewLease(other);
        await sides.lab.clock.advance(1_000);
      }
      expect([lost, regained]).to.deep.equal([1, 0]);
    });

    it('O2, 34.6 at a higher epoch: the lease is lost at once', async () => {
      await grant('other', 8);
      await sides.lab.clock.advance(renewalMs);
      expect([lost, regained]).to.deep.equal([1, 0]);
    });
  });
});
