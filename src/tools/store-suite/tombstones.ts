/** Tombstones: what is left of a deleted actor. */

import assert from 'node:assert/strict';
import {
  assertHas,
  commitOne,
  conflictWithA,
  done,
  dueBy,
  inboxIds,
  journalSeqs,
  listed,
  owed,
  plainCommit,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function tombstoneSection({ describe, it, beforeEach }: TestRunner, subject: StoreSubject): void {
  describe('tombstone', () => {
    const bury = (wakeAtMs?: number) =>
      commitOne(
        subject,
        plainCommit('a', 1, { gone: true, outbox: 'bye', ...(wakeAtMs === undefined ? {} : { wakeAtMs }) }),
      );

    beforeEach(async () => {
      await subject.store.appendInbox('a', ['x']);
      await subject.store.commit([plainCommit('a', 0, { wakeAtMs: 3, outbox: 'o' }), plainCommit('b', 0)]);
    });

    it('a deleted actor is listed no more', async () => {
      assert.deepEqual(await bury(), done);
      assert.deepEqual(await listed(subject), ['b']);
      await subject.reopen();
      assert.deepEqual(await listed(subject), ['b']);
    });

    it('a deleted actor is loaded whole, as gone', async () => {
      await bury();
      await subject.reopen();
      assert.deepEqual(await subject.store.load('a'), {
        address: 'a',
        seq: 2,
        epoch: 1,
        owner: 'owner-a',
        commitId: 'a@2',
        gone: true,
        text: 't2',
      });
    });

    it('a deleted actor that has nothing more to do is not due', async () => {
      await bury();
      assert.deepEqual(await dueBy(subject, 9), []);
    });

    it('a deleted actor with a wakeAtMs is loaded with it, and due then', async () => {
      await bury(5);
      await subject.reopen();
      assertHas(await subject.store.load('a'), { gone: true, wakeAtMs: 5 });
      assert.deepEqual(await dueBy(subject, 4), []);
      assert.deepEqual(await dueBy(subject, 5), ['a 5']);
      assert.deepEqual(await listed(subject), ['b']);
    });

    it('a tombstone is committed again without wakeAtMs, then it is due no more, and gone still', async () => {
      await bury(5);
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { gone: true })), done);
      assert.deepEqual(await dueBy(subject, 9), []);
      assertHas(await subject.store.load('a'), { seq: 3, gone: true });
      assert.deepEqual(await listed(subject), ['b']);
    });

    it('an actor made anew continues seq and journal, and is listed and due as it says then', async () => {
      await bury(5);
      assert.deepEqual(await commitOne(subject, plainCommit('a', 0, { commitId: 'anew' })), conflictWithA(2));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { wakeAtMs: 4 })), done);
      assertHas(await subject.store.load('a'), { seq: 3, gone: false });
      assert.deepEqual(await listed(subject), ['a', 'b']);
      assert.deepEqual(await dueBy(subject, 9), ['a 4']);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2, 3]);
    });

    it('an actor made anew that waits for nothing is due no more', async () => {
      await bury(5);
      await commitOne(subject, plainCommit('a', 2));
      assert.deepEqual(await dueBy(subject, 9), []);
    });

    it('the commit that deletes, repeated, is done', async () => {
      await bury(5);
      assert.deepEqual(await bury(5), done);
      assertHas(await subject.store.load('a'), { seq: 2, gone: true });
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
    });

    it('a deleted actor still owes what it owed, and keeps its messages and its journal', async () => {
      await bury();
      assert.deepEqual(await owed(subject), ['a 1 o', 'a 2 bye']);
      assert.deepEqual(await inboxIds(subject, 'a'), [1]);
      assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
    });

    it('an actor whose very first commit is a tombstone was never listed', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('c', 0, { gone: true, wakeAtMs: 7 })), done);
      assert.deepEqual(await listed(subject), ['a', 'b']);
      assert.deepEqual(await dueBy(subject, 9), ['a 3', 'c 7']);
    });

    it('an older owner can no more make it anew than change it', async () => {
      await commitOne(subject, plainCommit('a', 1, { gone: true, epoch: 2, owner: 'owner-b' }));
      const late = await commitOne(subject, plainCommit('a', 2));
      assert.deepEqual(late, conflictWithA(2, { epoch: 2, owner: 'owner-b' }));
    });
  });
}
