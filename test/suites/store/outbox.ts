/** What commits owe until it is settled. */

import { expect } from 'chai';
import type { OutboxRow } from '../../../src/engine/store.js';
import { allPages, commitOf, commitTimes, rangeOf, type Subject } from './subject.js';

export function outboxSection(subject: Subject): void {
  const owed = async (prefix = ''): Promise<string[]> => {
    const rows = await allPages<OutboxRow>((after) => subject.store.unsettled(rangeOf(prefix, after)));
    return rows.map(({ address, seq, text }) => `${address} ${seq} ${text}`);
  };

  describe('outbox', () => {
    it('what commits owe is listed by address and seq until it is settled', async () => {
      await commitTimes(subject, 'b', 2, { outbox: 'o' });
      await commitTimes(subject, 'a', 11, { outbox: 'o' });
      const ofA = Array.from({ length: 11 }, (_, i) => `a ${i + 1} o`);
      expect(await owed()).to.deep.equal([...ofA, 'b 1 o', 'b 2 o']);
      await subject.store.settle([
        { address: 'a', seq: 2 },
        { address: 'b', seq: 1 },
      ]);
      expect(await owed()).to.deep.equal([...ofA.filter((row) => row !== 'a 2 o'), 'b 2 o']);
    });

    it('a commit without outbox owes nothing', async () => {
      await commitTimes(subject, 'a', 1);
      expect(await owed()).to.deep.equal([]);
    });

    it('a prefix gives what begins with it', async () => {
      await subject.store.commit(['a', 'a/1', 'a/2', 'b'].map((address) => commitOf(address, 0, { outbox: 'o' })));
      expect(await owed('a/')).to.deep.equal(['a/1 1 o', 'a/2 1 o']);
    });

    it('an address with slashes and blanks is paged as any other', async () => {
      await commitTimes(subject, '7/ a/b', 5, { outbox: 'o' });
      expect(await owed()).to.have.lengthOf(5);
    });

    it('a page that takes all there is names no next one', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      expect(await subject.store.unsettled({ prefix: '', limit: 2 })).not.to.have.property('next');
    });

    it('rows settled between two pages do not disturb the next page', async () => {
      await commitTimes(subject, 'a', 4, { outbox: 'o' });
      const first = await subject.store.unsettled({ prefix: '', limit: 2 });
      await subject.store.settle(first.rows);
      const second = await subject.store.unsettled(rangeOf('', first.next));
      expect(second.rows.map((row) => row.seq)).to.deep.equal([3, 4]);
    });

    it('settling again, or what was never owed, changes nothing', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      const row = { address: 'a', seq: 1 };
      await subject.store.settle([row, row]);
      await subject.store.settle([row, { address: 'nobody', seq: 4 }]);
      expect(await owed()).to.deep.equal(['a 2 o']);
    });

    it('what is owed, and what is settled, stays so over a reopen', async () => {
      await commitTimes(subject, 'a', 2, { outbox: 'o' });
      await subject.store.settle([{ address: 'a', seq: 1 }]);
      await subject.reopen();
      expect(await owed()).to.deep.equal(['a 2 o']);
    });

    it('a deleted actor still owes what it owed', async () => {
      await commitTimes(subject, 'a', 1, { outbox: 'o' });
      await subject.store.commit([commitOf('a', 1, { gone: true, outbox: 'bye' })]);
      expect(await owed()).to.deep.equal(['a 1 o', 'a 2 bye']);
    });
  });
}
