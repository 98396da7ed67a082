/** Verdicts on a stored record that differs from an actor's own last commit: one case per row. */
import { expect } from 'chai';
import { type CommitVerdict, verdictOn } from '../../../src/engine/actor/commit-conflict.js';

const known = { seq: 5, commitId: 'run.5' };
const claim = { epoch: 3, owner: 'us' };
const stored = { seq: 5, epoch: 3, owner: 'us', commitId: 'run.5' };

describe('the verdict on a stored record', () => {
  const cases: [what: string, record: Partial<typeof stored> | undefined, verdict: CommitVerdict][] = [
    ['our last commit', {}, 'same'],
    ['our last commit, made by an earlier runtime', { epoch: 2, owner: 'before' }, 'same'],
    ['no record', undefined, 'behind'],
    ['an older commit of ours', { seq: 4, commitId: 'run.4' }, 'behind'],
    ['an older commit of an earlier runtime', { seq: 2, epoch: 2, owner: 'before', commitId: 'x' }, 'behind'],
    ['an older commit of another owner under our epoch', { seq: 4, owner: 'other', commitId: 'x' }, 'fenced'],
    ['a commit of another owner under our epoch with our seq', { owner: 'other', commitId: 'x' }, 'fenced'],
    ['a newer commit of ours', { seq: 6, commitId: 'run.6' }, 'ahead'],
    ['a newer commit of another owner under our epoch', { seq: 6, owner: 'other', commitId: 'x' }, 'fenced'],
    ['a newer commit of an earlier runtime', { seq: 6, epoch: 2, owner: 'before', commitId: 'x' }, 'foreign'],
    ['another commit with our seq', { commitId: 'x' }, 'foreign'],
    ['a commit under a newer epoch, whatever its seq', { seq: 1, epoch: 4, owner: 'next', commitId: 'x' }, 'fenced'],
    ['our last commit under a newer epoch', { epoch: 4 }, 'fenced'],
    ['an unreadable record', { seq: 0, epoch: 0, owner: '', commitId: '' }, 'unreadable'],
  ];
  for (const [what, record, verdict] of cases) {
    it(`${what}: ${verdict}`, () => {
      expect(verdictOn(record && { ...stored, ...record }, known, claim)).to.equal(verdict);
    });
  }

  it('no record of an actor that never existed: same', () => {
    expect(verdictOn(undefined, { seq: 0, commitId: '' }, claim)).to.equal('same');
  });
});
