/** Stopping: what is on its way to the store finishes, all else is refused or left to the next life; nothing lingers. */
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

  it('nothing runs, then it stops without any time passing, and no timer is left', async () => {
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  it('later requests hear RUNTIME_CLOSED, whether their actor is in memory or not', async () => {
    await life.engine.ask('desk/a', note('one'));
    await life.engine.stop();
    for (const address of ['desk/a', 'desk/b']) {
      expect(await failureOf(life.engine.ask(address, note('two')))).to.include({ code: 'RUNTIME_CLOSED' });
    }
  });

  it('a commit is under way, then its caller is answered; those behind it hear RUNTIME_CLOSED', async () => {
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

  it('a request that waits for its record hears RUNTIME_CLOSED, and the late record starts nothing', async () => {
    const release = life.store.hold('load');
    const asked = watched(life.engine.ask('desk/a', note('one')));
    await life.engine.stop();
    release();
    await lab.rest();
    expect(asked.error).to.include({ code: 'RUNTIME_CLOSED' });
    await lab.data.open();
    expect(await lab.data.load('desk/a')).to.equal(undefined);
  });

  it('the last commit has messages for actors that are not in memory, then they wait for the next life', async () => {
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

  it('the last commit broadcasts, then that is in the topic once, at the latest in the next life', async () => {
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

  it('effects run, then they are told why, and what they give afterwards is dropped', async () => {
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

  it('an effect does not listen, then it stops without it after its grace, and leaves no timer', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    const stopped = watched(life.engine.stop());
    await lab.clock.advance(4_999);
    expect(stopped.state).to.equal('open');
    await lab.clock.advance(1);
    expect(stopped.state).to.equal('answered');
    expect(lab.clock.pending).to.equal(0);
  });

  it('an effect of a state that was left does not end, then that delays stopping no longer either', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await life.engine.ask('worker/a', { type: 'leave' });
    const stopped = watched(life.engine.stop());
    await lab.clock.advance(5_000);
    expect(stopped.state).to.equal('answered');
    expect(lab.clock.pending).to.equal(0);
  });

  it('a deadline passes while effects have their grace, then nothing comes of it', async () => {
    work = manualEffect(1_000);
    await start();
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.stop(life.engine);
    expect(await lab.data.load('worker/a')).to.include({ seq: 1 });
  });

  for (const method of ['settle', 'appendTopic', 'releaseLease', 'renewLease'] as const) {
    it(`the store fails at ${method} meanwhile, then it stops all the same, and leaves no timer`, async () => {
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
    it(`${method} is under way, then the store is closed after it`, async () => {
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

  it('a renewal of the lease is under way, then its late answer begins nothing', async () => {
    const release = life.store.hold('renewLease', 'after');
    await lab.clock.advance(leaseTtlMs / 3);
    await life.engine.stop();
    release();
    await lab.rest();
    expect(lab.clock.pending).to.equal(0);
  });

  it('the store answers neither renewals nor the return of a lapsed lease, then it stops all the same', async () => {
    life.store.hold('renewLease');
    life.store.hold('acquireLease');
    life.store.hold('releaseLease');
    await lab.clock.advance(leaseTtlMs);
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  for (const method of ['commit', 'releaseLease'] as const) {
    it(`the store hangs at ${method}, then it stops without that after its grace`, async () => {
      life.store.hold(method);
      void life.engine.ask('desk/a', note('one')).catch(() => {});
      await lab.rest();
      const stopped = watched(life.engine.stop());
      await lab.clock.advance(60_000);
      expect(stopped.state).to.equal('answered');
    });
  }

  it('twice is once', async () => {
    await life.engine.ask('desk/a', note('one'));
    await Promise.all([life.engine.stop(), life.engine.stop()]);
    await life.engine.stop();
    expect(lab.clock.pending).to.equal(0);
  });

  it('all that had been delivered is settled, then the next life has nothing to deliver', async () => {
    for (let turn = 0; turn < 20; turn += 1) await life.engine.ask('desk/a', tell(noteTo('desk/b', `${turn}`)));
    await lab.rest();
    await life.engine.stop();
    await lab.data.open();
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('it was fenced before, then it stops all the same, and says FENCED to those who come', async () => {
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
