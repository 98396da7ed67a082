/** Several commits in one call, and several calls at once. */

import assert from 'node:assert/strict';
import {
  assertHas,
  commitOne,
  conflictWithA,
  done,
  journalSeqs,
  listed,
  owed,
  plainCommit,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function batchSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('several commits in one call', () => {
    it('no items get no results', async () => {
      assert.deepEqual(await subject.store.commit([]), []);
    });

    it('one conflict harms no other item, and results come in the order given', async () => {
      await commitOne(subject, plainCommit('b', 0));
      const results = await subject.store.commit([plainCommit('a', 0), plainCommit('b', 7), plainCommit('c', 0)]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['done', 'conflict', 'done'],
      );
      for (const address of ['a', 'b', 'c']) assertHas(await subject.store.load(address), { seq: 1 });
    });

    it('several for one address apply in order', async () => {
      const items = [plainCommit('a', 0), plainCommit('a', 1), plainCommit('a', 3), plainCommit('a', 2)];
      assert.deepEqual(await subject.store.commit(items), [done, done, conflictWithA(2), done]);
      assertHas(await subject.store.load('a'), { seq: 3, text: 't3' });
    });

    it('a thousand, every third of which conflicts, are each answered in place', async () => {
      const addresses = Array.from({ length: 1_000 }, (_, i) => `actor/${String(i).padStart(4, '0')}`);
      const isWrong = (i: number) => i % 3 === 0;
      const results = await subject.store.commit(
        addresses.map((address, i) => plainCommit(address, isWrong(i) ? 5 : 0, { outbox: 'o' })),
      );
      assert.deepEqual(
        results,
        addresses.map((_, i) => (isWrong(i) ? { status: 'conflict' } : done)),
      );
      const written = addresses.filter((_, i) => !isWrong(i));
      assert.deepEqual(await listed(subject), written);
      assert.deepEqual(
        await owed(subject),
        written.map((address) => `${address} 1 o`),
      );
    });

    it('a thousand for one address apply in order', async () => {
      const results = await subject.store.commit(Array.from({ length: 1_000 }, (_, seq) => plainCommit('a', seq)));
      assert.deepEqual(results, Array(1_000).fill(done));
      assertHas(await subject.store.load('a'), { seq: 1_000, text: 't1000' });
      assert.equal((await journalSeqs(subject, 'a')).length, 1_000);
    });
  });

  describe('several calls at once', () => {
    it('for one address, they apply in the order made', async () => {
      const results = await Promise.all([0, 1, 2].map((seq) => commitOne(subject, plainCommit('a', seq))));
      assert.deepEqual(results, [done, done, done]);
    });

    it('on the same seq of one address, one is done and the others conflict with it', async () => {
      const rivals = ['x', 'y', 'z'].map((commitId) => plainCommit('a', 0, { commitId, journal: commitId }));
      const results = await Promise.all(rivals.map((commit) => commitOne(subject, commit)));
      const won = results.findIndex((result) => result?.status === 'done');
      const commitId = rivals[won]?.commitId;
      const lost = { status: 'conflict', stored: { seq: 1, epoch: 1, owner: 'owner-a', commitId } };
      assert.deepEqual(
        results,
        rivals.map((_, i) => (i === won ? done : lost)),
      );
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), [{ seq: 1, text: commitId }]);
    });

    it('for many addresses, each gets its own results', async () => {
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          subject.store.commit([plainCommit(`a/${i}`, 0), plainCommit(`a/${i}`, i % 2 === 0 ? 1 : 3)]),
        ),
      );
      for (const [i, [first, second]] of results.entries()) {
        assert.deepEqual(first, done);
        assertHas(second, { status: i % 2 === 0 ? 'done' : 'conflict' });
      }
    });

    it('a commit and a load made right after it: the load tells of before or after, whole', async () => {
      await commitOne(subject, plainCommit('a', 0));
      const [, record] = await Promise.all([commitOne(subject, plainCommit('a', 1)), subject.store.load('a')]);
      assertHas(record, record?.seq === 1 ? { commitId: 'a@1', text: 't1' } : { seq: 2, commitId: 'a@2', text: 't2' });
    });
  });
}
