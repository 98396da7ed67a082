/**
 * Failing store: no outcome is assumed, no message is handled meanwhile, and the same commit is repeated until
 * answered.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { Commit } from '../../../src/engine/store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, historyOf, Lab, type Life, type Outcome, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { napMs, workerKind } from '../worker.js';

describe('store failures', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })]);
  };
  const commitIds = (): string[] => life.store.commits.flat().map(({ commitId }) => commitId);
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });

  for (const moment of ['before', 'after'] as const) {
    describe(`commit fails ${moment} the write`, () => {
      it('caller gets STORE_UNAVAILABLE with unknown outcome, at once', async () => {
        life.store.fail('commit', moment);
        const error = await failureOf(life.engine.ask('desk/a', note('one')));
        expect(error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown', address: 'desk/a' });
        expect(error.cause).to.be.instanceOf(Error);
      });

      it('same commit is repeated until it is answered, and counts once', async () => {
        life.store.fail('commit', moment, 5);
        await failureOf(life.engine.ask('desk/a', note('one')));
        await lab.clock.advance(60_000);
        expect(new Set(commitIds()).size).to.equal(1);
        expect(life.store.commits).to.have.length(6);
        expect(await notes()).to.deep.equal(['one']);
        expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['event note', 'event read']);
      });

      it('actor handles nothing meanwhile; then its messages go on, in order', async () => {
        life.store.fail('commit', moment, 3);
        await failureOf(life.engine.ask('desk/a', note('one')));
        const asked = [
          watched(life.engine.ask('desk/a', note('two'))),
          watched(life.engine.ask('desk/a', note('three'))),
        ];
        await lab.rest();
        expect(new Set(commitIds()).size).to.equal(1);
        expect(asked.map(({ state }) => state)).to.deep.equal(['open', 'open']);
        await lab.clock.advance(60_000);
        expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
        expect(await notes()).to.deep.equal(['one', 'two', 'three']);
      });

      it('effects of the step happen once the store answers, not before', async () => {
        life.store.fail('commit', moment, 3);
        await failureOf(life.engine.ask('worker/a', { type: 'work', job: 'dig' }));
        await lab.rest();
        expect(work.calls).to.have.length(0);
        await lab.clock.advance(60_000);
        expect(work.calls).to.have.length(1);
        work.last.finish('gold');
        await lab.rest();
        expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['gold'] });
      });

      it('effect ends or timer fires meanwhile: neither is lost', async () => {
        await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
        await life.engine.ask('worker/b', { type: 'nap' });
        await lab.clock.advance(napMs - 10);
        life.store.fail('commit', moment, 8);
        work.last.finish('gold');
        await lab.clock.advance(60_000);
        expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['gold'] });
        expect(life.engine.peek('worker/b')?.context).to.deep.include({ naps: 1 });
      });

      it('messages and broadcasts go out once', async () => {
        life.store.fail('commit', moment, 2);
        await failureOf(life.engine.ask('desk/a', tell(noteTo('desk/b', 'hello'))));
        await lab.clock.advance(60_000);
        life.store.fail('commit', moment, 2);
        await failureOf(life.engine.ask('desk/a', say('hello')));
        await lab.clock.advance(60_000);
        expect(await notes('desk/b')).to.deep.equal(['hello']);
        expect(await topicOf(lab, deskTopic)).to.have.length(1);
      });

      it('request repeated under its id meanwhile: same answer as the first, and counts once', async () => {
        life.store.fail('commit', moment, 2);
        await failureOf(life.engine.ask('desk/a', note('one'), { requestId: 'r1' }));
        const again = watched(life.engine.ask('desk/a', note('one'), { requestId: 'r1' }));
        await lab.clock.advance(60_000);
        expect(again.state).to.equal('answered');
        expect(await notes()).to.deep.equal(['one']);
      });

      it('runtime dies before the store answers: the repeat under its id counts once', async () => {
        life.store.fail('commit', moment, 1_000);
        await failureOf(life.engine.ask('desk/a', note('one'), { requestId: 'r1' }));
        await start();
        await life.engine.ask('desk/a', note('one'), { requestId: 'r1' });
        expect(await notes()).to.deep.equal(['one']);
      });

      it('runtime stops before the store answers: no repeat, and no timer remains', async () => {
        life.store.fail('commit', moment, 1_000);
        await failureOf(life.engine.ask('desk/a', note('one')));
        await lab.clock.advance(1_000);
        const attempts = life.store.commits.length;
        await life.engine.stop();
        expect(lab.clock.pending).to.equal(0);
        await lab.clock.advance(60_000);
        expect(life.store.commits).to.have.length(attempts);
      });
    });
  }

  it('repeats come with growing delays, at most a second', async () => {
    life.store.fail('commit', 'before', 1_000);
    const began = lab.clock.now();
    const attempts: number[] = [];
    await failureOf(life.engine.ask('desk/a', note('one')));
    for (let known = 1; attempts.length < 10; ) {
      await lab.clock.advance(10);
      if (life.store.commits.length > known) attempts.push(lab.clock.now() - began);
      known = life.store.commits.length;
    }
    const distances = attempts.map((at, index) => at - (attempts[index - 1] ?? 0));
    expect(distances).to.deep.equal([50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000, 1_000]);
  });

  it('one batch without an answer: other actors go on', async () => {
    await life.engine.ask('desk/b', note('begin'));
    life.store.fail('commit', 'before', 1);
    await failureOf(life.engine.ask('desk/a', note('one')));
    await life.engine.ask('desk/b', note('quick'));
    expect(await notes('desk/b')).to.deep.equal(['begin', 'quick']);
  });

  it('load fails for a while: messages wait, and are handled in order afterwards', async () => {
    life.store.fail('load', 'before', 5);
    const asked = [watched(life.engine.ask('desk/a', note('one'))), watched(life.engine.ask('desk/a', note('two')))];
    await lab.clock.advance(900);
    expect(asked.map(({ state }) => state)).to.deep.equal(['open', 'open']);
    await lab.clock.advance(100);
    expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
    expect(await notes()).to.deep.equal(['one', 'two']);
    expect(lab.logged.map(({ message }) => message)).to.deep.equal([
      "the store can't load an actor now: load: no connection",
      'the store: in order again after 1 s and 5 failures',
    ]);
  });

  it('load fails until the runtime stops: callers get RUNTIME_CLOSED', async () => {
    life.store.fail('load', 'before', 1_000);
    const asked = watched(life.engine.ask('desk/a', note('one')));
    await lab.clock.advance(1_000);
    await life.engine.stop();
    expect(asked.error).to.include({ code: 'RUNTIME_CLOSED' });
    expect(lab.clock.pending).to.equal(0);
  });

  describe('record written by another runtime, unknown to the actor', () => {
    /** Sends a request to an actor that never existed, while another writer begins the actor. */
    const askTooLate = async (address: string, begin: Partial<Commit>, event: AnyEventObject): Promise<Outcome> => {
      const release = life.store.hold('commit');
      const asked = watched(life.engine.ask(address, event));
      await lab.rest();
      const foreign = { address, commitId: 'foreign', expectedSeq: 0, epoch: 0, owner: 'x', text: '{}', journal: '{}' };
      await lab.data.commit([{ ...foreign, ...begin }]);
      release();
      await lab.rest();
      return asked;
    };

    it('commit conflicts: the actor is quarantined, and its callers get the reason', async () => {
      const asked = await askTooLate('desk/a', {}, note('two'));
      expect(asked.error).to.include({ code: 'ACTOR_QUARANTINED' });
      const error = await failureOf(life.engine.ask('desk/a', note('four')));
      expect(error).to.include({ code: 'ACTOR_QUARANTINED' });
      expect(error.message).to.include('the store holds seq 1, but this runtime last wrote seq 0');
      expect(await lab.data.load('desk/a')).to.include({ seq: 1, commitId: 'foreign' });
      expect(life.engine.quarantined().map(({ address }) => address)).to.deep.equal(['desk/a']);
    });

    it('another actor in the same store call goes on', async () => {
      const release = life.store.hold('commit');
      const outcomes = ['desk/a', 'desk/b'].map((address) => watched(life.engine.ask(address, note('two'))));
      await lab.rest();
      const foreign = { commitId: 'foreign', expectedSeq: 0, epoch: 0, owner: 'x', text: '{}', journal: '{}' };
      await lab.data.commit([{ address: 'desk/a', ...foreign }]);
      release();
      await lab.rest();
      expect(life.store.commits.at(-1)).to.have.length(2);
      expect(outcomes.map(({ state }) => state)).to.deep.equal(['rejected', 'answered']);
      expect(await notes('desk/b')).to.deep.equal(['two']);
    });

    it('34.16 record with a higher epoch, and the lease is ours: only the actor is out of service', async () => {
      const asked = await askTooLate('desk/a', { epoch: 9 }, note('two'));
      expect(asked.error).to.include({ code: 'ACTOR_QUARANTINED' });
      expect(await lab.data.load('desk/a')).to.include({ seq: 1, commitId: 'foreign' });
      await life.engine.ask('desk/b', note('two'));
    });
  });

  describe('record ahead of what the store has confirmed', () => {
    it('actor continues from that record, and then handles its messages', async () => {
      await life.engine.ask('desk/a', note('one'));
      const stored = await lab.data.load('desk/a');
      if (!stored) throw new Error('nothing is stored');
      const { address, seq, epoch, owner } = stored;
      const text = stored.text.replace('"one"', '"one","lied about"');
      await lab.data.commit([{ address, commitId: 'lied', expectedSeq: seq, epoch, owner, text, journal: '{}' }]);
      await life.engine.ask('desk/a', note('two'));
      expect(await notes('desk/a')).to.deep.equal(['one', 'lied about', 'two']);
    });
  });
});
