/** The staging chart by table: every event in every state leads where the table says, or is refused. Rows: staging-table.ts */
import { expect } from 'chai';
import { isIn } from '../../../machines/kit/parts.js';
import {
  isDead,
  isStaged,
  isStagingInDoubt,
  type Staging,
  stagingChart,
  stagingMachine,
} from '../../../machines/mount/staging.js';
import type { StagingData } from '../../../machines/mount/staging-setup.js';
import { isLeaf, pathOf, statesOf } from '../states-of.js';
import { type At, type EventName, events, everywhere, record, table } from './staging-table.js';

const leaves = statesOf(stagingMachine)
  .filter(isLeaf)
  .map((nodes) => pathOf(nodes) as At);
const names = Object.keys(events) as EventName[];

/** A part is plain data, without what is undefined. */
const known = (data: object): Staging => JSON.parse(JSON.stringify(data));

function toOf(at: At, name: EventName): At | undefined {
  return table[at][name] ?? (everywhere.includes(name) ? at : undefined);
}

/** The plugin may have taken for staged what is dead: what it shows then is not kept. */
const unlessDead = (at: At, name: EventName): Partial<StagingData> =>
  name === 'stage done' && (at === 'dead' || at === 'found-dead') ? { found: undefined } : {};

describe('the staging chart', () => {
  it('M2 M7 the table has a row for each state', () => {
    expect(Object.keys(table).sort()).to.deep.equal([...leaves].sort());
    expect(leaves).to.have.length(11);
  });

  it('M2 M7 each event leads where its row says, and changes only the data that it names', () => {
    let steps = 0;
    for (const at of leaves)
      for (const name of names) {
        const to = toOf(at, name);
        if (to === undefined) continue;
        const { event, changes } = { changes: {}, ...events[name] };
        const before = known({ ...record, at });
        const expected = known({ ...before, ...changes, ...unlessDead(at, name), at: to });
        expect(stagingChart.step(before, event), `${at}: ${name}`).to.deep.equal(expected);
        steps += 1;
      }
    expect(steps).to.be.greaterThan(180);
  });

  it('M2 M7 every other event is refused: outcomes are taken only where their call can be under way', () => {
    let refusals = 0;
    for (const at of leaves)
      for (const name of names) {
        if (toOf(at, name) !== undefined) continue;
        expect(() => stagingChart.step(known({ ...record, at }), events[name].event)).to.throw(
          `staging does not expect '${events[name].event.type}' while it is ${at}`,
        );
        refusals += 1;
      }
    expect(refusals).to.be.greaterThan(60);
  });

  it('M7 an event that leads nowhere, and changes nothing, gives the same record', () => {
    for (const at of leaves)
      for (const name of ['seen missing', 'dead one gone', 'targets may remain'] as const) {
        const before = known({ ...record, at });
        if (toOf(at, name) === at) expect(stagingChart.step(before, events[name].event)).to.equal(before);
      }
  });

  it('M2 M7 each state is staged for certain, may be staged, or is not staged', () => {
    const not = leaves.filter((at) => !isStaged({ number: 1, at }) && !isStagingInDoubt({ number: 1, at }));
    expect(not).to.deep.equal(['not-staged', 'pending-stage', 'not-needed']);
    for (const at of leaves) {
      const part = { number: 1, at };
      expect(isStaged(part) && isStagingInDoubt(part), at).to.equal(false);
      expect(!isDead(part) || isStagingInDoubt(part), at).to.equal(true);
    }
  });

  it('M2 each phase takes the outcomes of the calls that can be under way in it, and of no others', () => {
    // A stage that was begun before the file system was seen dead.
    const stagedBefore: readonly At[] = ['dead', 'found-dead'];
    for (const at of leaves) {
      const part = { number: 1, at };
      const { call } = stagingChart.metaOf(part);
      const kinds = [...(call ? [call] : []), ...(stagedBefore.includes(at) ? ['stage'] : [])];
      for (const { type } of Object.values(events).map(({ event }) => event)) {
        const [, kind] = /^(stage|unstage)\.(?!wanted)/.exec(type) ?? [];
        if (kind) expect(stagingChart.takes(part, type), `${at}: ${type}`).to.equal(kinds.includes(kind));
      }
    }
    expect(isIn(stagingChart.begin({ number: 0 }), 'not-staged')).to.equal(true);
  });
});
