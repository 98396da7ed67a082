import { expect } from 'chai';
import type { HistoryLine } from '../../src/journal/history.js';
import { historyRows, mergedLines, reasonOf } from '../../src/page/actor/history-rows.js';

const base = { at: 0, what: '', parts: [], tone: 'plain' as const };
const caller = (seq: number): HistoryLine => ({ ...base, seq, from: 'caller' });
const timer = (seq: number): HistoryLine => ({ ...base, seq, from: 'timer' });
const failed = (seq: number, attempt: number, code = 'INTERNAL'): HistoryLine => ({
  ...base,
  ...{ seq, attempt, code, from: 'disk', rpc: 'ControllerPublishVolume', tone: 'in-doubt' },
});
const done = (seq: number, attempt: number): HistoryLine => ({ ...failed(seq, attempt, 'OK'), tone: 'done' });

/** `attempts` failed attempts from seq 2 on, each followed by its pause. */
const attempts = (count: number): HistoryLine[] =>
  Array.from({ length: count }, (_, index) => [failed(2 + 2 * index, index + 1), timer(3 + 2 * index)]).flat();

const shown = (lines: HistoryLine[]): string[] =>
  historyRows(lines).map((row) =>
    'line' in row ? `${row.line.seq}` : row.group.lines.map(({ seq }) => seq).join(' '),
  );

describe('rows of a history', () => {
  it('X2 up to five failed attempts at a call are shown one by one', () => {
    const lines = [caller(1), ...attempts(5), done(12, 6)];
    expect(shown(lines)).to.deep.equal(lines.map(({ seq }) => `${seq}`));
  });

  it('X2 of more than five attempts the first and the last are shown, the others are one row', () => {
    const lines = [caller(1), ...attempts(7), done(16, 8)];
    expect(shown(lines)).to.deep.equal(['1', '2', '3 4 5 6 7 8 9 10 11 12 13', '14', '15', '16']);
    const group = historyRows(lines).flatMap((row) => ('group' in row ? [row.group] : []))[0];
    expect(group).to.include({ rpc: 'ControllerPublishVolume', attempts: 5 });
    expect(group?.codes).to.deep.equal([['INTERNAL', 5]]);
  });

  it('X2 what somebody asked for meanwhile ends a run, and is never folded', () => {
    const lines = [...attempts(4), caller(10), ...attempts(4).map((line) => ({ ...line, seq: line.seq + 9 }))];
    expect(shown(lines)).to.deep.equal(lines.map(({ seq }) => `${seq}`));
  });

  it('X2 the answers of a run are counted, the most frequent first', () => {
    const codes = ['INTERNAL', 'ABORTED', 'ABORTED', 'INTERNAL', 'ABORTED', 'INTERNAL', 'ABORTED', 'INTERNAL'];
    const lines = codes.map((code, index) => failed(index + 1, index + 1, code));
    const group = historyRows(lines).flatMap((row) => ('group' in row ? [row.group] : []))[0];
    expect(group?.codes).to.deep.equal([
      ['ABORTED', 4],
      ['INTERNAL', 2],
    ]);
  });

  it('X2 a reason does not repeat the call and the status that its row names', () => {
    const [rpc, code] = ['ControllerPublishVolume', 'INTERNAL'];
    expect(reasonOf({ rpc, code, message: `${rpc}: ${code}: busy` })).to.equal('busy');
    expect(reasonOf({ rpc, code, message: `${rpc}: no answer within 5 s` })).to.equal('no answer within 5 s');
    expect(reasonOf({ rpc, code, message: 'busy' })).to.equal('busy');
    expect(reasonOf({ rpc, code })).to.equal('');
  });

  it('X2 newer and older pages are put together by their steps', () => {
    const known = [caller(3), timer(4)];
    expect(
      mergedLines(known, [caller(1), { ...timer(4), what: 'newer' }, caller(5)]).map(
        ({ seq, what }) => `${seq}${what}`,
      ),
    ).to.deep.equal(['1', '3', '4newer', '5']);
  });
});
