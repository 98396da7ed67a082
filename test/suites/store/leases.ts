/** Leases: one holder at a time, epochs that rise for ever. */

import { expect } from 'chai';
import type { Lease } from '../../../src/engine/store.js';
import { failureOf, type Subject } from './subject.js';

export function leaseSection(subject: Subject): void {
  const ask = (owner: string, name = 'node/n1') =>
    subject.store.acquireLease({ name, owner, ttlMs: 1_000, holder: `agent ${owner}` });

  const acquire = async (owner: string, name?: string): Promise<Lease> => {
    const result = await ask(owner, name);
    if (result.status === 'granted') return result.lease;
    throw new Error(`held by ${result.holder}`);
  };

  describe('lease', () => {
    it('a free lease is granted at epoch 1, as asked for', async () => {
      expect(await ask('a')).to.deep.equal({
        status: 'granted',
        lease: { name: 'node/n1', epoch: 1, owner: 'a', ttlMs: 1_000 },
      });
    });

    it('a lease that another holds is refused, and the holder named', async () => {
      await acquire('a');
      expect(await ask('b')).to.deep.equal({ status: 'held', holder: 'agent a' });
    });

    it('two who ask at once: one is granted, the other is told who', async () => {
      const results = await Promise.all([ask('a'), ask('b')]);
      expect(results.map((result) => result.status).sort()).to.deep.equal(['granted', 'held']);
    });

    it('leases of other names are free, each with epochs of its own', async () => {
      await acquire('a');
      expect(await acquire('b', 'node/n2')).to.include({ epoch: 1 });
    });

    it('a holder who asks again gets a new epoch, and loses the old one', async () => {
      const first = await acquire('a');
      const second = await acquire('a');
      expect(second.epoch).to.equal(2);
      expect(await subject.store.renewLease(first)).to.equal(false);
      expect(await subject.store.renewLease(second)).to.equal(true);
    });

    it('a live lease is renewed', async () => {
      expect(await subject.store.renewLease(await acquire('a'))).to.equal(true);
    });

    it('a lease that was never granted is not renewed', async () => {
      const lease = await acquire('a');
      expect(await subject.store.renewLease({ ...lease, owner: 'b' })).to.equal(false);
      expect(await subject.store.renewLease({ ...lease, epoch: 2 })).to.equal(false);
      expect(await subject.store.renewLease({ ...lease, name: 'node/n2' })).to.equal(false);
    });

    it('a released lease is free at once, at a higher epoch, and is not renewed', async () => {
      const lease = await acquire('a');
      await subject.store.releaseLease(lease);
      expect(await subject.store.renewLease(lease)).to.equal(false);
      expect(await acquire('b')).to.include({ epoch: 2 });
    });

    it('a lease released twice, or late, does not take it from its next holder', async () => {
      const lease = await acquire('a');
      await subject.store.releaseLease(lease);
      const next = await acquire('b');
      await subject.store.releaseLease(lease);
      expect(await subject.store.renewLease(next)).to.equal(true);
      expect(await ask('a')).to.include({ status: 'held' });
    });

    it('epochs go on over a reopen', async () => {
      await acquire('a');
      await subject.store.releaseLease(await acquire('a'));
      await subject.reopen();
      expect(await acquire('a')).to.include({ epoch: 3 });
    });

    it('a name that no store could keep is refused', async () => {
      expect(await failureOf(ask('a', ''))).to.be.instanceOf(TypeError);
    });
  });

  describe('lease, as time passes', () => {
    it('a lease is held until the last millisecond of its term', async () => {
      const lease = await acquire('a');
      subject.elapse(999);
      expect(await ask('b')).to.include({ status: 'held' });
      expect(await subject.store.renewLease(lease)).to.equal(true);
    });

    it('a renewed lease is held for its term from then on', async () => {
      const lease = await acquire('a');
      subject.elapse(600);
      await subject.store.renewLease(lease);
      subject.elapse(600);
      expect(await ask('b')).to.include({ status: 'held' });
    });

    it('a lapsed lease may be taken at a higher epoch, and its former holder lost it', async () => {
      const lease = await acquire('a');
      subject.elapse(1_000);
      const next = await acquire('b');
      expect(next.epoch).to.equal(2);
      expect(await subject.store.renewLease(lease)).to.equal(false);
      await subject.store.releaseLease(lease);
      expect(await subject.store.renewLease(next)).to.equal(true);
    });

    it('a lapsed lease that nobody took is lost as well', async () => {
      const lease = await acquire('a');
      subject.elapse(1_000);
      expect(await subject.store.renewLease(lease)).to.equal(false);
      expect(await acquire('a')).to.include({ epoch: 2 });
    });
  });
}
