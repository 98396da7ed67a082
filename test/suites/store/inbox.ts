/** Messages kept for an actor until a commit says that it applied them. */

import { expect } from 'chai';
import { awkwardTexts, commitOf, commitOne, type Subject } from './subject.js';

export function inboxSection(subject: Subject): void {
  const kept = async (after = 0): Promise<number[]> =>
    (await subject.store.readInbox('a', after, 100)).map((row) => row.id);

  describe('inbox', () => {
    it('ids rise by one per address, over calls', async () => {
      expect(await subject.store.appendInbox('a', ['x', 'y'])).to.deep.equal([1, 2]);
      expect(await subject.store.appendInbox('ab', ['x'])).to.deep.equal([1]);
      expect(await subject.store.appendInbox('a', ['z'])).to.deep.equal([3]);
    });

    it('calls made at once get ids of their own, in the order made', async () => {
      const calls = await Promise.all(['x', 'y', 'z'].map((text) => subject.store.appendInbox('a', [text])));
      expect(calls).to.deep.equal([[1], [2], [3]]);
    });

    it('no texts get no ids', async () => {
      expect(await subject.store.appendInbox('a', [])).to.deep.equal([]);
      expect(await subject.store.appendInbox('a', ['x'])).to.deep.equal([1]);
    });

    it('texts of any kind come back as they were', async () => {
      await subject.store.appendInbox('a', awkwardTexts);
      const rows = await subject.store.readInbox('a', 0, 100);
      expect(rows).to.deep.equal(awkwardTexts.map((text, i) => ({ id: i + 1, text })));
    });

    it('reading begins after the given id and ends at the limit', async () => {
      await subject.store.appendInbox('a', ['x', 'y', 'z']);
      expect(await subject.store.readInbox('a', 1, 1)).to.deep.equal([{ id: 2, text: 'y' }]);
      expect(await kept(3)).to.deep.equal([]);
    });

    it('a commit removes what it consumed, and that only', async () => {
      await subject.store.appendInbox('a', ['x', 'y', 'z']);
      await subject.store.appendInbox('b', ['x']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1, 3] }));
      expect(await kept()).to.deep.equal([2]);
      expect(await subject.store.readInbox('b', 0, 10)).to.have.lengthOf(1);
    });

    it('a refused commit removes nothing', async () => {
      await subject.store.appendInbox('a', ['x']);
      await commitOne(subject, commitOf('a', 5, { consumed: [1] }));
      expect(await kept()).to.deep.equal([1]);
    });

    it('consuming again, or what was never there, changes nothing', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1] }));
      expect(await commitOne(subject, commitOf('a', 1, { consumed: [1, 9] }))).to.deep.equal({ status: 'done' });
      expect(await kept()).to.deep.equal([2]);
    });

    it('ids go on over a reopen, even when all was consumed', async () => {
      await subject.store.appendInbox('a', ['x', 'y']);
      await commitOne(subject, commitOf('a', 0, { consumed: [1, 2] }));
      await subject.reopen();
      expect(await subject.store.appendInbox('a', ['z'])).to.deep.equal([3]);
      expect(await kept()).to.deep.equal([3]);
    });
  });
}
