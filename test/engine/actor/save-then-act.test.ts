/** Save, then act: while the store's answer is held back, nothing that a step asked for happens. */
import { expect } from 'chai';
import type { Engine } from '../../../src/engine/engine.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { historyOf, Lab, type Life, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { napMs, workerKind } from '../worker.js';

describe('save, then act', () => {
  let lab: Lab;
  let life: Life;
  let engine: Engine;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    life = await lab.start([deskKind, workerKind({ work })]);
    engine = life.engine;
  });

  for (const moment of ['before', 'after'] as const) {
    describe(`the store's answer held back ${moment} it wrote`, () => {
      let release: () => void;

      beforeEach(() => {
        release = life.store.hold('commit', moment);
      });

      it('no effect starts; after the answer it does', async () => {
        void engine.ask('worker/a', { type: 'work', job: 'dig' });
        await lab.rest();
        expect(work.calls).to.have.length(0);
        release();
        await lab.rest();
        expect(work.last).to.deep.include({ address: 'worker/a', id: 'work', seq: 1, input: { job: 'dig' } });
      });

      it('no timer starts; its delay still counts from the moment of its event', async () => {
        void engine.ask('worker/a', { type: 'nap' });
        await lab.clock.advance(napMs - 1);
        release();
        await lab.rest();
        expect(engine.peek('worker/a')).to.include({ state: 'napping' });
        await lab.clock.advance(1);
        expect(engine.peek('worker/a')).to.include({ state: 'idle' });
      });

      it('no message goes out', async () => {
        void engine.ask('desk/a', tell(noteTo('desk/b', 'hello')));
        await lab.rest();
        expect(life.store.commits.flat().map(({ address }) => address)).to.deep.equal(['desk/a']);
        release();
        await lab.rest();
        expect(engine.peek('desk/b')?.context).to.deep.include({ notes: ['hello'] });
      });

      it('no broadcast goes out', async () => {
        void engine.ask('desk/a', say('hello'));
        await lab.rest();
        expect(await topicOf(lab, deskTopic)).to.have.length(0);
        release();
        await lab.rest();
        expect(await topicOf(lab, deskTopic)).to.have.length(1);
      });

      it('no caller gets an answer, and no observer sees the new state', async () => {
        let notices = 0;
        engine.observe(() => {
          notices += 1;
        });
        const asked = watched(engine.ask('desk/a', note('hello')));
        await lab.rest();
        expect(asked.state).to.equal('open');
        expect(engine.peek('desk/a')).to.equal(undefined);
        expect(notices).to.equal(0);
        release();
        await lab.rest();
        expect(asked.state).to.equal('answered');
        expect(engine.peek('desk/a')).to.include({ seq: 1 });
        expect(notices).to.equal(1);
      });
    });
  }

  it('state is left at the commit, not before: its effect goes on until then', async () => {
    await engine.ask('worker/a', { type: 'work', job: 'dig' });
    const release = life.store.hold('commit');
    void engine.ask('worker/a', { type: 'leave' });
    await lab.rest();
    expect(work.last.signal.aborted).to.equal(false);
    release();
    await lab.rest();
    expect(work.last.signal.aborted).to.equal(true);
  });

  it('messages during a commit: none is handled until it is done, then they share one', async () => {
    await engine.ask('desk/a', note('first'));
    const before = life.store.commits.length;
    const release = life.store.hold('commit');
    for (const text of ['second', 'third', 'fourth']) void engine.ask('desk/a', note(text));
    await lab.rest();
    expect(life.store.commits.slice(before).flat()).to.have.length(1);
    release();
    await lab.rest();
    expect(engine.peek('desk/a')?.context).to.deep.include({ notes: ['first', 'second', 'third', 'fourth'] });
    const [second, rest, ...others] = life.store.commits.slice(before).flat();
    expect([second?.journalBefore, rest?.journalBefore?.length, others.length]).to.deep.equal([undefined, 1, 0]);
  });

  it('many actors commit at once: one store call carries them all', async () => {
    const addresses = Array.from({ length: 100 }, (_, index) => `desk/${index}`);
    for (const address of addresses) await engine.ask(address, note('begin'));
    const before = life.store.commits.length;
    await Promise.all(addresses.map((address) => engine.ask(address, note('together'))));
    expect(life.store.commits.slice(before).map((items) => items.length)).to.deep.equal([100]);
  });

  it('commit of one actor waits: other actors do not wait for it', async () => {
    await engine.ask('desk/b', note('begin'));
    const release = life.store.hold('commit', 'before', 1);
    const slow = watched(engine.ask('desk/a', note('slow')));
    await lab.rest();
    const quick = watched(engine.ask('desk/b', note('quick')));
    await lab.rest();
    expect([slow.state, quick.state]).to.deep.equal(['open', 'answered']);
    release();
    await lab.rest();
    expect(slow.state).to.equal('answered');
  });

  it('time and random value of an event come from the engine, and the journal keeps both', async () => {
    await lab.clock.advance(5_000);
    await engine.ask('desk/a', { type: 'note', text: 'x', at: 1, random: 7 });
    for await (const entry of engine.journals.entries('desk/a')) {
      expect(entry.at).to.equal(lab.clock.now());
      expect(entry.random).to.be.within(0, 1);
    }
  });

  it('caller changes its event after asking: no effect', async () => {
    const event = { type: 'note', text: 'as asked' };
    const asked = engine.ask('desk/a', event);
    event.text = 'changed';
    await asked;
    expect(engine.peek('desk/a')?.context).to.deep.include({ notes: ['as asked'] });
  });

  it('caller changes its answer: no effect', async () => {
    await engine.ask('desk/a', note('one'));
    const answer = await engine.ask('desk/a', { type: 'read' });
    if (Array.isArray(answer)) answer.push('mine');
    expect(answer).to.deep.equal(['one', 'mine']);
    expect(await engine.ask('desk/a', { type: 'read' })).to.deep.equal(['one']);
  });

  it('observer that throws disturbs nobody', async () => {
    engine.observe(() => {
      throw new Error('the observer broke');
    });
    await engine.ask('desk/a', note('one'));
    expect(await historyOf(engine, 'desk/a')).to.deep.equal(['event note']);
    expect(lab.logged.map(({ message }) => message)).to.deep.equal(['an observer threw: the observer broke']);
  });
});
