import { expect } from 'chai';
import { bytesText, differences, type FactRow, factRows, valueText } from '../../src/page/actor/facts.js';

const shown = (rows: FactRow[]): string[] =>
  rows.map(({ depth, key, text, was, mark }) =>
    [`${' '.repeat(depth)}${key}`, was, text, mark].filter(Boolean).join(' | '),
  );

describe('facts of an actor', () => {
  it('X2 the difference of two snapshots is the smallest values that differ', () => {
    const was = { a: 1, b: { c: 'x', d: [1, 2] }, gone: { e: 1 }, same: { f: 1 } };
    const is = { a: 1, b: { c: 'y', d: [1, 3] }, same: { f: 1 }, came: { g: 1 } };
    expect([...differences(was, is)]).to.deep.equal([
      ['/b/c', { was: 'x', is: 'y' }],
      ['/b/d/1', { was: 2, is: 3 }],
      ['/gone', { was: { e: 1 } }],
      ['/came', { is: { g: 1 } }],
    ]);
    expect(differences(was, was)).to.have.property('size', 0);
  });

  it('X2 keys with dots and slashes, as of nodes and of parameters, stay one key', () => {
    const changes = differences({ 'a.b/c~d': { at: 'x' } }, { 'a.b/c~d': { at: 'y' } });
    expect(shown(factRows({ 'a.b/c~d': { at: 'y' } }, changes))).to.deep.equal([
      'a.b/c~d | {1}',
      ' at | x | y | changed',
    ]);
  });

  it('X2 branches are folded unless something in them has changed, or somebody has opened them', () => {
    const value = { quiet: { a: 1 }, loud: { b: 2 } };
    const changes = differences({ quiet: { a: 1 }, loud: { b: 1 } }, value);
    expect(shown(factRows(value, changes))).to.deep.equal(['quiet | {1}', 'loud | {1}', ' b | 1 | 2 | changed']);
    const opened = new Map([
      ['/quiet', true],
      ['/loud', false],
    ]);
    const rows = factRows(value, changes, opened);
    expect(shown(rows)).to.deep.equal(['quiet | {1}', ' a | 1', 'loud | {1}']);
    expect(rows[2]?.branch).to.deep.equal({ isOpen: false, changes: 1 });
  });

  it('X2 what came is marked once, and what went is listed where it was', () => {
    const [was, is] = [{ tries: { count: 2 } }, { at: 'published', context: {} }];
    expect(shown(factRows(is, differences(was, is)))).to.deep.equal([
      'at | published | added',
      'context | {} | added',
      'tries | {1} | removed',
    ]);
  });

  it('X2 a change between a value and a branch shows both', () => {
    const [was, is] = [{ failure: null }, { failure: { code: 'X' } }];
    expect(shown(factRows(is, differences(was, is)))).to.deep.equal(['failure | null | {1} | changed']);
  });

  it('X2 sizes and moments are written for people', () => {
    expect(bytesText(0)).to.equal('0 bytes');
    expect(bytesText(1536)).to.equal('1.5 KiB');
    expect(bytesText(10 * 1024 ** 3)).to.equal('10 GiB');
    expect(valueText('capacityBytes', 1024)).to.equal('1 KiB');
    expect(valueText('lastsMs', 1500)).to.equal('1500');
    expect(valueText('notBeforeMs', Date.UTC(2026, 1, 3, 4, 5, 6, 7))).to.match(/^2026-02-03 \d\d:\d\d:06\.007$/);
  });
});
