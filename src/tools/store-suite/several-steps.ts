/** Commits of several steps: each step has its own seq and journal entry, and the record is that of the last one. */

import assert from 'node:assert/strict';
import type { TestRunner } from './runner.js';
import {
  assertHas,
  commitOf,
  commitOne,
  commitTimes,
  conflictWithA,
  done,
  failureOf,
  journalSeqs,
  owed,
  type Subject,
} from './subject.js';

export function severalStepsSection({ describe, it, beforeEach }: TestRunner, subject: Subject): void {
  describe('commit of several steps', () => {
    const threeSteps = () => commitOne(subject, commitOf('a', 2, { seq: 5, journalBefore: ['j3', 'j4'], outbox: 'o' }));
    const entries = (...seqs: number[]) => seqs.map((seq) => ({ seq, text: `j${seq}` }));

    beforeEach(() => commitTimes(subject, 'a', 2));

    it('each entry has its seq, also after a reopen', async () => {
      assert.deepEqual(await threeSteps(), done);
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(1, 2, 3, 4, 5));
      await subject.reopen();
      assert.deepEqual(await subject.store.readJournal('a', 4, 10), entries(4, 5));
      await subject.store.trimJournal('a', 4);
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(4, 5));
    });

    it('the record has the last seq, and what it owes is owed under that', async () => {
      await threeSteps();
      assertHas(await subject.store.load('a'), { seq: 5, text: 't5', commitId: 'a@5' });
      assert.deepEqual(await owed(subject), ['a 5 o']);
    });

    it('the same one again is done and writes nothing twice', async () => {
      await threeSteps();
      assert.deepEqual(await threeSteps(), done);
      await subject.reopen();
      assert.deepEqual(await threeSteps(), done);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 3, 4, 5]);
      assert.deepEqual(await owed(subject), ['a 5 o']);
    });

    it('refused, none of its entries is written', async () => {
      await commitOne(subject, commitOf('a', 2, { text: 'other' }));
      assert.deepEqual(await threeSteps(), conflictWithA(3));
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 3]);
      assert.deepEqual(await owed(subject), []);
    });

    it('others in the same call go before it and after it', async () => {
      const items = [
        commitOf('a', 2),
        commitOf('b', 0, { seq: 2, journalBefore: ['j1'] }),
        commitOf('a', 3, { seq: 5, journalBefore: ['j4'] }),
        commitOf('a', 5),
      ];
      assert.deepEqual(await subject.store.commit(items), [done, done, done, done]);
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(1, 2, 3, 4, 5, 6));
      assert.deepEqual(await subject.store.readJournal('b', 0, 10), entries(1, 2));
    });

    it('after lost commits its entries end at its seq', async () => {
      await commitOne(subject, commitOf('a', 2, { seq: 9, journalBefore: ['j8'] }));
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(1, 2, 8, 9));
    });

    for (const [name, journalBefore] of Object.entries({
      'more entries than steps': ['j1', 'j2', 'j3'],
      'an entry that is no text': JSON.parse('[3]'),
    }))
      it(`with ${name} is a TypeError, and nothing of its call is written`, async () => {
        const call = subject.store.commit([commitOf('b', 0), commitOf('a', 2, { seq: 5, journalBefore })]);
        assert.ok((await failureOf(call)) instanceof TypeError);
        assert.equal(await subject.store.load('b'), undefined);
        assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
      });
  });
}
