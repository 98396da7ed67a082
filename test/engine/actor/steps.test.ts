/** Messages that wait for a commit share the next one: all their steps are written, or none is. */
import { expect } from 'chai';
import type { Commit, Store } from '../../../src/engine/store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { historyOf, journalOf, Lab, type Life, type Outcome, textsOf, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

describe('messages that share a commit', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  let before: number;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })]);
    for (const address of ['desk/a', 'desk/b']) await life.engine.ask(address, note('begin'));
    await life.engine.ask('worker/a', { type: 'leave' });
    before = life.store.commits.length;
  };
  /** Commits since the start to this address, without repeats of a call. */
  const commits = (address = 'desk/a'): Commit[] =>
    life.store.commits
      .slice(before)
      .flat()
      .filter((commit) => commit.address === address);
  const steps = (address?: string): number[] =>
    commits(address).map(({ journalBefore = [] }) => journalBefore.length + 1);
  const ask = (event: Parameters<Life['engine']['ask']>[1], address = 'desk/a', requestId?: string): Outcome =>
    watched(life.engine.ask(address, event, requestId ? { requestId } : {}));
  const states = (asked: Outcome[]): string[] => asked.map(({ state }) => state);
  const notes = (): unknown => life.engine.peek('desk/a')?.context;
  /** Asks a desk while its commit is under way, then lets that go on. */
  const askTogether = async (...events: Parameters<typeof ask>[0][]): Promise<Outcome[]> => {
    const release = life.store.hold('commit');
    const asked = [note('first'), ...events].map((event) => ask(event));
    await lab.rest();
    release();
    await lab.rest();
    return asked;
  };

  it('each has its answer, its entry and its seq, and the record is that of the last', async () => {
    const asked = await askTogether(note('second'), { type: 'read' }, note('third'));
    expect(steps()).to.deep.equal([1, 3]);
    expect(asked[2]?.value).to.deep.equal(['begin', 'first', 'second']);
    const entries = await journalOf(life.engine, 'desk/a');
    expect(entries.map(({ seq, event }) => `${seq} ${event?.type}`)).to.deep.equal([
      '1 note',
      '2 note',
      '3 note',
      '4 read',
      '5 note',
    ]);
    expect(await lab.data.load('desk/a')).to.deep.include({ seq: 5 });
    for (const seq of [3, 4, 5]) expect(await life.engine.journals.replay('desk/a', seq)).to.deep.include({ seq });
    await start();
    expect(notes()).to.deep.include({ notes: ['begin', 'first', 'second', 'third', 'begin'] });
  });

  it('their events and messages have the places of their own steps', async () => {
    await askTogether(
      say('one'),
      note('silent'),
      { type: 'sayBoth', texts: ['two', 'three'] },
      tell(noteTo('desk/b', 'four')),
    );
    expect(steps()).to.deep.equal([1, 4]);
    const told = (await topicOf(lab, deskTopic)).map(({ seq, index, text }) => [seq, index, JSON.parse(text).text]);
    expect(told).to.deep.equal([
      [3, 0, 'one'],
      [5, 0, 'two'],
      [5, 1, 'three'],
    ]);
    const [, received] = await journalOf(life.engine, 'desk/b');
    expect(received?.source).to.deep.equal({ kind: 'message', address: 'desk/a', seq: 6, index: 0 });
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  for (const moment of ['before', 'after'] as const)
    it(`runtime dies ${moment} the commit is written: what they owe arrives once if it was`, async () => {
      const first = life.store.hold('commit', moment);
      const asked = [note('first'), say('one'), tell(noteTo('desk/b', 'two')), say('three')].map((event) => ask(event));
      await lab.rest();
      first();
      const together = life.store.hold('commit', moment);
      await lab.rest();
      expect(states(asked)).to.deep.equal(['answered', 'open', 'open', 'open']);
      await lab.crash();
      together();
      await start();
      await lab.rest();
      const isWritten = moment === 'after';
      expect(textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text)).to.deep.equal(
        isWritten ? ['one', 'three'] : [],
      );
      expect(life.engine.peek('desk/b')?.context).to.deep.include({
        notes: isWritten ? ['begin', 'two', 'begin'] : ['begin', 'begin'],
      });
    });

  it('request repeated under its id: both get the answer after the commit, and it counts once', async () => {
    const release = life.store.hold('commit');
    const asked = [ask(note('first')), ask(note('once'), 'desk/a', 'r'), ask(note('once'), 'desk/a', 'r')];
    await lab.rest();
    release();
    const second = life.store.hold('commit');
    await lab.rest();
    expect(states(asked)).to.deep.equal(['answered', 'open', 'open']);
    second();
    await lab.rest();
    expect(states(asked)).to.deep.equal(['answered', 'answered', 'answered']);
    expect(notes()).to.deep.include({ notes: ['begin', 'first', 'once'] });
  });

  it('state entered and left within the commit: its effect never starts', async () => {
    const release = life.store.hold('commit');
    const asked = ['leave', 'work', 'leave'].map((type) => ask({ type, job: 'dig' }, 'worker/a'));
    await lab.rest();
    release();
    await lab.rest();
    expect(states(asked)).to.deep.equal(['answered', 'answered', 'answered']);
    expect(steps('worker/a')).to.deep.equal([1, 2]);
    expect(work.calls).to.have.length(0);
    ask({ type: 'work', job: 'dig' }, 'worker/a');
    await lab.rest();
    expect(work.calls).to.have.length(1);
  });

  it('state entered again within the commit: one effect starts, the last', async () => {
    const release = life.store.hold('commit');
    for (const type of ['leave', 'work', 'again']) ask({ type, job: 'dig' }, 'worker/a');
    await lab.rest();
    release();
    await lab.rest();
    expect(work.calls.map(({ input }) => input)).to.deep.equal([{ job: 'again' }]);
    work.last.finish('done');
    await lab.rest();
    expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['done'] });
  });

  it('one makes the machine throw: its crash has a commit of its own, and the others follow', async () => {
    const asked = await askTogether(note('second'), { type: 'breakAction' }, note('third'), note('fourth'));
    expect(steps()).to.deep.equal([1, 1, 1, 2]);
    expect(states(asked)).to.deep.equal(['answered', 'answered', 'rejected', 'answered', 'answered']);
    expect(notes()).to.deep.include({ notes: ['begin', 'first', 'second', 'third', 'fourth'] });
  });

  it('one puts the actor out of service: requests behind it are refused, messages wait for the release', async () => {
    for (let crash = 0; crash < 5; crash += 1) {
      ask({ type: 'breakAction' });
      await lab.rest();
    }
    const asked = await askTogether(
      tell(noteTo('desk/a', 'self')),
      { type: 'breakAction' },
      note('behind'),
      note('last'),
    );
    expect(states(asked)).to.deep.equal(['answered', 'answered', 'rejected', 'rejected', 'rejected']);
    expect(asked.slice(3).map(({ error }) => error?.code)).to.deep.equal(['ACTOR_QUARANTINED', 'ACTOR_QUARANTINED']);
    expect(notes()).to.deep.include({ notes: ['begin', 'first'] });
    await life.engine.release('desk/a');
    await lab.rest();
    expect(notes()).to.deep.include({ notes: ['begin', 'first', 'self'] });
  });

  it('one ends the actor: the next begins another in its own commit', async () => {
    await askTogether(note('second'), { type: 'close' }, note('new'));
    expect(steps()).to.deep.equal([1, 2, 1]);
    expect(notes()).to.deep.include({ notes: ['new'] });
    expect(await historyOf(life.engine, 'desk/a')).to.have.length(5);
  });

  it('many: 32 at most share a commit, and all are applied in order', async () => {
    const texts = Array.from({ length: 70 }, (_, at) => `${at}`);
    await askTogether(...texts.map(note));
    expect(steps()).to.deep.equal([1, 32, 32, 6]);
    expect(notes()).to.deep.include({ notes: ['begin', 'first', ...texts] });
  });

  it('long texts: a commit takes no further step from 256 kB on', async () => {
    await askTogether(...['a', 'b', 'c'].map((letter) => note(letter.repeat(70_000))));
    expect(steps()).to.deep.equal([1, 2, 1]);
  });

  it('runtime dies after the commit, others ask first in the next life: repeated requests get their answers', async () => {
    const first = life.store.hold('commit', 'after');
    const ids = Array.from({ length: 32 }, (_, at) => `r${at}`);
    const asked = [ask(note('first')), ...ids.map((id) => ask(note(id), 'desk/a', id))];
    await lab.rest();
    first();
    const shared = life.store.hold('commit', 'after');
    await lab.rest();
    expect(states(asked.slice(1))).to.deep.equal(ids.map(() => 'open'));
    await lab.crash();
    shared();
    await start();
    for (let other = 0; other < 31; other += 1)
      await life.engine.ask('desk/a', note('other'), { requestId: `o${other}` });
    for (const id of ids) await life.engine.ask('desk/a', note(id), { requestId: id });
    const all: unknown = await life.engine.ask('desk/a', { type: 'read' });
    expect(Array.isArray(all) && all.filter((text) => ids.includes(text))).to.deep.equal(ids);
  });

  it('store writes a commit that it refuses: requests are refused, and each step counts once and is told', async () => {
    const listen = manualEffect('loop');
    let refusedAt = Number.POSITIVE_INFINITY;
    const through = (store: Store): Store => ({
      ...store,
      commit: async (items) => {
        const results = await store.commit(items);
        refusedAt -= 1;
        return refusedAt === 0 ? items.map(() => ({ status: 'refused', reason: 'no room' })) : results;
      },
    });
    life = await lab.start([workerKind({ listen })], { through });
    await life.engine.ask('worker/a', { type: 'listen' });
    before = life.store.commits.length;
    const told: number[] = [];
    life.engine.observe(({ seq }) => told.push(seq));
    const release = life.store.hold('commit');
    ask({ type: 'none' }, 'worker/a');
    await lab.rest();
    listen.last.send({ type: 'heard', text: 'once' });
    const asked = ask({ type: 'none' }, 'worker/a');
    refusedAt = 2;
    release();
    await lab.rest();
    expect(steps('worker/a')).to.deep.equal([1, 2]);
    expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
    expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['once'] });
    expect(told).to.deep.equal([3, 4, 5]);
  });

  it('call that was never made is not in doubt after a kill', async () => {
    const undo = Object.assign(manualEffect('loop'), { compensates: ['work'], sentDeadlineMs: 60_000 });
    work = Object.assign(manualEffect(60_000), { sentDeadlineMs: 60_000 });
    life = await lab.start([workerKind({ work, listen: undo })]);
    const release = life.store.hold('commit');
    for (const type of ['leave', 'work', 'leave']) ask({ type, job: 'dig' }, 'worker/a');
    await lab.rest();
    release();
    await lab.rest();
    expect(work.calls).to.have.length(0);
    expect(JSON.parse((await lab.data.load('worker/a'))?.text ?? '{}')).not.to.have.property('doubts');
  });

  it('store gives no answer: each caller learns that the outcome is unknown, and each counts once', async () => {
    const release = life.store.hold('commit');
    const asked = ['first', 'second', 'third'].map((text) => ask(note(text), 'desk/a', text));
    await lab.rest();
    life.store.fail('commit', 'after');
    release();
    await lab.rest();
    expect(steps()).to.deep.equal([1, 2]);
    for (const { error } of asked.slice(1)) expect(error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
    await lab.clock.advance(1_000);
    const again = ['first', 'second', 'third'].map((text) => ask(note(text), 'desk/a', text));
    await lab.rest();
    expect(states(again)).to.deep.equal(['answered', 'answered', 'answered']);
    expect(notes()).to.deep.include({ notes: ['begin', 'first', 'second', 'third'] });
  });
});
