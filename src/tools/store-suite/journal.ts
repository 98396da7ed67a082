/** The journal: one entry per commit. */

import assert from 'node:assert/strict';
import { commitTimes, journalSeqs, plainCommit, type StoreSubject, type TestRunner } from './subject.js';

export function journalSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('journal', () => {
    it('each commit leaves one entry, under its seq and in order', async () => {
      await commitTimes(subject, 'a', 12);
      await commitTimes(subject, 'ab', 1);
      const rows = await subject.store.readJournal('a', 1, 100);
      assert.deepEqual(
        rows,
        Array.from({ length: 12 }, (_, i) => ({ seq: i + 1, text: `j${i + 1}` })),
      );
    });

    it('a range begins at its seq and ends at its limit', async () => {
      await commitTimes(subject, 'a', 5);
      assert.deepEqual(await journalSeqs(subject, 'a', 3), [3, 4, 5]);
      assert.deepEqual(await journalSeqs(subject, 'a', 2, 2), [2, 3]);
      assert.deepEqual(await journalSeqs(subject, 'a', 6), []);
      assert.deepEqual(await journalSeqs(subject, 'a', 0, 0), []);
    });

    it('an actor that never committed has no entries', async () => {
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
    });

    it('a trim forgets what is below its seq, of this actor only', async () => {
      await commitTimes(subject, 'a', 12);
      await commitTimes(subject, 'ab', 2);
      await subject.store.trimJournal('a', 10);
      await subject.reopen();
      assert.deepEqual(await journalSeqs(subject, 'a'), [10, 11, 12]);
      assert.deepEqual(await journalSeqs(subject, 'ab'), [1, 2]);
    });

    it('after a trim, a range begins with the first entry still kept and holds its limit', async () => {
      await commitTimes(subject, 'a', 9);
      await subject.store.trimJournal('a', 4);
      assert.deepEqual(await journalSeqs(subject, 'a', 1, 3), [4, 5, 6]);
      assert.deepEqual(await journalSeqs(subject, 'a', 5, 2), [5, 6]);
    });

    it('a trim of all leaves room for the next seq', async () => {
      await commitTimes(subject, 'a', 2);
      await subject.store.trimJournal('a', 100);
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
      await subject.store.commit([plainCommit('a', 2), plainCommit('a', 3)]);
      assert.deepEqual(await journalSeqs(subject, 'a'), [3, 4]);
    });

    it('a trim of what is trimmed, or of nothing, changes nothing', async () => {
      await commitTimes(subject, 'a', 3);
      await subject.store.trimJournal('a', 3);
      await subject.store.trimJournal('a', 2);
      await subject.store.trimJournal('nobody', 2);
      assert.deepEqual(await journalSeqs(subject, 'a'), [3]);
    });

    it('a trim of thousands forgets them all', async () => {
      await commitTimes(subject, 'a', 2_500);
      assert.equal((await journalSeqs(subject, 'a')).length, 2_500);
      await subject.store.trimJournal('a', 2_500);
      assert.deepEqual(await journalSeqs(subject, 'a'), [2_500]);
    });
  });
}
