/**
 * Replay: the journal alone gives back every committed snapshot to the byte, whatever died in between. No effect runs.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { createMachine } from 'xstate';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import type { Engine } from '../../../src/engine/engine.js';
import type { Moment } from '../../../src/engine/machine/replay.js';
import type { Commit, Store } from '../../../src/engine/store.js';
import { seqOf } from '../../../src/stores/commit-rule.js';
import { deskKind, deskMachine, deskTopic, note, noteTo, tell } from '../desk.js';
import { failureOf, Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { mazeMachine, mazeMoves } from '../maze.js';
import { workerKind } from '../worker.js';

const mazeKind = (dig: ManualEffect): ActorKind => ({
  machine: mazeMachine,
  effects: { dig },
  begin: () => ({}),
  topic: () => deskTopic,
});

type Move =
  | { do: 'ask'; address: string; type: string; text: string; to: string }
  | { do: 'wait'; ms: number }
  | { do: 'end'; which: number; fails: boolean }
  | { do: 'crash' | 'stop' | 'rest' };

const addresses = ['desk/a', 'desk/b', 'maze/a', 'worker/a'];
const types = [
  ...mazeMoves,
  ...['note', 'tell', 'close', 'breakAction', 'breakGuard', 'swell', 'read', 'say'],
  ...['work', 'nap', 'again', 'leave', 'listen'],
];
const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      address: fc.constantFrom(...addresses),
      type: fc.constantFrom(...types),
      text: fc.string({ maxLength: 3 }),
      to: fc.constantFrom(...addresses),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 100, 70_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(5), fails: fc.boolean() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'stop' as const, 'rest' as const) }) },
);

/** Records that the store accepted, by address and seq. */
class Committed {
  readonly texts = new Map<string, Map<number, string>>();

  readonly through = (store: Store): Store => ({
    ...store,
    commit: async (items) => {
      const results = await store.commit(items);
      for (const [index, { status }] of results.entries()) if (status === 'done') this.#keep(items[index]);
      return results;
    },
  });

  #keep(commit: Commit | undefined): void {
    if (!commit) return;
    const known = this.texts.get(commit.address) ?? new Map<number, string>();
    known.set(seqOf(commit), commit.text);
    this.texts.set(commit.address, known);
  }
}

/** Returns what a replay can know of a record: not how long its calls may go on, and to whom they went. */
function replayable(text: string): string {
  const { snapshot, effects, timers } = JSON.parse(text);
  return JSON.stringify({ snapshot, effects, timers }, (key, value) =>
    key === 'lastsMs' || key === 'recipient' ? undefined : value,
  );
}

