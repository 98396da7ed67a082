/** The publication chart by table: all that it takes, and that it refuses all else. Rows: publication-wanted.ts, publication-leaving.ts */
import { expect } from 'chai';
import type { AnyStateNode } from 'xstate';
import { topState } from '../../../machines/kit/parts.js';
import { type Publication, publicationChart, publicationMachine } from '../../../machines/volume/publication.js';
import { isLeaf, pathOf, statesOf } from '../states-of.js';
import { leaving } from './publication-leaving.js';
import { type At, events, type Row, wish } from './publication-table.js';
import { wanted } from './publication-wanted.js';

const groups = { ...wanted, ...leaving };

/** The states without inner ones, by path, each with those around it, from the inside. */
const states = new Map(
  statesOf(publicationMachine)
    .filter(isLeaf)
    .map((nodes) => [pathOf(nodes) as At, nodes]),
);

/** How many ways there are for an event in a state: one for each guard, and one where none lets it pass. */
function waysOf(nodes: AnyStateNode[], type: string): number {
  const candidates = nodes.find(({ transitions }) => transitions.has(type))?.transitions.get(type) ?? [];
  return candidates.length + (candidates.at(-1)?.guard ? 1 : 0);
}

const takes = (nodes: AnyStateNode[], type: string): boolean =>
  nodes[0]?.type !== 'final' && nodes.some(({ transitions }) => transitions.has(type));

const typeOf = ([name]: Row): string => events[name].type;

/** The rows of one state: its own, and those of its group for other events. */
function rowsOf(at: At): Row[] {
  const group = groups[topState({ at })];
  const own = group?.rows[at] ?? [];
  const others = group?.everywhere.filter((row) => !own.some((one) => typeOf(one) === typeOf(row))) ?? [];
  return [...own, ...others];
}

const known = (data: object): object => JSON.parse(JSON.stringify(data));

function play(at: At, [name, to, changes = {}, given = {}]: Row): void {
  const record = { ...wish, number: 1, ...groups[topState({ at })]?.record, ...given };
  // A part is plain data, without what is undefined.
  const before = known({ ...record, at }) as Publication;
  const after = publicationChart.step(before, events[name]);
  const expected = known({ ...before, ...changes, at: to === 'stays' ? at : to });
  expect(after, `${at}: ${name}`).to.deep.equal(expected);
  // That is how the volume knows a list that is no news.
  if (name === 'listed as detached' && to === 'stays') expect(after, `${at}: ${name}`).to.equal(before);
}

describe('the publication chart', () => {
  for (const name of Object.keys(groups))
    it(`V5 V8 ${name}: each event leads where its row says, and changes only the data that it names`, () => {
      const inner = [...states.keys()].filter((at) => topState({ at }) === name);
      expect(inner).to.not.deep.equal([]);
      for (const at of inner) for (const row of rowsOf(at)) play(at, row);
    });

  it('V5 the rows name each event that the chart takes in each state, and no other', () => {
    for (const [at, nodes] of states) {
      const types = new Set(Object.values(events).map(({ type }) => type));
      const taken = [...types].filter((type) => takes(nodes, type));
      expect([...new Set(rowsOf(at).map(typeOf))].sort(), at).to.deep.equal(taken.sort());
    }
  });

  it('V5 where a guard decides, there is a row for each way', () => {
    for (const [at, nodes] of states)
      for (const type of new Set(rowsOf(at).map(typeOf))) {
        const rows = rowsOf(at).filter((row) => typeOf(row) === type);
        expect(rows.length, `${at}: ${type}`).to.be.at.least(waysOf(nodes, type));
      }
  });

  it('V5 every other event is refused, in every state', () => {
    let refusals = 0;
    for (const [at, nodes] of states)
      for (const event of Object.values(events)) {
        if (takes(nodes, event.type)) continue;
        expect(() => publicationChart.step({ ...wish, number: 1, at }, event)).to.throw(
          `publication does not expect '${event.type}' while it is ${at}`,
        );
        refusals += 1;
      }
    expect(refusals).to.be.greaterThan(400);
  });

  it('V5 the rows know every event of the chart, and every state', () => {
    const inChart = new Set([...states.values()].flat().flatMap(({ transitions }) => [...transitions.keys()]));
    expect([...new Set(Object.values(events).map(({ type }) => type))].sort()).to.deep.equal([...inChart].sort());
    const named = Object.values(groups).flatMap(({ rows }) => Object.keys(rows));
    expect(named.filter((at) => !states.has(at as At))).to.deep.equal([]);
  });
});
