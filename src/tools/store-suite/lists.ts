/** Listings of records: order, prefixes and pages. */

import assert from 'node:assert/strict';
import type { TestRunner } from './runner.js';
import { allPages, commitOf, commitOne, listed, rangeOf, type Subject } from './subject.js';

export function listSection({ describe, it }: TestRunner, subject: Subject): void {
  const commitAll = (addresses: string[]) => subject.store.commit(addresses.map((address) => commitOf(address, 0)));

  const pageOf = async (after: string | undefined, limit = 2): Promise<{ addresses: string[]; next?: string }> => {
    const { rows, ...rest } = await subject.store.list(rangeOf('', after, limit));
    return { addresses: rows.map(({ address }) => address), ...rest };
  };

  describe('list', () => {
    it('an empty store lists nothing', async () => {
      assert.deepEqual(await subject.store.list({ prefix: '', limit: 10 }), { rows: [] });
    });

    it('records committed in any order are listed by address', async () => {
      await commitAll(['b', 'a', 'c']);
      await commitOne(subject, commitOf('a', 1));
      assert.deepEqual(await listed(subject), ['a', 'b', 'c']);
    });

    it('addresses are ordered by code point, as UTF-8 bytes are', async () => {
      const ordered = ['A', 'Z', 'a', 'z', 'é', '！', '😀'];
      await commitAll([...ordered].reverse());
      assert.deepEqual(await listed(subject), ordered);
    });

    it('a prefix gives the addresses that begin with it, and no neighbours', async () => {
      await commitAll(['volume', 'volume/', 'volume/a', 'volume/a/b', 'volume0', 'volumf', 'volum']);
      assert.deepEqual(await listed(subject, 'volume/'), ['volume/', 'volume/a', 'volume/a/b']);
      assert.deepEqual(await listed(subject, 'w'), []);
    });

    it('a page holds its limit and says where to go on; the last one does not', async () => {
      await commitAll(['a', 'b', 'c']);
      const first = await pageOf(undefined);
      assert.deepEqual(first.addresses, ['a', 'b']);
      assert.equal(typeof first.next, 'string');
      assert.deepEqual(await pageOf(first.next), { addresses: ['c'] });
    });

    it('a page that takes all there is names no next one, nor one that only neighbours of the prefix follow', async () => {
      await commitAll(['a/1', 'a/2', 'b']);
      assert.deepEqual(await pageOf(undefined, 3), { addresses: ['a/1', 'a/2', 'b'] });
      const { next } = await subject.store.list({ prefix: 'a/', limit: 2 });
      assert.equal(next, undefined);
    });

    it('a page that only tombstones follow names no next one', async () => {
      await commitAll(['a', 'b', 'c', 'd']);
      await subject.store.commit(['a', 'c', 'd'].map((address) => commitOf(address, 1, { gone: true })));
      assert.deepEqual(await pageOf(undefined, 1), { addresses: ['b'] });
    });

    it('an address made between two pages appears where it belongs', async () => {
      await commitAll(['a', 'b', 'd']);
      const first = await pageOf(undefined);
      await commitAll(['a0', 'c']);
      assert.deepEqual(await pageOf(first.next, 10), { addresses: ['c', 'd'] });
    });

    it('the last actor of a page is deleted before the next page, which begins after it all the same', async () => {
      await commitAll(['a', 'b', 'c']);
      const first = await pageOf(undefined);
      await commitOne(subject, commitOf('b', 1, { gone: true }));
      assert.deepEqual(await pageOf(first.next), { addresses: ['c'] });
    });

    it('the rows are whole records', async () => {
      await commitOne(subject, commitOf('a', 0, { wakeAtMs: 9 }));
      const { rows } = await subject.store.list({ prefix: '', limit: 1 });
      assert.deepEqual(rows, [await subject.store.load('a')]);
    });

    it('pages of any size, more than a thousand rows, give each record once and in order', async () => {
      const addresses = Array.from({ length: 1_500 }, (_, i) => `actor/${String(i).padStart(4, '0')}`);
      await commitAll([...addresses, 'actop', 'actos']);
      for (const limit of [7, 1_000, 1_499, 1_500, 5_000]) {
        const rows = await allPages((range) => subject.store.list(range), 'actor/', limit);
        assert.deepEqual(
          rows.map(({ address }) => address),
          addresses,
        );
      }
    });
  });
}
