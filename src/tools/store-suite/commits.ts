/** Accepted commits: their effects, and the effect of a repeat. */

import assert from 'node:assert/strict';
import {
  assertHas,
  awkwardTexts,
  commitOne,
  commitTimes,
  conflictWithA,
  done,
  dueBy,
  inboxIds,
  journalSeqs,
  owed,
  plainCommit,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function commitSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('commit', () => {
    it('the first one to an address becomes seq 1 and is loaded as written', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('a', 0, { wakeAtMs: 5 })), done);
      assert.deepEqual(await subject.store.load('a'), {
        address: 'a',
        seq: 1,
        epoch: 1,
        owner: 'owner-a',
        commitId: 'a@1',
        gone: false,
        wakeAtMs: 5,
        text: 't1',
      });
    });

    it('an address that was never committed to loads as undefined', async () => {
      assert.equal(await subject.store.load('a'), undefined);
    });

    it('one without wakeAtMs leaves a record that has no such key', async () => {
      await commitOne(subject, plainCommit('a', 0, { wakeAtMs: 5 }));
      await commitOne(subject, plainCommit('a', 1));
      assert.deepEqual(await subject.store.load('a'), {
        address: 'a',
        seq: 2,
        epoch: 1,
        owner: 'owner-a',
        commitId: 'a@2',
        gone: false,
        text: 't2',
      });
    });

    it('a wakeAtMs of 0, or a broken one, comes back as it was', async () => {
      await subject.store.commit([plainCommit('a', 0, { wakeAtMs: 0 }), plainCommit('b', 0, { wakeAtMs: 4.25 })]);
      assertHas(await subject.store.load('a'), { wakeAtMs: 0 });
      assertHas(await subject.store.load('b'), { wakeAtMs: 4.25 });
    });

    it('one on the stored seq replaces the record', async () => {
      await commitTimes(subject, 'a', 2);
      assertHas(await subject.store.load('a'), { seq: 2, text: 't2', commitId: 'a@2' });
    });

    it('addresses of which one begins with the other are kept apart', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      await commitTimes(subject, 'a/1', 1, { outbox: 'o' });
      assertHas(await subject.store.load('a'), { seq: 2 });
      assertHas(await subject.store.load('a/1'), { seq: 1 });
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
      assert.deepEqual(await journalSeqs(subject, 'a/1'), [1]);
    });

    it('texts of any kind come back as they were, from record, journal and outbox', async () => {
      await subject.store.commit(
        awkwardTexts.map((text, i) => plainCommit(`a/${i}`, 0, { text, journal: text, outbox: text })),
      );
      await subject.reopen();
      for (const [i, text] of awkwardTexts.entries()) {
        assertHas(await subject.store.load(`a/${i}`), { text });
        assert.deepEqual(await subject.store.readJournal(`a/${i}`, 1, 1), [{ seq: 1, text }]);
      }
      const { rows } = await subject.store.unsettled({ prefix: 'a/', limit: 100 });
      assert.deepEqual(
        rows.map((row) => row.text),
        awkwardTexts,
      );
    });

    it('everything committed is there after a reopen', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitTimes(subject, 'a', 3, { wakeAtMs: 7, outbox: 'o', consumed: [1] });
      const before = await subject.store.load('a');
      await subject.reopen();
      assert.deepEqual(await subject.store.load('a'), before);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 3]);
      assert.deepEqual(await owed(subject), ['a 1 o', 'a 2 o', 'a 3 o']);
      assert.deepEqual(await dueBy(subject, 7), ['a 7']);
      assert.deepEqual(await inboxIds(subject, 'a'), [2]);
    });
  });

  describe('commit repeated after a lost answer', () => {
    it('the same one again is done and writes nothing twice', async () => {
      const commit = plainCommit('a', 0, { outbox: 'o' });
      await commitOne(subject, commit);
      await subject.store.settle([{ address: 'a', seq: 1 }]);
      await subject.store.trimJournal('a', 2);
      assert.deepEqual(await commitOne(subject, commit), done);
      assertHas(await subject.store.load('a'), { seq: 1 });
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
      assert.deepEqual(await owed(subject), []);
    });

    it('the same one again is done after a reopen', async () => {
      await commitTimes(subject, 'a', 2);
      await subject.reopen();
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1)), done);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
    });

    it('the same one twice in one call is done twice and written once', async () => {
      assert.deepEqual(await subject.store.commit([plainCommit('a', 0), plainCommit('a', 0)]), [done, done]);
      assertHas(await subject.store.load('a'), { seq: 1 });
      assert.deepEqual(await journalSeqs(subject, 'a'), [1]);
    });

    it('the same one in two calls at once is done twice and written once', async () => {
      const results = await Promise.all([
        commitOne(subject, plainCommit('a', 0)),
        commitOne(subject, plainCommit('a', 0)),
      ]);
      assert.deepEqual(results, [done, done]);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1]);
    });

    it('an older one again, after a newer one, conflicts with the newer one', async () => {
      await commitTimes(subject, 'a', 3);
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1)), conflictWithA(3));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 0)), conflictWithA(3));
    });

    it('the stored commitId on another seq is no repeat', async () => {
      await commitTimes(subject, 'a', 2);
      assert.deepEqual(await commitOne(subject, plainCommit('a', 0, { commitId: 'a@2' })), conflictWithA(2));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { commitId: 'a@2' })), done);
      assertHas(await subject.store.load('a'), { seq: 3 });
    });
  });
}