describe('replay', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(() => {
    lab = new Lab();
  });

  it('J2 J6 random histories with restarts: state, effects and timers are replayed to the byte, at every seq', async () => {
    const property = fc.asyncProperty(fc.array(moves, { minLength: 5, maxLength: 40 }), async (history) => {
      lab = new Lab();
      const committed = new Committed();
      const effect = manualEffect();
      const kinds = [deskKind, workerKind({ work: effect, listen: effect }), mazeKind(effect)];
      const start = async (): Promise<void> => {
        life = await lab.start(kinds, { through: committed.through });
      };
      await start();
      for (const move of history) {
        if (move.do === 'ask') {
          const messages = [noteTo(move.to, move.text), noteTo('desk/b', move.text)];
          const event = { ...move, job: move.text, messages, what: 'context', tell: messages };
          life.engine.ask(move.address, event).catch(() => {});
        } else if (move.do === 'wait') await lab.clock.advance(move.ms);
        else if (move.do === 'end') endOne(effect, move);
        else if (move.do === 'crash') await start();
        else if (move.do === 'rest') await lab.rest();
        else {
          await lab.stop(life.engine);
          await start();
        }
      }
      await lab.rest();
      await expectReplayable(life.engine, committed);
    });
    await fc.assert(property, { seed: 12, numRuns: 120 });
  });

  it('actor with effects: none of them runs in a replay', async () => {
    const work = manualEffect();
    life = await lab.start([workerKind({ work })]);
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await life.engine.ask('worker/a', { type: 'again' });
    expect(await life.engine.journals.replay('worker/a')).to.deep.equal({
      seq: 2,
      snapshot: { value: 'working', context: { results: [], naps: 0 } },
      effects: [{ id: 'work', src: 'work', input: { job: 'again' }, seq: 2 }],
      timers: [],
    });
    expect(work.calls).to.have.length(2);
  });

  it('actor that ended and was created again: each of its lives is replayed', async () => {
    life = await lab.start([deskKind]);
    for (const event of [note('1'), { type: 'close' }, note('2')]) await life.engine.ask('desk/a', event);
    const replayed = [0, 1, 2, 3].map((to) => life.engine.journals.replay('desk/a', to));
    expect((await Promise.all(replayed)).map(({ snapshot }) => snapshot?.context)).to.deep.equal([
      undefined,
      { name: 'desk/a', notes: ['1'] },
      undefined,
      { name: 'desk/a', notes: ['2'] },
    ]);
  });

  it('actor that never existed: the replay is empty', async () => {
    life = await lab.start([deskKind]);
    expect(await life.engine.journals.replay('desk/a')).to.deep.equal({
      seq: 0,
      snapshot: undefined,
      effects: [],
      timers: [],
    });
  });

  it('journal longer than a page: replayed to its end', async () => {
    life = await lab.start([deskKind]);
    for (let at = 0; at < 1_030; at += 1) void life.engine.ask('desk/a', { type: 'read' });
    while (life.engine.peek('desk/a')?.seq !== 1_030) await lab.rest();
    expect(await life.engine.journals.replay('desk/a')).to.include({ seq: 1_030 });
  });

  it('J2 long journal: from the middle it is replayed from the last kept state, not from the beginning', async () => {
    life = await lab.start([deskKind]);
    for (let at = 1; at <= 1_030; at += 1) void life.engine.ask('desk/a', note(String(at)));
    while (life.engine.peek('desk/a')?.seq !== 1_030) await lab.rest();
    await lab.data.trimJournal('desk/a', 601);
    const { snapshot } = await life.engine.journals.replay('desk/a', 903);
    expect(snapshot?.context).to.have.property('notes').with.length(903);
    expect(await failureOf(life.engine.journals.replay('desk/a', 799))).to.include({ code: 'JOURNAL_BROKEN' });
    expect(await life.engine.journals.replay('desk/a', 10 ** 12)).to.include({ seq: 1_030 });
  });

  it('J2 step by step: each step with what it asked for; the steps before the range are not among them', async () => {
    life = await lab.start([deskKind, workerKind({ work: manualEffect() })]);
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await life.engine.ask('worker/a', { type: 'nap' });
    await life.engine.ask('worker/a', { type: 'leave' });
    await life.engine.ask('worker/a', { type: 'nap' });
    const steps: Moment[] = [];
    for await (const moment of life.engine.journals.moments('worker/a', 2, 4)) steps.push(moment);
    expect(
      steps.map(({ seq, snapshot, effects, timers }) => [seq, snapshot?.value, effects.length, timers.length]),
    ).to.deep.equal([
      [2, 'working', 1, 0],
      [3, 'idle', 0, 0],
      [4, 'napping', 0, 1],
    ]);
  });

  it('J7 a crash: the replay throws the same error again, with its stack, and goes on', async () => {
    life = await lab.start([deskKind]);
    for (const event of [note('1'), { type: 'breakAction' }, note('2')])
      await life.engine.ask('desk/a', event).catch(() => {});
    const steps: Moment[] = [];
    for await (const moment of life.engine.journals.moments('desk/a')) steps.push(moment);
    expect(steps.map(({ thrown }) => thrown?.message)).to.deep.equal([undefined, 'the action broke', undefined]);
    expect(steps[1]?.thrown?.stack).to.contain('desk.ts');
    expect(steps[2]?.snapshot?.context).to.deep.include({ notes: ['1', '2'] });
  });

  it('J7 a guard that threw: the replay has its own error, with its stack, as the cause', async () => {
    life = await lab.start([deskKind]);
    for (const event of [note('1'), { type: 'breakGuard' }]) await life.engine.ask('desk/a', event).catch(() => {});
    let thrown: Error | undefined;
    for await (const moment of life.engine.journals.moments('desk/a', 2)) thrown = moment.thrown;
    expect(thrown?.message).to.contain("guard 'isBroken'");
    expect(thrown?.cause).to.be.instanceOf(Error).with.property('message', 'the guard broke');
    expect(thrown?.cause).to.have.property('stack').that.contains('desk.ts');
  });

  it('start of the journal trimmed: JOURNAL_BROKEN names what is missing', async () => {
    life = await lab.start([deskKind]);
    for (const text of ['1', '2', '3']) await life.engine.ask('desk/a', note(text));
    await lab.data.trimJournal('desk/a', 2);
    const error = await failureOf(life.engine.journals.replay('desk/a'));
    expect(error).to.include({ code: 'JOURNAL_BROKEN', message: 'what came before entry 2 was forgotten' });
  });

  it('entry of another version: JOURNAL_BROKEN names it; earlier entries can be replayed', async () => {
    life = await lab.start([deskKind]);
    await life.engine.ask('desk/a', note('1'));
    await life.engine.ask('desk/a', { type: 'close' });
    const machine = createMachine({ ...deskMachine.config, version: '2' }).provide(deskMachine.implementations);
    life = await lab.start([{ ...deskKind, machine }]);
    const error = await failureOf(life.engine.journals.replay('desk/a'));
    expect(error).to.include({
      code: 'JOURNAL_BROKEN',
      message: 'entry 1 is of desk version 1; this runtime has version 2',
    });
    await life.engine.ask('desk/a', note('of version 2'));
    life = await lab.start([deskKind]);
    expect(await failureOf(life.engine.journals.replay('desk/a'))).to.include({ code: 'JOURNAL_BROKEN' });
    expect(await life.engine.journals.replay('desk/a', 2)).to.deep.include({ seq: 2, snapshot: undefined });
  });

  it('damaged entry: JOURNAL_BROKEN names its place', async () => {
    life = await lab.start([deskKind], {
      through: (store) => ({
        ...store,
        commit: (items) =>
          store.commit(items.map((item) => (item.expectedSeq === 1 ? { ...item, journal: '{' } : item))),
      }),
    });
    for (const text of ['1', '2', '3']) await life.engine.ask('desk/a', note(text));
    const error = await failureOf(life.engine.journals.replay('desk/a'));
    expect(error).to.include({ code: 'JOURNAL_BROKEN', address: 'desk/a' });
    expect(error.message).to.include('entry 2');
    expect(await life.engine.journals.replay('desk/a', 1)).to.include({ seq: 1 });
  });

  it('machine that is not hosted here: cannot be replayed', async () => {
    life = await lab.start([deskKind]);
    expect(await failureOf(life.engine.journals.replay('stranger/a'))).to.include({ code: 'ACTOR_NOT_FOUND' });
  });

  it('messages and begins are replayed as they came', async () => {
    life = await lab.start([deskKind]);
    await life.engine.ask('desk/a', tell({ to: 'desk/b', input: { name: 'Bea' } }, noteTo('desk/b', 'hello')));
    await lab.rest();
    expect((await life.engine.journals.replay('desk/b')).snapshot?.context).to.deep.equal({
      name: 'Bea',
      notes: ['hello'],
    });
  });
});

function endOne({ calls }: ManualEffect, { which, fails }: { which: number; fails: boolean }): void {
  const call = calls.at(-1 - which);
  if (fails) call?.fail(new Error('no'));
  else call?.finish('done');
}

async function expectReplayable(engine: Engine, { texts }: Committed): Promise<void> {
  for (const [address, bySeq] of texts) {
    for (const [seq, text] of bySeq) {
      const replayed = await engine.journals.replay(address, seq);
      expect(replayed.seq).to.equal(seq);
      const { snapshot, effects, timers } = replayed;
      const { quarantined } = JSON.parse(text);
      expect(JSON.stringify({ snapshot, effects, timers }), `${address} ${seq} ${quarantined}`).to.equal(
        replayable(text),
      );
    }
  }
}
