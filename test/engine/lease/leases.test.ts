/** Leases: one runtime at a time; a refusal names the holder; a runtime without its lease does nothing more. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { unbound } from '../../../machines/kit/host.js';
import { pause } from '../../../src/engine/clock.js';
import type { Engine } from '../../../src/engine/engine.js';
import { LeaseKeeper } from '../../../src/engine/lease/lease-keeper.js';
import type { Store } from '../../../src/engine/store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, Lab, type Life, leaseTtlMs, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

/** Shares the store among several runtimes: none of them closes it for the others. */
const shared = (store: Store): Store => ({ ...store, close: async () => {} });

describe('leases', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    life = await lab.start([deskKind, workerKind({ work })]);
  });

  /** Makes another runtime of the same node beside the first. */
  const rival = (): Engine => lab.engine([deskKind, workerKind({ work })], lab.store(shared));

  /** Stops all answers about the lease. */
  const silence = (break_: (method: 'renewLease' | 'acquireLease') => void): void => {
    break_('renewLease');
    break_('acquireLease');
  };

  it('lease lapsed, no other owner: held again, and waiting effects start', async () => {
    const release = life.store.hold('acquireLease');
    life.store.hold('renewLease');
    await lab.clock.advance(leaseTtlMs);
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    expect(work.calls).to.have.length(0);
    release();
    await lab.rest();
    expect(work.calls).to.have.length(1);
    await life.engine.ask('desk/a', note('still here'));
  });

  it('lease lapsed, and the state of a waiting effect is left: the effect never starts', async () => {
    const release = life.store.hold('acquireLease');
    life.store.hold('renewLease');
    await lab.clock.advance(leaseTtlMs);
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await life.engine.ask('worker/a', { type: 'leave' });
    release();
    await lab.rest();
    expect(work.calls).to.have.length(0);
  });

  it('another owner had the lease after the lapse: lost, even if it is free again', async () => {
    await lab.data.close();
    await lab.data.open();
    const another = { name: 'node/n1', owner: 'another', ttlMs: 1, holder: 'another' };
    await lab.data.acquireLease(another);
    await lab.clock.advance(leaseTtlMs);
    expect(await failureOf(life.engine.ask('desk/a', note('too late')))).to.include({ code: 'FENCED' });
    expect(await life.engine.lost).to.include({ code: 'FENCED' });
  });

  it('second runtime of the same node refused, naming the holder; the first goes on', async () => {
    const error = await failureOf(rival().open());
    expect(error).to.include({ code: 'NODE_IN_USE' });
    expect(error.message).to.include('node/n1 is run by runtime 1');
    await life.engine.ask('desk/a', note('still here'));
  });

  it('lease renewed as long as the runtime lives', async () => {
    await lab.clock.advance(100 * leaseTtlMs);
    await life.engine.ask('desk/a', note('still here'));
    expect(await failureOf(rival().open())).to.include({ code: 'NODE_IN_USE' });
  });

  it('store answers each renewal after two fifths of the term: the lease never lapses', async () => {
    const asked = { name: 'node/n2', owner: 'first', ttlMs: leaseTtlMs, holder: 'the first' };
    const seen: string[] = [];
    const store = shared({
      ...lab.data,
      acquireLease: (request) => lab.data.acquireLease(request),
      renewLease: async (lease) => {
        await pause(lab.clock, (2 * leaseTtlMs) / 5);
        return lab.data.renewLease(lease);
      },
    });
    const keeper = new LeaseKeeper(store, lab.clock, {
      lapsed: () => seen.push('lapsed'),
      regained: () => seen.push('regained'),
      wanted: () => {},
      forgotten: () => seen.push('forgotten'),
      lost: () => seen.push('lost'),
    });
    await keeper.acquire(asked);
    await lab.clock.advance(20 * leaseTtlMs);
    expect(seen).to.deep.equal([]);
    keeper.giveUp();
  });

  it('stopped runtime releases its lease at once', async () => {
    await lab.stop(life.engine);
    await rival().open();
  });

  it('stopped while claiming its lapsed lease: a grant after that is released', async () => {
    const asked = { name: 'node/n2', owner: 'first', ttlMs: leaseTtlMs, holder: 'the first' };
    const ignore = (): void => {};
    const store = lab.store(shared);
    const keeper = new LeaseKeeper(store, lab.clock, {
      lapsed: ignore,
      regained: ignore,
      wanted: ignore,
      forgotten: ignore,
      lost: ignore,
    });
    await keeper.acquire(asked);
    store.fail('renewLease', 'before', 1_000);
    const answer = store.hold('acquireLease');
    await lab.clock.advance(leaseTtlMs);
    await keeper.release();
    answer();
    await lab.clock.advance(0);
    const next = await lab.data.acquireLease({ ...asked, owner: 'second', holder: 'the second' });
    expect(next.status).to.equal('granted');
  });

  it('each new owner has a higher epoch and another name', async () => {
    await life.engine.ask('desk/a', note('x'));
    const first = await lab.data.load('desk/a');
    life = await lab.start([deskKind]);
    await life.engine.ask('desk/a', note('y'));
    const second = await lab.data.load('desk/a');
    expect(second?.epoch).to.be.greaterThan(first?.epoch ?? 0);
    expect(second?.owner).to.not.equal(first?.owner);
  });

  describe('store does not answer renewals', () => {
    for (const moment of ['before', 'after'] as const) {
      it(`renewals fail for a while (${moment} the write): all goes on`, async () => {
        life.store.fail('renewLease', moment, 4);
        await lab.clock.advance(leaseTtlMs * 3);
        await life.engine.ask('desk/a', note('still here'));
      });
    }

    for (const how of ['fail', 'hang'] as const) {
      it(`they ${how} for ten terms: no effect starts until the store answers; then all goes on`, async () => {
        await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
        const mend: (() => void)[] = [];
        silence((method) => {
          if (how === 'hang') mend.push(life.store.hold(method));
          else life.store.fail(method, 'before', 1_000);
          if (how === 'fail') mend.push(() => life.store.fail(method, 'before', 0));
        });
        await lab.clock.advance(10 * leaseTtlMs);
        expect(work.last.signal.aborted).to.equal(false);
        await life.engine.ask('worker/b', { type: 'work', job: 'dig' });
        expect(work.calls).to.have.length(1);
        for (const each of mend) each();
        await lab.clock.advance(leaseTtlMs);
        expect(work.calls).to.have.length(2);
        await life.engine.ask('desk/a', note('still here'));
        expect((await lab.data.load('desk/a'))?.epoch).to.be.greaterThan(1);
      });
    }

    it('answer of a renewal after the lapse: no effect', async () => {
      life.store.hold('acquireLease');
      const release = life.store.hold('renewLease');
      await lab.clock.advance(leaseTtlMs);
      release();
      await lab.clock.advance(leaseTtlMs);
      await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
      expect(work.calls).to.have.length(0);
    });
  });

  it('lease lapses during a commit: its effects do not start here', async () => {
    silence((method) => life.store.hold(method));
    await lab.clock.advance(leaseTtlMs - 1);
    const release = life.store.hold('commit', 'after');
    const asked = watched(life.engine.ask('worker/a', { type: 'work', job: 'dig' }));
    await lab.clock.advance(1);
    release();
    await lab.rest();
    expect(asked.state).to.equal('answered');
    expect(work.calls).to.have.length(0);
    life = await lab.start([workerKind({ work })]);
    expect(work.last).to.include({ recovered: true, seq: 1 });
  });

  it('state entered in the very moment of the lapse: its effect does not start here', async () => {
    const punctual = setup({ actors: { work: unbound<void, object>() } }).createMachine({
      id: 'punctual',
      initial: 'waiting',
      states: {
        waiting: { after: { [leaseTtlMs * 2]: 'working' } },
        working: { invoke: { id: 'work', src: 'work', input: {} } },
      },
    });
    life = await lab.start([{ machine: punctual, effects: { work }, begin: () => ({}) }]);
    await life.engine.ask('punctual/a', { type: 'go' });
    await lab.clock.advance(leaseTtlMs + 1);
    silence((method) => life.store.hold(method));
    await lab.clock.advance(leaseTtlMs);
    expect(life.engine.peek('punctual/a')).to.include({ state: 'working' });
    expect(work.calls).to.have.length(0);
  });

  it('lease reported as lost: actors stop, and waiting callers get FENCED', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    life.store.hold('load');
    const waiting = watched(life.engine.ask('desk/a', note('x')));
    await lab.data.close();
    await lab.data.open();
    await lab.data.acquireLease({ name: 'node/n1', owner: 'another', ttlMs: leaseTtlMs, holder: 'another' });
    await lab.clock.advance(leaseTtlMs);
    expect(waiting.error).to.include({ code: 'FENCED' });
    expect(work.last.signal.aborted).to.equal(true);
    expect(lab.logged.filter(({ message }) => message.includes('no longer ours'))).to.have.length(1);
  });

  describe('another runtime took over', () => {
    let successor: Engine;

    beforeEach(async () => {
      life = await lab.start([deskKind, workerKind({ work })], { through: shared });
      await life.engine.ask('desk/a', note('one'));
      await life.engine.ask('desk/b', note('one'));
      await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
      await lab.data.close();
      successor = rival();
      await successor.open();
      await successor.restore(['desk/']);
      await successor.ask('desk/a', note('by the successor'));
      await successor.ask('desk/b', note('by the successor'));
    });

    it('old runtime commits: refused, all its actors stop, and its callers get FENCED', async () => {
      const outcomes = [
        watched(life.engine.ask('desk/a', note('by the old one'))),
        watched(life.engine.ask('desk/a', note('by the old one, waiting'))),
        watched(life.engine.ask('desk/b', note('by the old one, in the same commit'))),
      ];
      await lab.rest();
      expect(outcomes.map(({ error }) => error?.code)).to.deep.equal(['FENCED', 'FENCED', 'FENCED']);
      expect(work.last.signal.aborted).to.equal(true);
      expect(await successor.ask('desk/a', { type: 'read' })).to.deep.equal(['one', 'by the successor']);
      expect(await failureOf(life.engine.ask('desk/c', note('x')))).to.include({ code: 'FENCED' });
      expect(lab.logged.filter(({ level }) => level === 'error')).to.have.length(1);
    });

    it('old runtime learns it from a renewal during a commit: the commit is refused as well', async () => {
      const release = life.store.hold('commit');
      const asked = watched(life.engine.ask('desk/a', note('by the old one')));
      await lab.clock.advance(leaseTtlMs / 3 - 1);
      expect(asked.state).to.equal('open');
      await lab.clock.advance(1);
      release();
      await lab.rest();
      expect(asked.error?.code).to.be.oneOf(['FENCED', 'STORE_UNAVAILABLE']);
      expect(await failureOf(life.engine.ask('desk/a', note('x')))).to.include({ code: 'FENCED' });
    });

    it('commit of the old runtime without an answer: not repeated once the lease is lost', async () => {
      life.store.fail('commit', 'before', 1_000);
      const asked = watched(life.engine.ask('worker/a', { type: 'leave' }));
      await lab.clock.advance(leaseTtlMs);
      const attempts = life.store.commits.length;
      life.store.fail('commit', 'before', 0);
      await lab.clock.advance(10 * leaseTtlMs);
      expect(life.store.commits).to.have.length(attempts);
      expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      expect(await lab.data.load('worker/a')).to.include({ seq: 1 });
    });

    it('old runtime stops: the successor keeps its lease', async () => {
      await failureOf(life.engine.ask('desk/a', note('by the old one')));
      await lab.stop(life.engine);
      expect(await failureOf(rival().open())).to.include({ code: 'NODE_IN_USE' });
      await successor.ask('desk/a', note('still here'));
    });
  });

  it('messages and broadcasts of the last commit before the loss: delivered once by the successor', async () => {
    await life.engine.ask('desk/b', note('x'));
    const release = life.store.hold('commit', 'after');
    void life.engine.ask('desk/a', tell(noteTo('desk/b', 'hello')));
    void life.engine.ask('desk/c', say('hello'));
    silence((method) => life.store.hold(method));
    await lab.clock.advance(leaseTtlMs);
    await lab.data.acquireLease({ name: 'node/n1', owner: 'another', ttlMs: leaseTtlMs, holder: 'another' });
    release();
    await lab.rest();
    expect(await lab.data.load('desk/b')).to.include({ seq: 1 });
    await lab.clock.advance(leaseTtlMs);
    life = await lab.start([deskKind]);
    expect(life.engine.peek('desk/b')?.context).to.deep.include({ notes: ['x', 'hello'] });
    expect(await topicOf(lab, deskTopic)).to.have.length(1);
  });
});
