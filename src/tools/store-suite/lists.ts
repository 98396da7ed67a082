/** Listings of records, of all and of those that are due: order, prefixes and pages. */

import assert from 'node:assert/strict';
import {
  allPages,
  commitOne,
  dueBy,
  listed,
  plainCommit,
  rangeOf,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function listSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  const commitAll = (addresses: string[]) => subject.store.commit(addresses.map((address) => plainCommit(address, 0)));

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
      await commitOne(subject, plainCommit('a', 1));
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
      await subject.store.commit(['a', 'c', 'd'].map((address) => plainCommit(address, 1, { gone: true })));
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
      await commitOne(subject, plainCommit('b', 1, { gone: true }));
      assert.deepEqual(await pageOf(first.next), { addresses: ['c'] });
    });

    it('the rows are whole records', async () => {
      await commitOne(subject, plainCommit('a', 0, { wakeAtMs: 9 }));
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

/** Listings of due work: order, ties, prefixes and pages. */
export function dueSection({ describe, it, beforeEach }: TestRunner, subject: StoreSubject): void {
  const setWakes = (wakes: Record<string, number>) =>
    subject.store.commit(Object.entries(wakes).map(([address, wakeAtMs]) => plainCommit(address, 0, { wakeAtMs })));

  const pageOf = async (after: string | undefined, untilMs = 30): Promise<{ addresses: string[]; next?: string }> => {
    const { rows, ...rest } = await subject.store.due({ ...rangeOf('', after), untilMs });
    return { addresses: rows.map(({ address }) => address), ...rest };
  };

  describe('due', () => {
    beforeEach(async () => {
      await setWakes({ 'task/c': 30, 'task/a': 1_700_000_000_000, 'task/b': 4.5, 'node/a': 30 });
      await commitOne(subject, plainCommit('idle', 0));
    });

    it('what is due at or before the given time comes earliest first, then by address', async () => {
      const { rows } = await subject.store.due({ prefix: '', untilMs: 30, limit: 10 });
      assert.deepEqual(rows, [
        { address: 'task/b', wakeAtMs: 4.5 },
        { address: 'node/a', wakeAtMs: 30 },
        { address: 'task/c', wakeAtMs: 30 },
      ]);
    });

    it('what is due a moment later is left out', async () => {
      assert.deepEqual(await dueBy(subject, 29.9), ['task/b 4.5']);
      assert.deepEqual(await dueBy(subject, 4), []);
      assert.deepEqual(await dueBy(subject, 1_700_000_000_000 - 1, 'task/a'), []);
      assert.deepEqual(await dueBy(subject, 1_700_000_000_000, 'task/a'), ['task/a 1700000000000']);
    });

    it('times are compared as numbers: 30 is before 200, and 0 before all', async () => {
      await setWakes({ 'task/d': 200, 'task/e': 0 });
      assert.deepEqual(await dueBy(subject, 200, 'task/'), ['task/e 0', 'task/b 4.5', 'task/c 30', 'task/d 200']);
    });

    it('a prefix and a limit hold', async () => {
      const { rows } = await subject.store.due({ prefix: 'task/', untilMs: Number.MAX_SAFE_INTEGER, limit: 2 });
      assert.deepEqual(
        rows.map(({ address }) => address),
        ['task/b', 'task/c'],
      );
    });

    it('a later commit moves the time, and another takes it away', async () => {
      await commitOne(subject, plainCommit('task/b', 1, { wakeAtMs: 50 }));
      assert.deepEqual(await dueBy(subject, 50), ['node/a 30', 'task/c 30', 'task/b 50']);
      await commitOne(subject, plainCommit('task/b', 2));
      assert.deepEqual(await dueBy(subject, 50), ['node/a 30', 'task/c 30']);
    });

    it('a commit that keeps the time leaves one row', async () => {
      await commitOne(subject, plainCommit('task/b', 1, { wakeAtMs: 4.5 }));
      assert.deepEqual(await dueBy(subject, 5), ['task/b 4.5']);
    });

    it('several commits of one call leave the last time only', async () => {
      await subject.store.commit([3, 2, 1].map((wakeAtMs, i) => plainCommit('task/b', i + 1, { wakeAtMs })));
      assert.deepEqual(await dueBy(subject, 5), ['task/b 1']);
    });

    it('a refused commit moves nothing', async () => {
      await commitOne(subject, plainCommit('task/b', 8, { wakeAtMs: 1 }));
      assert.deepEqual(await dueBy(subject, 5), ['task/b 4.5']);
    });

    it('due work is found after a reopen', async () => {
      await subject.reopen();
      assert.deepEqual(await dueBy(subject, 30), ['task/b 4.5', 'node/a 30', 'task/c 30']);
    });
  });

  describe('due, in pages', () => {
    it('a page holds its limit and says where to go on; the last one does not', async () => {
      await setWakes({ c: 1, a: 2, b: 3 });
      const first = await pageOf(undefined);
      assert.deepEqual(first.addresses, ['c', 'a']);
      assert.equal(typeof first.next, 'string');
      assert.deepEqual(await pageOf(first.next), { addresses: ['b'] });
    });

    it('a page that only later work or neighbours of the prefix follow names no next one', async () => {
      await setWakes({ 'a/1': 1, 'a/2': 2, b: 3, 'a/3': 31 });
      assert.equal((await subject.store.due({ prefix: 'a/', untilMs: 30, limit: 2 })).next, undefined);
      assert.equal((await subject.store.due({ prefix: '', untilMs: 30, limit: 3 })).next, undefined);
      assert.equal((await subject.store.due({ prefix: '', untilMs: 31, limit: 4 })).next, undefined);
    });

    it('many that are due at the same moment are given once each, by address, over pages of any size', async () => {
      const addresses = Array.from({ length: 25 }, (_, i) => `actor/${String(i).padStart(2, '0')}`);
      await setWakes({
        late: 9,
        ...Object.fromEntries([...addresses].reverse().map((address) => [address, 7])),
        early: 5,
      });
      for (const limit of [1, 2, 5, 25, 26, 27, 28]) {
        const rows = await allPages((range) => subject.store.due({ ...range, untilMs: 9 }), '', limit);
        assert.deepEqual(
          rows.map(({ address }) => address),
          ['early', ...addresses, 'late'],
        );
      }
    });

    it('ties are broken by code point, as UTF-8 bytes are', async () => {
      const ordered = ['A', 'a', 'é', '！', '😀'];
      await setWakes(Object.fromEntries([...ordered].reverse().map((address) => [address, 7])));
      assert.deepEqual(
        await dueBy(subject, 7),
        ordered.map((address) => `${address} 7`),
      );
    });

    it('times that a page token might bend lead on to the next page', async () => {
      const times = [0, 0.1 + 0.2, 1 / 3, 1_699_999_999_999.5, 1_700_000_000_000, Number.MAX_SAFE_INTEGER];
      await setWakes(Object.fromEntries(times.map((wakeAtMs, i) => [`a/${i}`, wakeAtMs])));
      const rows = await allPages((range) => subject.store.due({ ...range, untilMs: Number.MAX_VALUE }), '', 1);
      assert.deepEqual(
        rows.map(({ wakeAtMs }) => wakeAtMs),
        times,
      );
    });

    it('the last actor of a page moves on before the next page, which begins after its place all the same', async () => {
      await setWakes({ a: 1, b: 2, c: 2, d: 3 });
      const first = await pageOf(undefined);
      await subject.store.commit([plainCommit('a', 1, { wakeAtMs: 99 }), plainCommit('b', 1)]);
      assert.deepEqual(await pageOf(first.next), { addresses: ['c', 'd'] });
    });

    it('the last actor of a page moves behind it, then it comes again, with its new time', async () => {
      await setWakes({ a: 1, b: 2, c: 3 });
      const first = await pageOf(undefined);
      await commitOne(subject, plainCommit('b', 1, { wakeAtMs: 20 }));
      assert.deepEqual(await pageOf(first.next), { addresses: ['c', 'b'] });
    });

    it('tombstones stand among the others', async () => {
      await setWakes({ a: 1, b: 2, c: 3 });
      await commitOne(subject, plainCommit('b', 1, { gone: true, wakeAtMs: 2 }));
      assert.deepEqual(await dueBy(subject, 9), ['a 1', 'b 2', 'c 3']);
    });

    it('more than a thousand rows come in one page, or in several, once each and in order', async () => {
      const addresses = Array.from({ length: 1_500 }, (_, i) => `actor/${String(i).padStart(4, '0')}`);
      await setWakes(Object.fromEntries(addresses.map((address, i) => [address, 1_500 - i])));
      const expected = [...addresses].reverse();
      for (const limit of [100, 1_499, 1_500, 5_000]) {
        const rows = await allPages((range) => subject.store.due({ ...range, untilMs: 2_000 }), 'actor/', limit);
        assert.deepEqual(
          rows.map(({ address }) => address),
          expected,
        );
      }
    });
  });
}
