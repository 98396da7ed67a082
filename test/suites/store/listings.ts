/** Listings of records and of due work. */

import { expect } from 'chai';
import { allPages, commitOf, commitOne, rangeOf, type Subject } from './subject.js';

export function listingSection(subject: Subject): void {
  const commitAll = (addresses: string[]) => subject.store.commit(addresses.map((address) => commitOf(address, 0)));

  const listed = async (prefix: string): Promise<string[]> => {
    const records = await allPages((after) => subject.store.list(rangeOf(prefix, after)));
    return records.map((record) => record.address);
  };

  describe('list', () => {
    it('records committed in any order are listed by address', async () => {
      await commitAll(['b', 'a', 'c']);
      expect(await listed('')).to.deep.equal(['a', 'b', 'c']);
    });

    it('addresses are ordered by code point, as UTF-8 bytes are', async () => {
      const ordered = ['A', 'Z', 'a', 'z', 'é', '！', '😀'];
      await commitAll([...ordered].reverse());
      expect(await listed('')).to.deep.equal(ordered);
    });

    it('a prefix gives the addresses that begin with it, and no neighbours', async () => {
      await commitAll(['volume', 'volume/', 'volume/a', 'volume/a/b', 'volume0', 'volumf', 'volum']);
      expect(await listed('volume/')).to.deep.equal(['volume/', 'volume/a', 'volume/a/b']);
      expect(await listed('w')).to.deep.equal([]);
    });

    it('a page holds its limit and says where to go on; the last one does not', async () => {
      await commitAll(['a', 'b', 'c']);
      const first = await subject.store.list({ prefix: '', limit: 2 });
      expect(first.rows.map((record) => record.address)).to.deep.equal(['a', 'b']);
      expect(first.next).to.be.a('string');
      const last = await subject.store.list(rangeOf('', first.next));
      expect(last.rows.map((record) => record.address)).to.deep.equal(['c']);
      expect(last).not.to.have.property('next');
    });

    it('a page that takes all there is names no next one', async () => {
      await commitAll(['a', 'b']);
      expect(await subject.store.list({ prefix: '', limit: 2 })).not.to.have.property('next');
    });

    it('an address made between two pages appears where it belongs', async () => {
      await commitAll(['a', 'b', 'd']);
      const first = await subject.store.list({ prefix: '', limit: 2 });
      await commitAll(['a0', 'c']);
      const rest = await subject.store.list({ ...rangeOf('', first.next), limit: 10 });
      expect(rest.rows.map((record) => record.address)).to.deep.equal(['c', 'd']);
    });

    it('the rows are whole records', async () => {
      await commitOne(subject, commitOf('a', 0, { wakeAtMs: 9 }));
      const { rows } = await subject.store.list({ prefix: '', limit: 1 });
      expect(rows).to.deep.equal([await subject.store.load('a')]);
    });
  });

  describe('due', () => {
    const due = (untilMs: number, prefix = '', limit = 10) => subject.store.due({ prefix, untilMs, limit });

    beforeEach(() =>
      subject.store.commit([
        commitOf('task/c', 0, { wakeAtMs: 30 }),
        commitOf('task/a', 0, { wakeAtMs: 1_700_000_000_000 }),
        commitOf('task/b', 0, { wakeAtMs: 4.5 }),
        commitOf('node/a', 0, { wakeAtMs: 30 }),
        commitOf('idle', 0),
      ]),
    );

    it('what is due at or before the given time comes earliest first, then by address', async () => {
      expect(await due(30)).to.deep.equal([
        { address: 'task/b', wakeAtMs: 4.5 },
        { address: 'node/a', wakeAtMs: 30 },
        { address: 'task/c', wakeAtMs: 30 },
      ]);
    });

    it('what is due a moment later is left out', async () => {
      expect(await due(29.9)).to.deep.equal([{ address: 'task/b', wakeAtMs: 4.5 }]);
      expect(await due(4)).to.deep.equal([]);
    });

    it('a prefix and a limit hold', async () => {
      expect(await due(Number.MAX_SAFE_INTEGER, 'task/', 2)).to.deep.equal([
        { address: 'task/b', wakeAtMs: 4.5 },
        { address: 'task/c', wakeAtMs: 30 },
      ]);
    });

    it('a later commit moves the time, and another takes it away', async () => {
      await commitOne(subject, commitOf('task/b', 1, { wakeAtMs: 50 }));
      expect((await due(50)).map((row) => row.address)).to.deep.equal(['node/a', 'task/c', 'task/b']);
      await commitOne(subject, commitOf('task/b', 2));
      expect((await due(50)).map((row) => row.address)).to.deep.equal(['node/a', 'task/c']);
    });

    it('a commit that keeps the time leaves one row', async () => {
      await commitOne(subject, commitOf('task/b', 1, { wakeAtMs: 4.5 }));
      expect(await due(5)).to.deep.equal([{ address: 'task/b', wakeAtMs: 4.5 }]);
    });

    it('a refused commit moves nothing', async () => {
      await commitOne(subject, commitOf('task/b', 8, { wakeAtMs: 1 }));
      expect(await due(5)).to.deep.equal([{ address: 'task/b', wakeAtMs: 4.5 }]);
    });

    it('due work is found after a reopen', async () => {
      await subject.reopen();
      expect(await due(30)).to.have.lengthOf(3);
    });
  });
}
