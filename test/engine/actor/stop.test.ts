/**
 * Stop of a runtime: writes under way finish, other requests are refused or left to the next life, and nothing lingers.
 */
import { expect } from 'chai';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, Lab, type Life, leaseTtlMs, textsOf, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

describe('stopping', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect(1_000_000);
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })]);
  };

  it('nothing runs: stops without any time passing, and no timer remains', async () => {
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  it('later requests get RUNTIME_CLOSED, whether their actor is in memory or not', async () => {
    await life.engine.ask('desk/a', note('one'));
    await life.engine.stop();
    for (const address of ['desk/a', 'desk/b']) {
      expect(await failureOf(life.engine.ask(address, note('two')))).to.include({ code: 'RUNTIME_CLOSED' });
    }
  });

  it('commit under way: its caller is answered; requests behind it get RUNTIME_CLOSED', async () => {
    await life.engine.ask('desk/a', note('one'));
    const release = life.store.hold('commit');
    const first = watched(life.engine.ask('desk/a', note('two')));
    const second = watched(life.engine.ask('desk/a', note('three')));
    await lab.rest();
    const stopped = watched(life.engine.stop());
    await lab.rest();
    expect([first.state, second.error?.code, stopped.state]).to.deep.equal(['open', 'RUNTIME_CLOSED', 'open']);
    release();
    await lab.rest();
    expect([first.state, stopped.state]).to.deep.equal(['answered', 'answered']);
    await start();
    expect(life.engine.peek('desk/a')?.context).to.deep.include({ notes: ['one', 'two'] });
  });

  it('request waiting for a record gets RUNTIME_CLOSED, and the late record starts nothing', async () => {
    const release = life.store.hold('load');
    const asked = watched(life.engine.ask('desk/a', note('one')));
    await life.engine.stop();
    release();
    await lab.rest();
    expect(asked.error).to.include({ code: 'RUNTIME_CLOSED' });
    await lab.data.open();
    expect(await lab.data.load('desk/a')).to.equal(undefined);
  });

  it('last commit has messages for actors in the store: they wait for the next life', async () => {
    await life.engine.ask('desk/b', note('in store'));
    life = await lab.start([deskKind], { prefixes: [] });
    await life.engine.ask('desk/a', note('in memory'));
    const release = life.store.hold('commit');
    const asked = life.engine.ask('desk/a', tell(noteTo('desk/b', 'hello'), noteTo('desk/c', 'hello')));
    await lab.rest();
    const stopped = life.engine.stop();
    release();
    await Promise.all([asked, stopped]);
    await lab.rest();
    await lab.data.open();
    expect(await lab.data.load('desk/b')).to.include({ seq: 1 });
    expect(await lab.data.load('desk/c')).to.equal(undefined);
    await start();
    expect(life.engine.peek('desk/b')?.context).to.deep.include({ notes: ['in store', 'hello'] });
    expect(life.engine.peek('desk/c')?.context).to.deep.include({ notes: ['hello'] });
  });

  it('last commit broadcasts: in the topic once, at the latest in the next life', async () => {
    await life.engine.ask('desk/a', note('in memory'));
    const release = life.store.hold('commit');
    const asked = life.engine.ask('desk/a', say('farewell'));
    await lab.rest();
    const stopped = life.engine.stop();
    release();
    await Promise.all([asked, stopped]);
    await start();
    expect(textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text)).to.deep.equal(['farewell']);
  });

  it('running effects get the reason, and their late results are dropped', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    const stopped = life.engine.stop();
    expect(work.last.signal.reason).to.include({ code: 'RUNTIME_CLOSED' });
    work.last.finish('too late');
    await stopped;
    expect(lab.clock.pending).to.equal(0);
    await start();
    await lab.clock.advance(100);
    expect(work.last).to.include({ recovered: true, attempt: 2 });
    expect(life.engine.peek('worker/a')).to.deep.include({ seq: 2, state: 'working' });
  });

  it('effect ignores its signal: the stop ends after the grace, and no timer remains', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    const stopped = watched(life.engine.stop());
    await lab.clock.advance(4_999);
    expect(stopped.state).to.equal('open');
    await lab.clock.advance(1);
    expect(stopped.state).to.equal('answered');
    expect(lab.clock.pending).to.equal(0);
  });

  it('effect of a left state does not end: delays the stop no longer than the grace', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await life.engine.ask('worker/a', { type: 'leave' });
    const stopped = watched(life.engine.stop());
    await lab.clock.advance(5_000);
    expect(stopped.state).to.equal('answered');
    expect(lab.clock.pending).to.equal(0);
  });

  it('deadline passes during the grace of effects: has no consequence', async () => {
    work = manualEffect(1_000);
    await start();
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.stop(life.engine);
    expect(await lab.data.load('worker/a')).to.include({ seq: 1 });
  });

  for (const method of ['settle', 'appendTopic', 'releaseLease', 'renewLease'] as const) {
    it(`store fails at ${method} meanwhile: stops, and no timer remains`, async () => {
      life.store.fail(method, 'before', Number.POSITIVE_INFINITY);
      await life.engine.ask('desk/a', say('hello'));
      await life.engine.ask('desk/a', tell(noteTo('desk/b', 'hello')));
      await lab.clock.advance(1_000);
      await life.engine.stop();
      expect(life.store.calls.at(-1)).to.equal('close');
      expect(lab.clock.pending).to.equal(0);
    });
  }

  for (const method of ['appendTopic', 'settle'] as const) {
    it(`${method} under way: the store is closed after it`, async () => {
      const release = life.store.hold(method);
      await life.engine.ask('desk/a', say('hello'));
      await lab.rest();
      const stopped = life.engine.stop();
      await lab.rest();
      expect(life.store.calls).to.not.include('close');
      release();
      await stopped;
      expect(life.store.calls.at(-1)).to.equal('close');
    });
  }

  it('renewal of the lease under way: its late answer starts nothing', async () => {
    const release = life.store.hold('renewLease', 'after');
    await lab.clock.advance(leaseTtlMs / 3);
    await life.engine.stop();
    release();
    await lab.rest();
    expect(lab.clock.pending).to.equal(0);
  });

  it('store answers neither renewals nor the release of a lapsed lease: stops', async () => {
    life.store.hold('renewLease');
    life.store.hold('acquireLease');
    life.store.hold('releaseLease');
    await lab.clock.advance(leaseTtlMs);
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  for (const method of ['commit', 'releaseLease'] as const) {
    it(`store hangs at ${method}: stops without it after the grace`, async () => {
      life.store.hold(method);
      void life.engine.ask('desk/a', note('one')).catch(() => {});
      await lab.rest();
      const stopped = watched(life.engine.stop());
      await lab.clock.advance(60_000);
      expect(stopped.state).to.equal('answered');
    });
  }

  it('stopped twice: same as once', async () => {
    await life.engine.ask('desk/a', note('one'));
    await Promise.all([life.engine.stop(), life.engine.stop()]);
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  it('deliveries done: all are settled, and the next life has nothing to deliver', async () => {
    for (let turn = 0; turn < 20; turn += 1) await life.engine.ask('desk/a', tell(noteTo('desk/b', `${turn}`)));
    await lab.rest();
    await life.engine.stop();
    await lab.data.open();
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('fenced before: stops, and later callers get FENCED', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.data.close();
    await lab.data.open();
    await lab.data.acquireLease({ name: 'node/n1', owner: 'another', ttlMs: 60_000, holder: 'another' });
    await lab.clock.advance(20_000);
    await lab.stop(life.engine);
    expect(await failureOf(life.engine.ask('desk/a', note('x')))).to.include({ code: 'FENCED' });
    expect(lab.clock.pending).to.equal(0);
  });
});
