/** How the command line prints a history: durations, and days where there are several. */
import { expect } from 'chai';
import { durationText, historyTable } from '../../src/cli/history.js';
import { type HistoryLine, olderSteps } from '../../src/journal/history.js';

const line = (seq: number, at: string): HistoryLine => ({
  ...{ seq, at: Date.parse(at), what: 'pause is over', from: 'timer', before: 'created', after: 'created' },
  ...{ parts: [], tone: 'plain' },
});

const table = (...lines: HistoryLine[]): string => historyTable({ address: 'volume/default/data', lines });

describe('print a history', () => {
  it('J1 steps of one day: the day once, above them', () => {
    const text = table(line(1, '2026-01-31T23:59:58Z'), line(2, '2026-01-31T23:59:59Z'));
    expect(text).to.contain('volume/default/data, since 2026-01-31').and.contain('1    23:59:58.000');
    expect(text.match(/2026-01-31/g)).to.have.length(1);
  });

  it('J1 steps of several days: each with its day', () => {
    const text = table(line(1, '2026-01-31T23:59:59Z'), line(2, '2026-02-01T00:00:00Z'));
    expect(text).to.contain('1    2026-01-31 23:59:59.000').and.contain('2    2026-02-01 00:00:00.000');
  });

  it('J1, 34.32 steps that are not shown: forgotten, or kept and of another version of the machine', () => {
    const kept = "kept, but this version can't replay them: see stagecraft journal export";
    const forgotten = 'not kept any more (retention.journalEntries)';
    expect(olderSteps(1, 1)).to.equal(undefined);
    expect(olderSteps(7, 7)).to.equal(`steps 1 to 6 are ${forgotten}`);
    expect(olderSteps(7, 1)).to.equal(`steps 1 to 6 are ${kept}`);
    expect(olderSteps(7, 6)).to.equal(`steps 1 to 5 are ${forgotten}; step 6 is ${kept}`);
  });

  it('J1, 34.32 what became of older steps stands below the table, or alone', () => {
    const [address, older] = ['volume/default/data', 'steps 1 to 6 are gone'];
    const lines = [line(7, '2026-01-31T12:00:00Z')];
    expect(historyTable({ address, lines, older }).endsWith(`\n(${older})`)).to.equal(true);
    expect(historyTable({ address, lines: [], older })).to.equal(`${address}: ${older}`);
    expect(historyTable({ address, lines: [] })).to.equal(`nothing is known of ${address}`);
  });

  it('J1 durations are written for people', () => {
    const texts = [340, 2_340, 372_300, 11_100_000, 183_600_000].map(durationText);
    expect(texts).to.deep.equal(['340 ms', '2.3 s', '6 min 12 s', '3 h 5 min', '2 d 3 h']);
  });
});
