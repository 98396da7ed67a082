/** Leases: one holder at a time, epochs that only rise, and the epoch since which the holder is the same. */

import assert from 'node:assert/strict';
import type { Lease, LeaseAsked } from '../../engine/store.js';
import { assertHas, type StoreSubject, type TestRunner } from './subject.js';

export function leaseSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  const ask = (owner: string, more: Partial<LeaseAsked> = {}) =>
    subject.store.acquireLease({
      name: 'node/n1',
      owner,
      ttlMs: subject.leaseTtlMs,
      holder: `agent ${owner}`,
      ...more,
    });

  const grant = async (owner: string, more?: Partial<LeaseAsked>): Promise<{ lease: Lease; since: number }> => {
    const result = await ask(owner, more);
    if (result.status === 'granted') return result;
    throw new Error(`not granted: ${JSON.stringify(result)}`);
  };

  const acquire = async (owner: string, more?: Partial<LeaseAsked>): Promise<Lease> => (await grant(owner, more)).lease;
  const since = async (owner: string, more?: Partial<LeaseAsked>): Promise<number> => (await grant(owner, more)).since;
  const renews = (lease: Lease) => subject.store.renewLease(lease);
  const giveBack = (lease: Lease) => subject.store.releaseLease(lease);
  const lapse = () => subject.elapse(subject.leaseTtlMs);

  describe('lease', () => {
    it('a free one is granted at epoch 1, as asked for', async () => {
      assert.deepEqual(await ask('a'), {
        status: 'granted',
        lease: { name: 'node/n1', epoch: 1, owner: 'a', ttlMs: subject.leaseTtlMs },
        since: 1,
      });
    });

    it('one that another holds is refused, and the holder named, with its epoch', async () => {
      await acquire('a');
      await acquire('a');
      assert.deepEqual(await ask('b'), { status: 'held', holder: 'agent a', epoch: 2 });
    });

    it('two who ask at once: one is granted, the other is told who', async () => {
      const results = await Promise.all([ask('a'), ask('b')]);
      assert.deepEqual(results.map(({ status }) => status).sort(), ['granted', 'held']);
    });

    it('those of other names are free, each with epochs of its own', async () => {
      await acquire('a');
      assertHas(await acquire('b', { name: 'node/n2' }), { epoch: 1 });
      assertHas(await acquire('b', { name: 'node/n' }), { epoch: 1 });
    });

    it('a holder who asks again gets a new epoch, and loses the old one', async () => {
      const first = await acquire('a');
      const second = await acquire('a');
      assert.equal(second.epoch, 2);
      assert.equal(await renews(first), false);
      await giveBack(first);
      assert.equal(await renews(second), true);
      assertHas(await ask('b'), { status: 'held' });
    });

    it('one that was never granted is not renewed', async () => {
      const lease = await acquire('a');
      assert.equal(await renews(lease), true);
      assert.equal(await renews({ ...lease, owner: 'b' }), false);
      assert.equal(await renews({ ...lease, epoch: 2 }), false);
      assert.equal(await renews({ ...lease, name: 'node/n2' }), false);
    });

    it('one given back is free at once, at a higher epoch, and is not renewed', async () => {
      const lease = await acquire('a');
      await giveBack(lease);
      assert.equal(await renews(lease), false);
      assertHas(await acquire('b'), { epoch: 2 });
    });

    it('one given back twice, or late, or by a stranger, is not taken from its holder', async () => {
      const lease = await acquire('a');
      await giveBack(lease);
      const next = await acquire('b');
      await giveBack(lease);
      await giveBack({ ...next, owner: 'a' });
      assert.equal(await renews(next), true);
      assertHas(await ask('a'), { status: 'held' });
    });

    it('its holder finds, as it renews, that another was refused and wants it, until that has it', async () => {
      const lease = await acquire('a');
      await ask('b');
      assert.equal(await renews(lease), true);
      await ask('b', { wants: true });
      assert.equal(await renews(lease), 'wanted');
      assert.equal(await renews({ ...lease, owner: 'b' }), false);
      await giveBack(lease);
      const next = await grant('b');
      assert.equal('wanted' in next, false);
      assert.equal(await renews(next.lease), true);
    });

    it('whoever is granted it while another wants it hears so', async () => {
      const lease = await acquire('a');
      await ask('b', { wants: true });
      await giveBack(lease);
      assertHas(await ask('c'), { status: 'granted', wanted: true });
    });

    it('one that was never granted is given back, then nothing changes', async () => {
      await giveBack({ name: 'node/n1', epoch: 5, owner: 'a', ttlMs: 1_000 });
      assertHas(await grant('a'), { since: 1 });
      assert.equal((await acquire('a')).epoch, 2);
    });

    it('epochs go on over a reopen', async () => {
      await acquire('a');
      await giveBack(await acquire('a'));
      await subject.reopen();
      assertHas(await acquire('a'), { epoch: 3 });
    });
  });

  describe('lease, as time passes', () => {
    it('it is held and renewed within its term', async () => {
      const lease = await acquire('a');
      await subject.elapse(subject.leaseTtlMs / 2);
      assertHas(await ask('b'), { status: 'held' });
      assert.equal(await renews(lease), true);
    });

    it('once renewed, it is held for its term from then on', async () => {
      const lease = await acquire('a');
      await subject.elapse(subject.leaseTtlMs * 0.6);
      await renews(lease);
      await subject.elapse(subject.leaseTtlMs * 0.6);
      assertHas(await ask('b'), { status: 'held' });
    });

    it('one that lapsed may be taken at a higher epoch, and its former holder lost it', async () => {
      const lease = await acquire('a');
      await lapse();
      const next = await acquire('b');
      assert.equal(next.epoch, 2);
      assert.equal(await renews(lease), false);
      await giveBack(lease);
      assert.equal(await renews(next), true);
    });

    it('one that lapsed and that nobody took is lost as well', async () => {
      const lease = await acquire('a');
      await lapse();
      assert.equal(await renews(lease), false);
      assertHas(await acquire('a'), { epoch: 2 });
    });

    it('one that was not renewed for half of its term is held in silence', async () => {
      await acquire('a');
      await subject.elapse(subject.leaseTtlMs * 0.7);
      assert.deepEqual(await ask('b'), { status: 'held', holder: 'agent a', epoch: 1, isSilent: true });
    });

    it('a wish of one who was refused is gone after its term', async () => {
      const lease = await acquire('a', { ttlMs: 60_000 });
      await ask('b', { wants: true });
      await lapse();
      assert.equal(await renews(lease), true);
    });

    it('a term is that of its own lease', async () => {
      await acquire('a', { name: 'node/n2', ttlMs: 60_000 });
      await acquire('a');
      await lapse();
      assertHas(await ask('b', { name: 'node/n2' }), { status: 'held' });
      assertHas(await ask('b'), { status: 'granted' });
    });
  });

  describe('lease asked for above an epoch', () => {
    it('the new epoch is higher than that one, and later ones go on from there, also after a reopen', async () => {
      const lease = await acquire('a', { above: 41 });
      assert.equal(lease.epoch, 42);
      assert.equal(await renews(lease), true);
      await giveBack(lease);
      assertHas(await acquire('b'), { epoch: 43 });
      await subject.reopen();
      await lapse();
      assertHas(await acquire('c'), { epoch: 44 });
    });

    it('an epoch that the store has given, or passed, changes nothing', async () => {
      for (const [above, epoch] of [
        [0, 1],
        [1, 2],
        [1, 3],
        [2, 4],
      ] as const) {
        assertHas(await acquire('a', { above }), { epoch });
      }
    });

    it('one that another holds is refused, and its epochs stay', async () => {
      const lease = await acquire('a');
      assertHas(await ask('b', { above: 41 }), { status: 'held' });
      assert.equal(await renews(lease), true);
      assertHas(await acquire('a'), { epoch: 2 });
    });

    it('epochs are compared as numbers: 9 is not above 10', async () => {
      await acquire('a', { above: 9 });
      assertHas(await acquire('a', { above: 9 }), { epoch: 11 });
    });
  });

  describe('lease of which the requester has seen an epoch', () => {
    it('the store knows of it, or of a higher one: granted', async () => {
      await giveBack(await acquire('a', { above: 6 }));
      assertHas(await acquire('b', { seen: 7 }), { epoch: 8 });
      assertHas(await acquire('b', { seen: 3 }), { epoch: 9 });
    });

    it('the store knows of none as high: refused to everybody, and nothing is kept', async () => {
      await giveBack(await acquire('a'));
      for (const owner of ['a', 'b', 'b']) assert.deepEqual(await ask(owner, { seen: 2 }), { status: 'forgotten' });
      assertHas(await acquire('c'), { epoch: 2 });
    });

    it('another holds it at a lower epoch: refused as held', async () => {
      await acquire('a');
      assertHas(await ask('b', { seen: 2 }), { status: 'held', epoch: 1 });
    });

    it('one that was never granted: refused, but not above that epoch', async () => {
      assert.deepEqual(await ask('a', { seen: 5 }), { status: 'forgotten' });
      assertHas(await acquire('a', { above: 5 }), { epoch: 6 });
    });
  });

  describe('lease, and the level that its requester reads', () => {
    const reads = (level: number) => ({ reads: { level, version: `0.${level}.0` } });

    it('granted to a level: nobody who reads less is granted it, also after a reopen', async () => {
      await giveBack(await acquire('a', reads(2)));
      assert.deepEqual(await ask('b', reads(1)), { status: 'too-old', level: 2, version: '0.2.0' });
      await subject.reopen();
      assert.deepEqual(await ask('b', reads(1)), { status: 'too-old', level: 2, version: '0.2.0' });
      assertHas(await acquire('b', reads(2)), { epoch: 2 });
    });

    it('its holder reads more: the level rises, and stays', async () => {
      await giveBack(await acquire('a', reads(1)));
      await giveBack(await acquire('a', reads(3)));
      assertHas(await ask('a', reads(2)), { status: 'too-old', level: 3 });
    });

    it('a requester that says no level is not compared, and keeps the level', async () => {
      await giveBack(await acquire('a', reads(2)));
      await giveBack(await acquire('b'));
      assertHas(await ask('c', reads(1)), { status: 'too-old', level: 2 });
    });

    it('one who reads less is refused while another holds it: told so, beside the holder', async () => {
      await acquire('a', reads(2));
      const newer = { level: 2, version: '0.2.0' };
      assert.deepEqual(await ask('b', reads(1)), { status: 'held', holder: 'agent a', epoch: 1, newer });
      assert.deepEqual(await ask('b', reads(2)), { status: 'held', holder: 'agent a', epoch: 1 });
    });

    it('those of other names have levels of their own', async () => {
      await giveBack(await acquire('a', reads(2)));
      assertHas(await ask('b', { ...reads(1), name: 'node/n2' }), { status: 'granted' });
    });

    it('one who reads less stands by: it comes first, and others later', async () => {
      const lease = await acquire('a', reads(1));
      for (const level of [2, 1, 2, 3]) await ask(`b${level}`, { ...reads(level), standsBy: true });
      await giveBack(lease);
      assert.deepEqual(await ask('b2', reads(2)), { status: 'later', level: 1 });
      assertHas(await ask('b1', reads(1)), { status: 'granted' });
    });

    it('one who reads less does not stand by, or can not read what is stored: nobody waits for it', async () => {
      const lease = await acquire('a', reads(2));
      await ask('b', { ...reads(1), standsBy: true });
      await ask('c', reads(2));
      await giveBack(lease);
      assertHas(await ask('d', reads(3)), { status: 'granted' });
    });

    it('one who stood by is gone: nobody waits for it after its term', async () => {
      const lease = await acquire('a', { ...reads(1), ttlMs: 60_000 });
      await ask('b', { ...reads(1), standsBy: true });
      await giveBack(lease);
      assertHas(await ask('c', reads(2)), { status: 'later' });
      await lapse();
      assertHas(await ask('c', reads(2)), { status: 'granted' });
    });

    it('one who reads more wants it: its holder does not hear of that', async () => {
      const lease = await acquire('a', reads(1));
      await ask('b', { ...reads(2), wants: true });
      assert.equal(await renews(lease), true);
      await ask('c', { ...reads(1), wants: true });
      assert.equal(await renews(lease), 'wanted');
    });
  });

  describe('lease, since when nobody else was granted it', () => {
    it('one that nobody ever held: since now', async () => {
      assert.equal(await since('a'), 1);
    });

    it('its holder asks again, while it is held, lapsed, given back, and after a reopen: since the first time', async () => {
      const lease = await acquire('a');
      assert.equal(await since('a'), 1);
      await lapse();
      assert.equal(await since('a'), 1);
      await giveBack({ ...lease, epoch: 3 });
      assert.equal(await since('a'), 1);
      await subject.reopen();
      assert.equal(await since('a'), 1);
    });

    it('another held it in between: since it is this one’s again', async () => {
      await giveBack(await acquire('a'));
      assert.equal(await since('b'), 2);
      await lapse();
      assert.equal(await since('a'), 3);
      assert.equal(await since('a'), 3);
      assert.equal(await since('a', { name: 'node/n2' }), 1);
    });

    it('who was refused meanwhile plays no part', async () => {
      await acquire('a');
      await ask('b');
      await lapse();
      assert.equal(await since('a'), 1);
    });
  });
}
