/** Messages and events that commits owe until they are settled. */

import assert from 'node:assert/strict';
import type { TestRunner } from './runner.js';
import { allPages, commitOf, commitTimes, owed, rangeOf, type Subject } from './subject.js';

export function outboxSection({ describe, it }: TestRunner, subject: Subject): void {
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
      await subject.store.commit([commitOf('a', 0), commitOf('a', 1, { outbox: '' }), commitOf('a', 2)]);
      assert.deepEqual(await owed(subject), ['a 2 ']);
    });

    it('addresses are ordered by code point, as UTF-8 bytes are', async () => {
      const ordered = ['A', 'a', 'é', '！', '😀'];
      await subject.store.commit([...ordered].reverse().map((address) => commitOf(address, 0, { outbox: 'o' })));
      assert.deepEqual(
        await owed(subject),
        ordered.map((address) => `${address} 1 o`),
      );
    });

    it('a prefix gives what begins with it', async () => {
      await subject.store.commit(
        ['a', 'a/1', 'a/2', 'a0', 'b'].map((address) => commitOf(address, 0, { outbox: 'o' })),
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
      await subject.store.commit([commitOf('a', 1, { outbox: 'p' })]);
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
