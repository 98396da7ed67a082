/** Commits whose seq is not the next one: above it, as where a store has lost commits, or the last of several steps. */

import assert from 'node:assert/strict';
import {
  assertHas,
  commitOne,
  commitTimes,
  conflictWithA,
  done,
  journalSeqs,
  listed,
  owed,
  plainCommit,
  rejectionOf,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function seqJumpSection({ describe, it, beforeEach }: TestRunner, subject: StoreSubject): void {
  describe('commit that becomes a higher seq than the next', () => {
    const jump = () => commitOne(subject, plainCommit('a', 2, { seq: 7, outbox: 'o' }));

    beforeEach(() => commitTimes(subject, 'a', 2));

    it('it is done, and the record has that seq, also after a reopen', async () => {
      assert.deepEqual(await jump(), done);
      assertHas(await subject.store.load('a'), { seq: 7, text: 't7', commitId: 'a@7' });
      await subject.reopen();
      assertHas(await subject.store.load('a'), { seq: 7, text: 't7', commitId: 'a@7' });
    });

    it('the journal has a gap, and is read and trimmed from within it', async () => {
      await jump();
      assert.deepEqual(await subject.store.readJournal('a', 2, 10), [
        { seq: 2, text: 'j2' },
        { seq: 7, text: 'j7' },
      ]);
      assert.deepEqual(await journalSeqs(subject, 'a', 1, 2), [1, 2]);
      assert.deepEqual(await journalSeqs(subject, 'a', 4), [7]);
      await subject.store.trimJournal('a', 4);
      assert.deepEqual(await journalSeqs(subject, 'a'), [7]);
      await subject.store.trimJournal('a', 8);
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
    });

    it('what it owes is owed and settled under that seq', async () => {
      await jump();
      assert.deepEqual(await owed(subject), ['a 7 o']);
      await subject.store.settle([{ address: 'a', seq: 3 }]);
      assert.deepEqual(await owed(subject), ['a 7 o']);
      await subject.store.settle([{ address: 'a', seq: 7 }]);
      assert.deepEqual(await owed(subject), []);
    });

    it('later commits go on from that seq, and none from within the gap', async () => {
      await jump();
      for (const expectedSeq of [2, 3, 6]) {
        const inGap = plainCommit('a', expectedSeq, { commitId: 'other' });
        assert.deepEqual(await commitOne(subject, inGap), conflictWithA(7));
      }
      assert.deepEqual(await commitOne(subject, plainCommit('a', 7)), done);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 7, 8]);
    });

    it('the same one again is done and writes nothing twice', async () => {
      await jump();
      assert.deepEqual(await jump(), done);
      await subject.reopen();
      assert.deepEqual(await jump(), done);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 7]);
      assert.deepEqual(await owed(subject), ['a 7 o']);
    });

    it('its commitId with another seq is no repeat', async () => {
      await jump();
      for (const seq of [3, 6, 8]) {
        const other = plainCommit('a', 2, { seq, commitId: 'a@7' });
        assert.deepEqual(await commitOne(subject, other), conflictWithA(7));
      }
    });

    it('on the wrong seq, or of an older epoch, it is refused as any other', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1, { seq: 9 })), conflictWithA(2));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 3, { seq: 9 })), conflictWithA(2));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { seq: 9, epoch: 0 })), conflictWithA(2));
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
    });

    it('an actor that the store has never seen may begin at any seq', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('b', 0, { seq: 1_000_000 })), done);
      assertHas(await subject.store.load('b'), { seq: 1_000_000 });
      assert.deepEqual(await journalSeqs(subject, 'b'), [1_000_000]);
    });

    it('several in one call build on each other', async () => {
      const items = [
        plainCommit('a', 2, { seq: 5 }),
        plainCommit('a', 5),
        plainCommit('a', 6, { seq: 10 }),
        plainCommit('a', 7),
      ];
      assert.deepEqual(await subject.store.commit(items), [done, done, done, conflictWithA(10)]);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 5, 6, 10]);
    });

    it('a tombstone with a jump, and an actor made anew with another, are kept so', async () => {
      await commitOne(subject, plainCommit('a', 2, { seq: 5, gone: true }));
      assertHas(await subject.store.load('a'), { seq: 5, gone: true });
      assert.deepEqual(await listed(subject), []);
      await commitOne(subject, plainCommit('a', 5, { seq: 12 }));
      assertHas(await subject.store.load('a'), { seq: 12, gone: false });
      assert.deepEqual(await listed(subject), ['a']);
    });

    it('the next seq named outright is no jump', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { seq: 3 })), done);
      assertHas(await subject.store.load('a'), { seq: 3 });
    });

    for (const seq of [2, 1, 0, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      it(`a seq of ${seq} on 2 is a TypeError, and nothing of its call is written`, async () => {
        const call = subject.store.commit([plainCommit('b', 0), plainCommit('a', 2, { seq })]);
        assert.ok((await rejectionOf(call)) instanceof TypeError);
        assert.equal(await subject.store.load('b'), undefined);
        assertHas(await subject.store.load('a'), { seq: 2 });
      });
    }
  });
}

/** Commits of several steps: each step has its own seq and journal entry, and the record is that of the last one. */
export function severalStepsSection({ describe, it, beforeEach }: TestRunner, subject: StoreSubject): void {
  describe('commit of several steps', () => {
    const threeSteps = () =>
      commitOne(subject, plainCommit('a', 2, { seq: 5, journalBefore: ['j3', 'j4'], outbox: 'o' }));
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
      await commitOne(subject, plainCommit('a', 2, { text: 'other' }));
      assert.deepEqual(await threeSteps(), conflictWithA(3));
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 3]);
      assert.deepEqual(await owed(subject), []);
    });

    it('others in the same call go before it and after it', async () => {
      const items = [
        plainCommit('a', 2),
        plainCommit('b', 0, { seq: 2, journalBefore: ['j1'] }),
        plainCommit('a', 3, { seq: 5, journalBefore: ['j4'] }),
        plainCommit('a', 5),
      ];
      assert.deepEqual(await subject.store.commit(items), [done, done, done, done]);
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(1, 2, 3, 4, 5, 6));
      assert.deepEqual(await subject.store.readJournal('b', 0, 10), entries(1, 2));
    });

    it('after lost commits its entries end at its seq', async () => {
      await commitOne(subject, plainCommit('a', 2, { seq: 9, journalBefore: ['j8'] }));
      assert.deepEqual(await subject.store.readJournal('a', 0, 10), entries(1, 2, 8, 9));
    });

    for (const [name, journalBefore] of Object.entries({
      'more entries than steps': ['j1', 'j2', 'j3'],
      'an entry that is no text': JSON.parse('[3]'),
    }))
      it(`with ${name} is a TypeError, and nothing of its call is written`, async () => {
        const call = subject.store.commit([plainCommit('b', 0), plainCommit('a', 2, { seq: 5, journalBefore })]);
        assert.ok((await rejectionOf(call)) instanceof TypeError);
        assert.equal(await subject.store.load('b'), undefined);
        assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
      });
  });
}
