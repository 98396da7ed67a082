/** Records of allocs that earlier versions have written, with calls under way: the present one goes on with each of them. */
import { expect } from 'chai';
import { mountsOf, reasonsOf } from '../../machines/alloc/parts.js';
import type { AllocContext } from '../../machines/alloc/types.js';
import { stepOf } from '../../machines/alloc/volume-steps.js';
import { allocStateOf } from '../../src/allocs/alloc-view.js';
import type { ActorRecord } from '../../src/engine/actor/actor-record.js';
import { type Recorded, recorded } from '../histories/recorded.js';
import { AllocLab, address, allocId } from './alloc-lab.js';

interface RecordedAlloc extends Recorded {
  title: string;
  envelope: Omit<ActorRecord, 'snapshot'>;
  world: { slots: [id: string, slot: { allocId: string; generation: number }][]; mounted: string[] };
}

/** State that each alloc comes to. */
const expected: Record<string, string> = {
  'preparing, at claim': 'prepared',
  'preparing, at publish': 'prepared',
  'preparing, at bring': 'prepared',
  'preparing in a time that is limited, one volume at claim, one at bring': 'prepared',
  'preparing, its slot is taken, and its plugin away': 'prepared',
  'preparing once more after a restart, at publish': 'prepared',
  prepared: 'prepared',
  'recovering, at reachable': 'prepared',
  'recovering, at holds': 'prepared',
  'recovering, at publish': 'prepared',
  'recovering, at bring': 'prepared',
  'recovering, backing off': 'prepared',
  'recovering, until it is asked for again': 'recovering',
  'never prepared before another boot': 'recovering',
  'releasing, at take': 'gone',
  'releasing, at release': 'gone',
  'releasing, at unstaged': 'gone',
  'releasing, its plugin is away': 'gone',
  'releasing what could not be had, at take': 'failed',
  'releasing what could not be had, and released meanwhile': 'gone',
  'releasing what has lost its claim, at unstaged': 'failed',
  failed: 'failed',
};

const own = (lab: AllocLab): string[] =>
  [...lab.slots]
    .filter(([, slot]) => slot.allocId === allocId)
    .map(([id]) => id)
    .sort();

/** Puts what was recorded into a store, and starts a runtime on it. */
async function restarted({ seq, value, context, envelope, world }: RecordedAlloc): Promise<AllocLab> {
  const lab = new AllocLab();
  await lab.lab.data.open();
  const entry = { seq, at: 1, random: 0.5, kind: 'event', version: envelope.version, source: { kind: 'request' } };
  await lab.lab.data.commit([
    {
      ...{ address, commitId: 'recorded', expectedSeq: 0, seq, epoch: 0, owner: 'recorded' },
      text: JSON.stringify({ ...envelope, snapshot: { value, context } }),
      journal: JSON.stringify({ ...entry, event: { type: 'alloc.prepare' } }),
    },
  ]);
  for (const [id, slot] of world.slots) lab.slots.set(id, slot);
  for (const id of world.mounted) lab.mounted.add(id);
  for (const id of ['data', 'log'])
    for (const port of ['claim', 'holds', 'publish', 'bring', 'reachable', 'release', 'take', 'unstaged'])
      lab.faults.set(`${port} ${id}`, 'hangs');
  await lab.start();
  return lab;
}

const stepsOf = (parts: AllocContext['parts']): object =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, stepOf(part)]));

const stateOf = (lab: AllocLab): string => {
  const view = lab.view();
  return view ? allocStateOf(view.state) : 'gone';
};

describe('allocs of version 2', () => {
  const records = recorded('2', 'allocs') as RecordedAlloc[];

  it('each way is recorded', () => {
    expect(records.map(({ title }) => title)).to.deep.equal(Object.keys(expected));
  });

  for (const record of records) {
    const end = expected[record.title] ?? '';
    it(`H1 H2 H3 ${record.title}: taken up with its steps, and ${end} in the end`, async () => {
      const lab = await restarted(record);
      const taken = lab.view();
      if (!taken) throw new Error('it is not there');
      const { parts } = taken.context;
      const { parts: before } = record.context as AllocContext;
      expect([stepsOf(parts), reasonsOf({ parts })]).to.deep.equal([stepsOf(before), reasonsOf({ parts: before })]);
      const { envelope } = await lab.stored();
      expect([envelope.version, envelope.effects.map(({ src }) => src)]).to.deep.equal([
        '2',
        record.envelope.effects.map(({ src }) => src),
      ]);
      await lab.ask({ type: 'alloc.recover', isNewBoot: end === 'recovering' });
      lab.faults.clear();
      lab.slots.forEach(({ allocId: holder }, id) => {
        if (end === 'prepared' && holder !== allocId) lab.slots.delete(id);
      });
      // What hangs in the run of before is over with that: whoever is killed once more finds it so.
      await lab.start();
      await lab.ask({ type: 'alloc.recover', isNewBoot: end === 'recovering' });
      await lab.lab.clock.advance(120_000);
      expect(stateOf(lab)).to.equal(end);
      if (end === 'recovering') {
        await lab.prepare(['data', 'log']);
        expect(stateOf(lab)).to.equal('prepared');
      }
      const isHad = stateOf(lab) === 'prepared';
      expect([own(lab), [...lab.mounted].sort()]).to.deep.equal(
        isHad
          ? [
              ['data', 'log'],
              ['data', 'log'],
            ]
          : [[], []],
      );
      if (isHad) {
        const context = lab.view()?.context;
        const mounts = context && mountsOf(context);
        expect(mounts?.map(({ hostPath }) => hostPath)).to.deep.equal(['/host/data', '/host/log']);
      }
    });
  }
});
