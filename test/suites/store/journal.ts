/** The journal: one entry per commit. */

import { expect } from 'chai';
import { commitTimes, type Subject } from './subject.js';

export function journalSection(subject: Subject): void {
  const seqs = async (from: number, limit = 100): Promise<number[]> =>
    (await subject.store.readJournal('a', from, limit)).map((row) => row.seq);

  describe('journal', () => {
    it('each commit leaves one entry, under its seq and in order', async () => {
      await commitTimes(subject, 'a', 12);
      await commitTimes(subject, 'ab', 1);
      const rows = await subject.store.readJournal('a', 1, 100);
      expect(rows).to.deep.equal(Array.from({ length: 12 }, (_, i) => ({ seq: i + 1, text: `j${i + 1}` })));
    });

    it('a range begins at its seq and ends at its limit', async () => {
      await commitTimes(subject, 'a', 5);
      expect(await seqs(3)).to.deep.equal([3, 4, 5]);
      expect(await seqs(2, 2)).to.deep.equal([2, 3]);
      expect(await seqs(6)).to.deep.equal([]);
      expect(await seqs(0, 0)).to.deep.equal([]);
    });

    it('an actor that never committed has no entries', async () => {
      expect(await seqs(0)).to.deep.equal([]);
    });

    it('a trim forgets what is below its seq, of this actor only', async () => {
      await commitTimes(subject, 'a', 5);
      await commitTimes(subject, 'ab', 2);
      await subject.store.trimJournal('a', 3);
      await subject.reopen();
      expect(await seqs(0)).to.deep.equal([3, 4, 5]);
      expect(await subject.store.readJournal('ab', 0, 10)).to.have.lengthOf(2);
    });

    it('a trim of all leaves room for the next seq', async () => {
      await commitTimes(subject, 'a', 2);
      await subject.store.trimJournal('a', 100);
      expect(await seqs(0)).to.deep.equal([]);
      await subject.store.commit([3, 4].map((seq) => ({ ...next(seq), expectedSeq: seq - 1 })));
      expect(await seqs(0)).to.deep.equal([3, 4]);
    });

    it('a trim of what is trimmed, or of nothing, changes nothing', async () => {
      await commitTimes(subject, 'a', 3);
      await subject.store.trimJournal('a', 3);
      await subject.store.trimJournal('a', 2);
      await subject.store.trimJournal('nobody', 2);
      expect(await seqs(0)).to.deep.equal([3]);
    });

    it('a trim of thousands forgets them all', async () => {
      await commitTimes(subject, 'a', 2_500);
      await subject.store.trimJournal('a', 2_500);
      expect(await seqs(0)).to.deep.equal([2_500]);
    });
  });
}

function next(seq: number) {
  return { address: 'a', commitId: `c${seq}`, epoch: 1, owner: 'owner-a', text: 't', journal: `j${seq}` };
}
