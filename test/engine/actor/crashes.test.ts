/** Crash of an actor: journalled, state unchanged, caller told, event not retried; other actors go on. */
import { expect } from 'chai';
import { createMachine } from 'xstate';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, historyOf, journalOf, Lab, type Life, textsOf, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

describe('crash of an actor', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })]);
  };
  const ask = (event: { type: string }): Promise<unknown> => life.engine.ask('desk/a', event);
  /** Record without its list of crashes. */
  const storedState = async (): Promise<object> => {
    const { crashes: _, ...state } = JSON.parse((await lab.data.load('desk/a'))?.text ?? '');
    return state;
  };

  for (const [type, message] of [
    ['breakAction', 'the action broke'],
    ['breakGuard', 'the guard broke'],
  ] as const) {
    it(`${type} throws: the caller gets the reason, the state is unchanged, and the next event works`, async () => {
      await ask(note('one'));
      const before = await storedState();
      const error = await failureOf(ask({ type }));
      expect(error).to.include({ code: 'ACTOR_CRASHED', address: 'desk/a' });
      expect(error.message).to.include(message);
      expect(await storedState()).to.deep.equal(before);
      await ask(note('two'));
      expect(life.engine.peek('desk/a')).to.deep.include({
        seq: 3,
        context: { name: 'desk/a', notes: ['one', 'two'] },
      });
      const [, crash] = await journalOf(life.engine, 'desk/a');
      expect(crash).to.deep.include({ seq: 2, kind: 'crash' });
      expect(crash?.error).to.include(message);
      expect(crash?.event).to.include({ type });
    });
  }

  for (const what of ['context', 'answer', 'message', 'broadcast']) {
    it(`${what} that JSON cannot hold: a crash; nothing of the step is written or sent`, async () => {
      await ask(note('one'));
      const before = await storedState();
      expect(await failureOf(ask({ type: 'swell', ...{ what } }))).to.include({ code: 'ACTOR_CRASHED' });
      await lab.rest();
      expect(await storedState()).to.deep.equal(before);
      expect(await lab.data.load('desk/b')).to.equal(undefined);
      expect(await topicOf(lab, deskTopic)).to.deep.equal([]);
      expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
      await ask(note('two'));
      expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['event note', 'crash swell', 'event note']);
    });
  }

  it('after a restart neither the event nor the crash comes again', async () => {
    await failureOf(ask({ type: 'breakAction' }));
    await restart();
    await ask(note('one'));
    expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['crash breakAction', 'event note']);
  });

  it('message crashes its receiver: counts as handled, and the next message arrives', async () => {
    await ask(note('x'));
    life.store.hold('settle');
    await ask(tell({ to: 'desk/b', event: { type: 'breakAction' } }, noteTo('desk/b', 'hello')));
    await lab.rest();
    await restart();
    expect(await historyOf(life.engine, 'desk/b')).to.deep.equal(['crash breakAction', 'event note']);
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('one actor crashes: others in the same store call, its later messages and its broadcasts go on', async () => {
    const outcomes = [
      watched(ask({ type: 'breakAction' })),
      watched(ask(say('still here'))),
      watched(life.engine.ask('desk/b', note('one'))),
    ];
    await lab.rest();
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['rejected', 'answered', 'answered']);
    expect(textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text)).to.deep.equal(['still here']);
  });

  it('a crash is reported to the log and to observers', async () => {
    const kinds: string[] = [];
    life.engine.observe(({ entry }) => void kinds.push(entry.kind));
    await failureOf(ask({ type: 'breakAction' }));
    expect(kinds).to.deep.equal(['crash']);
    expect(lab.logged).to.deep.equal([
      {
        level: 'error',
        fields: { address: 'desk/a', seq: 1, code: 'ACTOR_CRASHED' },
        message: 'actor crashed: the action broke',
      },
    ]);
  });

  it('error of an effect that no transition takes: a crash, not the end of the actor', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig', careless: true });
    work.last.fail(new Error('the shovel broke'));
    await lab.rest();
    expect(life.engine.peek('worker/a')).to.include({ state: 'careless' });
    const [, crash] = await journalOf(life.engine, 'worker/a');
    expect(crash).to.deep.include({ kind: 'crash', error: 'no transition takes the error: the shovel broke' });
    await life.engine.ask('worker/a', { type: 'leave' });
    expect(life.engine.peek('worker/a')).to.include({ state: 'idle' });
  });

  it('result of an effect crashes the actor: the state still waits, and the effect runs again', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig', careless: true });
    work.last.finish('gold');
    await lab.rest();
    expect(await historyOf(life.engine, 'worker/a')).to.deep.equal(['event work', 'crash xstate.done.actor.careless']);
    await lab.clock.advance(100);
    expect(work.calls).to.have.length(2);
    expect(work.last).to.include({ attempt: 2, recovered: false });
  });

  describe('in its first step', () => {
    const stillborn = createMachine({
      id: 'stillborn',
      context: ({ input }: { input: { fault?: string } }) => {
        if (input.fault) throw new Error(input.fault);
        return {};
      },
    });

    for (const [what, begin] of [
      ['its context throws', () => ({ fault: 'no context' })],
      [
        'its input function throws',
        (): object => {
          throw new Error('no input');
        },
      ],
      ['its input is not plain data', () => ({ much: 10n })],
    ] as const) {
      it(`${what}: the caller and the journal get the error, and no actor exists`, async () => {
        const kind: ActorKind = { machine: stillborn, effects: {}, begin };
        life = await lab.start([kind]);
        expect(await failureOf(life.engine.ask('stillborn/a', { type: 'go' }))).to.include({ code: 'ACTOR_CRASHED' });
        expect(await historyOf(life.engine, 'stillborn/a')).to.deep.equal(['crash go']);
        expect(life.engine.peek('stillborn/a')).to.equal(undefined);
        expect(await lab.data.load('stillborn/a')).to.include({ gone: true, seq: 1 });
        expect(await life.engine.journals.replay('stillborn/a')).to.deep.include({ seq: 1, snapshot: undefined });
      });
    }
  });

  it('machine emits, but its kind has no topic: a crash that says so', async () => {
    const { topic, ...silent } = deskKind;
    expect(topic).to.be.a('function');
    life = await lab.start([silent]);
    const error = await failureOf(ask(say('hello')));
    expect(error).to.include({ code: 'ACTOR_CRASHED', message: "desk emits 'said', but its kind has no topic" });
  });
});
