/** How the command line prints a history: durations, and days where there are several. */
import { expect } from 'chai';
import { durationOf, historyTable } from '../../src/cli/print-history.js';
import type { HistoryLine } from '../../src/journal/history.js';

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

  it('J1 the steps before the first one that is kept are said to be forgotten', () => {
    expect(table(line(7, '2026-01-31T12:00:00Z'))).to.contain('steps 1 to 6 are not kept any more');
  });

  it('J1 durations are written for people', () => {
    const texts = [340, 2_340, 372_300, 11_100_000, 183_600_000].map(durationOf);
    expect(texts).to.deep.equal(['340 ms', '2.3 s', '6 min 12 s', '3 h 5 min', '2 d 3 h']);
  });
});
