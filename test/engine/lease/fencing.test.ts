/**
 * Fencing: each commit carries its lease; a commit of an older epoch writes nothing, and its writer learns the new
 * owner.
 */
import { expect } from 'chai';
import type { Engine } from '../../../src/engine/engine.js';
import type { CommitResult, Store } from '../../../src/engine/store.js';
import { type ControlledStore, keptOpen } from '../../support/faulty-store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, Lab, type Life, leaseTtlMs, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

describe('fencing', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  let through: (store: Store) => Store;
  /** Answer of the store to commits, instead of writing them. */
  let answers: CommitResult | undefined;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect(60_000);
    answers = undefined;
    through = (store) => {
      const inner = keptOpen(store);
      return { ...inner, commit: async (items) => (answers ? answered(items) : inner.commit(items)) };
    };
    life = await lab.start([deskKind, workerKind({ work })], { through });
  });

  const answered = (items: object[]): CommitResult[] => items.flatMap(() => answers ?? []);
  const ask = (text: string, address = 'desk/a'): Promise<unknown> => life.engine.ask(address, note(text));
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });
  const silence = (store: ControlledStore): (() => void) => {
    const releases = [store.hold('renewLease'), store.hold('acquireLease')];
    return () => releases.map((release) => release());
  };

  it('each commit names the lease and its epoch', async () => {
    await ask('one');
    const { lease, epoch } = life.store.commits[0]?.[0] ?? {};
    expect({ lease, epoch }).to.deep.equal({ lease: 'node/n1', epoch: 1 });
  });

  describe('commit answered with a newer epoch', () => {
    it('of another owner: the runtime stops, and all callers get FENCED', async () => {
      await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
      answers = { status: 'fenced', epoch: 2, owner: 'x' };
      const asked = [watched(ask('one')), watched(ask('two')), watched(ask('three', 'desk/b'))];
      await lab.rest();
      expect(asked.map(({ error }) => error?.code)).to.deep.equal(['FENCED', 'FENCED', 'FENCED']);
      expect(await life.engine.lost).to.include({ code: 'FENCED' });
      expect(work.last.signal.reason).to.include({ code: 'FENCED' });
      answers = undefined;
      const written = life.store.commits.length;
      work.last.finish('gold');
      await lab.clock.advance(10 * leaseTtlMs);
      expect(life.store.commits).to.have.length(written);
      expect(await lab.data.load('desk/a')).to.equal(undefined);
      expect(await failureOf(ask('four'))).to.include({ code: 'FENCED' });
    });

    it('of our own, regained since: written again under the new epoch, once', async () => {
      await ask('one');
      const speak = silence(life.store);
      await lab.clock.advance(leaseTtlMs - 1_000);
      const release = life.store.hold('commit', 'before', 1);
      const asked = watched(ask('two'));
      await lab.clock.advance(1_000);
      speak();
      await lab.rest();
      release();
      await lab.clock.advance(1_000);
      expect(asked.state).to.equal('answered');
      expect(await lab.data.load('desk/a')).to.include({ seq: 2, epoch: 2 });
      expect(await notes()).to.deep.equal(['one', 'two']);
      const ids = life.store.commits.flat().map(({ commitId }) => commitId);
      expect(new Set(ids).size).to.equal(3);
    });

    it('of our own, but written before: counts as done', async () => {
      await ask('one');
      life.store.fail('commit', 'after', 1);
      const asked = watched(ask('two'));
      await lab.rest();
      const speak = silence(life.store);
      life.store.fail('commit', 'before', 7);
      await lab.clock.advance(leaseTtlMs);
      speak();
      await lab.clock.advance(10_000);
      expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      expect(await notes()).to.deep.equal(['one', 'two']);
    });

    describe('while the lease is being claimed again', () => {
      let speak: () => void;

      beforeEach(async () => {
        speak = silence(life.store);
        await lab.clock.advance(leaseTtlMs);
        answers = { status: 'fenced', epoch: 2, owner: 'x' };
      });

      it('waits; the lease is ours: written', async () => {
        const asked = watched(ask('one'));
        await lab.clock.advance(1_000);
        expect(asked.state).to.equal('open');
        answers = undefined;
        speak();
        await lab.clock.advance(1_000);
        expect(asked.state).to.equal('answered');
        expect(await notes()).to.deep.equal(['one']);
      });

      it('waits; the lease belongs to another owner: the caller gets FENCED, and no retry follows', async () => {
        const asked = watched(ask('one'));
        await lab.clock.advance(1_000);
        expect(asked.state).to.equal('open');
        await lab.data.acquireLease({ name: 'node/n1', owner: 'x', ttlMs: leaseTtlMs, holder: 'x' });
        speak();
        await lab.clock.advance(leaseTtlMs / 2);
        expect(asked.error).to.include({ code: 'FENCED' });
        const written = life.store.commits.length;
        await lab.clock.advance(leaseTtlMs);
        expect(life.store.commits).to.have.length(written);
      });

      it('waits; the runtime stops: the caller gets RUNTIME_CLOSED, and no timer remains', async () => {
        const asked = watched(ask('one'));
        await lab.clock.advance(1_000);
        const stopped = life.engine.stop();
        await lab.clock.advance(60_000);
        await stopped;
        expect(asked.error).to.include({ code: 'RUNTIME_CLOSED' });
        expect(lab.clock.pending).to.equal(0);
      });
    });
  });

  it('fenced runtime: neither renews nor claims its lease', async () => {
    answers = { status: 'fenced', epoch: 2, owner: 'x' };
    void watched(ask('one'));
    await lab.rest();
    const asked = life.store.calls.length;
    await lab.clock.advance(10 * leaseTtlMs);
    expect(life.store.calls.slice(asked)).to.deep.equal([]);
  });

  it('answer to our new claim is lost: the lease is still ours', async () => {
    const release = life.store.hold('renewLease');
    life.store.fail('acquireLease', 'after', 1);
    await lab.clock.advance(leaseTtlMs + 5_000);
    release();
    await ask('still here');
    expect(await notes()).to.deep.equal(['still here']);
  });

  describe('two runtimes of one node', () => {
    let successor: Engine;
    let newStore: ControlledStore;
    let newWork: ManualEffect;

    beforeEach(() => {
      newWork = manualEffect(60_000);
      newStore = lab.store(through);
      successor = lab.engine([deskKind, workerKind({ work: newWork })], newStore);
    });

    it('second runtime refused, naming the holder; allowed once the first has stopped', async () => {
      const error = await failureOf(successor.open());
      expect(error).to.include({ code: 'NODE_IN_USE' });
      expect(error.message).to.include('runtime 1');
      await lab.stop(life.engine);
      await successor.open();
    });

    describe('first runtime frozen, second takes over', () => {
      let wake: () => void;

      beforeEach(async () => {
        await ask('one');
        await ask('one', 'desk/c');
        await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
        const methods = ['renewLease', 'acquireLease', 'commit', 'load', 'settle', 'appendTopic'] as const;
        const releases = methods.map((method) => life.store.hold(method));
        wake = () => releases.map((release) => release());
      });

      const takeOver = async (): Promise<void> => {
        await lab.clock.advance(leaseTtlMs - 1);
        await lab.clock.advance(1);
        await successor.open();
        await successor.restore(['']);
      };

      it('frozen runtime wakes: its commits change nothing; its callers get FENCED or an unknown outcome', async () => {
        await lab.clock.advance(leaseTtlMs - 1_000);
        const asked = [watched(ask('late')), watched(ask('begun late', 'desk/new')), watched(ask('second'))];
        await takeOver();
        await successor.ask('desk/a', note('by the successor'));
        wake();
        await lab.clock.advance(5_000);
        for (const { error } of asked) expect(error?.code).to.be.oneOf(['FENCED', 'STORE_UNAVAILABLE']);
        expect(await successor.ask('desk/a', { type: 'read' })).to.deep.equal(['one', 'by the successor']);
        expect(await lab.data.load('desk/new')).to.equal(undefined);
        expect(await life.engine.lost).to.include({ code: 'FENCED' });
      });

      it('frozen runtime wakes: commits to actors that the successor did not touch change nothing either', async () => {
        await lab.clock.advance(leaseTtlMs - 1_000);
        void watched(ask('late', 'desk/c'));
        await takeOver();
        wake();
        await lab.clock.advance(5_000);
        expect(await successor.ask('desk/c', { type: 'read' })).to.deep.equal(['one']);
        expect(await lab.data.load('desk/c')).to.include({ seq: 2 });
      });

      it('frozen runtime wakes: never starts an effect', async () => {
        await lab.clock.advance(leaseTtlMs - 1_000);
        void watched(life.engine.ask('worker/b', { type: 'work', job: 'late' }));
        await takeOver();
        wake();
        await lab.clock.advance(10 * leaseTtlMs);
        expect(work.calls.map(({ input }) => input)).to.deep.equal([{ job: 'dig' }]);
        expect(work.last.signal.aborted).to.equal(true);
        expect(newWork.calls.map(({ input, attempt }) => ({ input, attempt }))).to.deep.equal([
          { input: { job: 'dig' }, attempt: 2 },
        ]);
      });

      it('commit without an answer before the freeze: the second runtime delivers its outbox, once', async () => {
        life.store.hold('commit', 'after');
        void watched(life.engine.ask('desk/a', tell(noteTo('desk/b', 'hello'))));
        void watched(life.engine.ask('desk/c', say('hello')));
        await lab.rest();
        await takeOver();
        wake();
        await lab.clock.advance(5_000);
        expect(await successor.ask('desk/b', { type: 'read' })).to.deep.equal(['hello']);
        expect(await topicOf(lab, deskTopic)).to.have.length(1);
      });
    });
  });
});
