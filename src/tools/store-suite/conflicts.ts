/** Refused commits: on the wrong seq, or by an owner that has lost its right to write. */

import assert from 'node:assert/strict';
import type { TestRunner } from './runner.js';
import {
  assertHas,
  commitOf,
  commitOne,
  commitTimes,
  conflictWithA,
  done,
  dueBy,
  inboxIds,
  journalSeqs,
  owed,
  type Subject,
} from './subject.js';

export function conflictSection({ describe, it }: TestRunner, subject: Subject): void {
  describe('commit on the wrong seq', () => {
    it('an address that was never there, expected at 1, conflicts with nothing stored', async () => {
      assert.deepEqual(await commitOne(subject, commitOf('a', 1)), { status: 'conflict' });
      assert.equal(await subject.store.load('a'), undefined);
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
    });

    for (const expectedSeq of [0, 1, 3]) {
      it(`a record at seq 2, expected at ${expectedSeq}, conflicts with what is stored, and nothing changes`, async () => {
        await subject.store.appendInbox('a', ['x']);
        await commitTimes(subject, 'a', 2, { wakeAtMs: 4 });
        const more = { commitId: 'other', outbox: 'o', wakeAtMs: 1, gone: true, consumed: [1] };
        assert.deepEqual(await commitOne(subject, commitOf('a', expectedSeq, more)), conflictWithA(2));
        assertHas(await subject.store.load('a'), { seq: 2, text: 't2', gone: false, wakeAtMs: 4 });
        assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
        assert.deepEqual(await owed(subject), []);
        assert.deepEqual(await dueBy(subject, 9), ['a 4']);
        assert.deepEqual(await inboxIds(subject, 'a'), [1]);
      });
    }
  });

  describe('commit by another owner', () => {
    it('an older epoch is refused, whoever holds it', async () => {
      await commitOne(subject, commitOf('a', 0, { epoch: 2 }));
      for (const owner of ['owner-a', 'owner-b']) {
        const result = await commitOne(subject, commitOf('a', 1, { epoch: 1, owner }));
        assert.deepEqual(result, conflictWithA(1, { epoch: 2 }));
      }
    });

    it('epochs are compared as numbers: 10 is newer than 9', async () => {
      await commitOne(subject, commitOf('a', 0, { epoch: 9 }));
      assert.deepEqual(await commitOne(subject, commitOf('a', 1, { epoch: 10, owner: 'owner-b' })), done);
      const late = await commitOne(subject, commitOf('a', 2, { epoch: 9 }));
      assert.deepEqual(late, conflictWithA(2, { epoch: 10, owner: 'owner-b' }));
    });

    it('the same epoch of another owner is refused', async () => {
      await commitOne(subject, commitOf('a', 0));
      assert.deepEqual(await commitOne(subject, commitOf('a', 1, { owner: 'owner-b' })), conflictWithA(1));
    });

    it('a newer epoch of another owner goes through at the stored seq, and fences the one before', async () => {
      await commitOne(subject, commitOf('a', 0));
      assert.deepEqual(await commitOne(subject, commitOf('a', 1, { epoch: 2, owner: 'owner-b' })), done);
      assertHas(await subject.store.load('a'), { seq: 2, epoch: 2, owner: 'owner-b' });
      const late = await commitOne(subject, commitOf('a', 2));
      assert.deepEqual(late, conflictWithA(2, { epoch: 2, owner: 'owner-b' }));
    });

    it('a newer epoch on the wrong seq is refused', async () => {
      await commitTimes(subject, 'a', 2);
      const result = await commitOne(subject, commitOf('a', 1, { commitId: 'b', epoch: 2, owner: 'owner-b' }));
      assert.deepEqual(result, conflictWithA(2));
    });
  });
}
