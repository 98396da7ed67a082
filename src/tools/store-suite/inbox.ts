/** Messages kept for an actor until a commit confirms that they were applied. */

import assert from 'node:assert/strict';
import type { TestRunner } from './runner.js';
import { awkwardTexts, commitOf, commitOne, done, inboxIds, type Subject } from './subject.js';

export function inboxSection({ describe, it }: TestRunner, subject: Subject): void {
  describe('inbox', () => {
    it('ids rise by one per address, over calls', async () => {
      assert.deepEqual(await subject.store.appendInbox('a', ['x', 'y']), [1, 2]);
      assert.deepEqual(await subject.store.appendInbox('ab', ['x']), [1]);
      assert.deepEqual(await subject.store.appendInbox('a', ['z']), [3]);
    });

    it('calls made at once get ids of their own, in the order made', async () => {
      const calls = await Promise.all(['x', 'y', 'z'].map((text) => subject.store.appendInbox('a', [text])));
      assert.deepEqual(calls, [[1], [2], [3]]);
      assert.deepEqual(
        (await subject.store.readInbox('a', 0, 10)).map(({ text }) => text),
        ['x', 'y', 'z'],
      );
    });

    it('no texts get no ids', async () => {
      assert.deepEqual(await subject.store.appendInbox('a', []), []);
      assert.deepEqual(await subject.store.appendInbox('a', ['x']), [1]);
    });

    it('the same text again is another message', async () => {
      assert.deepEqual(await subject.store.appendInbox('a', ['x', 'x']), [1, 2]);
      assert.deepEqual(await subject.store.readInbox('a', 0, 10), [
        { id: 1, text: 'x' },
        { id: 2, text: 'x' },
      ]);
    });

    it('texts of any kind come back as they were', async () => {
      await subject.store.appendInbox('a', awkwardTexts);
      await subject.reopen();
      assert.deepEqual(
        await subject.store.readInbox('a', 0, 100),
        awkwardTexts.map((text, i) => ({ id: i + 1, text })),
      );
    });

    it('reading begins after the given id and ends at the limit', async () => {
      await subject.store.appendInbox('a', ['x', 'y', 'z']);
      assert.deepEqual(await subject.store.readInbox('a', 1, 1), [{ id: 2, text: 'y' }]);
      assert.deepEqual(await inboxIds(subject, 'a', 3), []);
      assert.deepEqual(await subject.store.readInbox('a', 0, 0), []);
    });

    it('an address without messages has none', async () => {
      await subject.store.appendInbox('ab', ['x']);
      assert.deepEqual(await inboxIds(subject, 'a'), []);
    });

    it('a commit removes what it consumed, and that only', async () => {
      await subject.store.appendInbox('a', ['x', 'y', 'z']);
      await subject.store.appendInbox('b', ['x']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1, 3] }));
      assert.deepEqual(await inboxIds(subject, 'a'), [2]);
      assert.deepEqual(await inboxIds(subject, 'b'), [1]);
    });

    it('a refused commit removes nothing', async () => {
      await subject.store.appendInbox('a', ['x']);
      await commitOne(subject, commitOf('a', 5, { consumed: [1] }));
      assert.deepEqual(await inboxIds(subject, 'a'), [1]);
    });

    it('consuming again, or what was never there, or nothing, changes nothing', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1] }));
      assert.deepEqual(await commitOne(subject, commitOf('a', 1, { consumed: [1, 9] })), done);
      assert.deepEqual(await commitOne(subject, commitOf('a', 2, { consumed: [] })), done);
      assert.deepEqual(await inboxIds(subject, 'a'), [2]);
    });

    it('an id consumed before it was given still holds a message later', async () => {
      await commitOne(subject, commitOf('a', 0, { consumed: [1] }));
      assert.deepEqual(await subject.store.appendInbox('a', ['x']), [1]);
      assert.deepEqual(await inboxIds(subject, 'a'), [1]);
    });

    it('ids go on over a reopen, even when all was consumed', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1, 2] }));
      await subject.reopen();
      assert.deepEqual(await subject.store.appendInbox('a', ['z']), [3]);
      assert.deepEqual(await inboxIds(subject, 'a'), [3]);
    });

    it('more than a thousand are appended in one call, read by id, and consumed by one commit', async () => {
      const ids = Array.from({ length: 1_500 }, (_, i) => i + 1);
      assert.deepEqual(await subject.store.appendInbox('a', ids.map(String)), ids);
      assert.deepEqual(await inboxIds(subject, 'a'), ids);
      assert.deepEqual(await inboxIds(subject, 'a', 999), ids.slice(999));
      await commitOne(subject, commitOf('a', 0, { consumed: ids.slice(0, -1) }));
      assert.deepEqual(await inboxIds(subject, 'a'), [1_500]);
    });
  });
}
