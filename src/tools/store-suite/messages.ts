/** Outbox: what commits owe until it is settled. Inbox: messages that a store keeps until a commit has applied them. */

import assert from 'node:assert/strict';
import {
  allPages,
  awkwardTexts,
  commitOne,
  commitTimes,
  done,
  inboxIds,
  owed,
  plainCommit,
  rangeOf,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function outboxSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('outbox', () => {
    it('what commits owe is listed by address and seq until it is settled', async () => {
      await commitTimes(subject, 'b', 2, { outbox: 'o' });
      await commitTimes(subject, 'a', 11, { outbox: 'o' });
      const ofA = Array.from({ length: 11 }, (_, i) => `a ${i + 1} o`);
      assert.deepEqual(await owed(subject), [...ofA, 'b 1 o', 'b 2 o']);
      await subject.store.settle([
        { address: 'a', seq: 2 },
        { address: 'b', seq: 1 },
      ]);
      assert.deepEqual(await owed(subject), [...ofA.filter((row) => row !== 'a 2 o'), 'b 2 o']);
    });

    it('the rows are address, seq and text, and the last page names no next one', async () => {
      await commitTimes(subject, 'a', 1, { outbox: 'o' });
      const page = await subject.store.unsettled({ prefix: '', limit: 10 });
      assert.deepEqual(page, { rows: [{ address: 'a', seq: 1, text: 'o' }] });
    });

    it('a commit without outbox owes nothing; one with an empty text owes that', async () => {
      await subject.store.commit([plainCommit('a', 0), plainCommit('a', 1, { outbox: '' }), plainCommit('a', 2)]);
      assert.deepEqual(await owed(subject), ['a 2 ']);
    });

    it('addresses are ordered by code point, as UTF-8 bytes are', async () => {
      const ordered = ['A', 'a', 'é', '！', '😀'];
      await subject.store.commit([...ordered].reverse().map((address) => plainCommit(address, 0, { outbox: 'o' })));
      assert.deepEqual(
        await owed(subject),
        ordered.map((address) => `${address} 1 o`),
      );
    });

    it('a prefix gives what begins with it', async () => {
      await subject.store.commit(
        ['a', 'a/1', 'a/2', 'a0', 'b'].map((address) => plainCommit(address, 0, { outbox: 'o' })),
      );
      assert.deepEqual(await owed(subject, 'a/'), ['a/1 1 o', 'a/2 1 o']);
    });

    it('a page that takes all there is names no next one, nor one that only neighbours of the prefix follow', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      await commitTimes(subject, 'b', 1, { outbox: 'o' });
      assert.equal((await subject.store.unsettled({ prefix: 'a', limit: 2 })).next, undefined);
      assert.equal((await subject.store.unsettled({ prefix: '', limit: 3 })).next, undefined);
    });

    it('rows settled between two pages do not disturb the next page', async () => {
      await commitTimes(subject, 'a', 4, { outbox: 'o' });
      const first = await subject.store.unsettled({ prefix: '', limit: 2 });
      await subject.store.settle(first.rows);
      const second = await subject.store.unsettled(rangeOf('', first.next));
      assert.deepEqual(
        second.rows.map((row) => row.seq),
        [3, 4],
      );
    });

    it('settling again, or what was never owed, or nothing, changes nothing', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      const row = { address: 'a', seq: 1 };
      await subject.store.settle([row, row]);
      await subject.store.settle([row, { address: 'nobody', seq: 4 }]);
      await subject.store.settle([]);
      assert.deepEqual(await owed(subject), ['a 2 o']);
    });

    it('what is owed, and what is settled, stays so over a reopen', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      await subject.store.settle([{ address: 'a', seq: 1 }]);
      await subject.reopen();
      assert.deepEqual(await owed(subject), ['a 2 o']);
    });

    it('a commit of which all was settled may be followed by another that owes', async () => {
      await commitTimes(subject, 'a', 1, { outbox: 'o' });
      await subject.store.settle([{ address: 'a', seq: 1 }]);
      await subject.store.commit([plainCommit('a', 1, { outbox: 'p' })]);
      assert.deepEqual(await owed(subject), ['a 2 p']);
    });

    it('more than a thousand rows come in pages of any size, and are settled in one call', async () => {
      await commitTimes(subject, 'a', 1_100, { outbox: 'o' });
      await commitTimes(subject, 'b', 100, { outbox: 'o' });
      for (const limit of [7, 1_000, 1_200, 5_000]) {
        const rows = await allPages((range) => subject.store.unsettled(range), '', limit);
        assert.deepEqual(
          rows.map(({ seq }) => seq),
          [...Array(1_100).keys(), ...Array(100).keys()].map((i) => i + 1),
        );
      }
      await subject.store.settle((await subject.store.unsettled({ prefix: '', limit: 5_000 })).rows);
      assert.deepEqual(await owed(subject), []);
    });
  });
}

/** Messages kept for an actor until a commit confirms that they were applied. */
export function inboxSection({ describe, it }: TestRunner, subject: StoreSubject): void {
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
      await commitOne(subject, plainCommit('a', 0, { consumed: [1, 3] }));
      assert.deepEqual(await inboxIds(subject, 'a'), [2]);
      assert.deepEqual(await inboxIds(subject, 'b'), [1]);
    });

    it('a refused commit removes nothing', async () => {
      await subject.store.appendInbox('a', ['x']);
      await commitOne(subject, plainCommit('a', 5, { consumed: [1] }));
      assert.deepEqual(await inboxIds(subject, 'a'), [1]);
    });

    it('consuming again, or what was never there, or nothing, changes nothing', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, plainCommit('a', 0, { consumed: [1] }));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1, { consumed: [1, 9] })), done);
      assert.deepEqual(await commitOne(subject, plainCommit('a', 2, { consumed: [] })), done);
      assert.deepEqual(await inboxIds(subject, 'a'), [2]);
    });

    it('an id consumed before it was given still holds a message later', async () => {
      await commitOne(subject, plainCommit('a', 0, { consumed: [1] }));
      assert.deepEqual(await subject.store.appendInbox('a', ['x']), [1]);
      assert.deepEqual(await inboxIds(subject, 'a'), [1]);
    });

    it('ids go on over a reopen, even when all was consumed', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, plainCommit('a', 0, { consumed: [1, 2] }));
      await subject.reopen();
      assert.deepEqual(await subject.store.appendInbox('a', ['z']), [3]);
      assert.deepEqual(await inboxIds(subject, 'a'), [3]);
    });

    it('more than a thousand are appended in one call, read by id, and consumed by one commit', async () => {
      const ids = Array.from({ length: 1_500 }, (_, i) => i + 1);
      assert.deepEqual(await subject.store.appendInbox('a', ids.map(String)), ids);
      assert.deepEqual(await inboxIds(subject, 'a'), ids);
      assert.deepEqual(await inboxIds(subject, 'a', 999), ids.slice(999));
      await commitOne(subject, plainCommit('a', 0, { consumed: ids.slice(0, -1) }));
      assert.deepEqual(await inboxIds(subject, 'a'), [1_500]);
    });
  });
}
