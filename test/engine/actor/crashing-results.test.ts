/**
 * Effect results that crash their machine: the commit of the crash asks for the effect again. A result that always
 * crashes the machine quarantines the actor. The actor never hangs.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { StagecraftError } from '../../../src/errors.js';
import { deskKind, noteTo, tell } from '../desk.js';
import { breakDown, type FragileContext, fragileKind, unbearable } from '../fragile.js';
import { failureOf, historyOf, type Life, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { PolicyLab, textOf } from '../policy-lab.js';

const address = 'fragile/a';
const done = 'xstate.done.actor.work';
/** Longer than the longest delay between two attempts. */
const aWhileMs = 2_000;

describe('results that crash their machine', () => {
  let lab: PolicyLab;
  let life: Life;
  let work: ManualEffect;
  let listen: ManualEffect;

  beforeEach(async () => {
    lab = new PolicyLab();
    work = manualEffect(120_000);
    listen = manualEffect('loop');
    await restart();
    await restart(); // the random value of the first life gives a delay of zero
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([fragileKind({ work, listen }), deskKind]);
  };
  const ask = (event: AnyEventObject): Promise<unknown> => life.engine.ask(address, event);
  const finish = async (output: unknown, thenMs = 0): Promise<void> => {
    work.last.finish(output);
    await lab.clock.advance(thenMs);
  };
  /** Makes six attempts whose results crash the machine. */
  const breakDownAtAll = async (): Promise<void> => {
    await ask({ type: 'work' });
    for (let attempt = 1; attempt <= 6; attempt += 1) await finish(unbearable, aWhileMs);
  };
  const isQuarantined = (): boolean => life.engine.quarantined().length > 0;
  const context = (): FragileContext | undefined => life.engine.peek(address)?.context as FragileContext | undefined;
  interface Kept {
    snapshot: object;
    crashes?: number[];
    effects: { seq: number; attempt?: number; notBeforeMs?: number }[];
  }
  const kept = async (): Promise<Kept> => JSON.parse(await textOf(lab, address));
  const expectTrueReplay = async (): Promise<void> => {
    expect((await life.engine.journals.replay(address)).snapshot).to.deep.equal((await kept()).snapshot);
  };

  it('first result crashes: run again after a delay under a new name; that result counts once', async () => {
    await ask({ type: 'work' });
    await lab.clock.advance(1_000);
    const at = lab.clock.now();
    await finish(unbearable);
    const [effect] = (await kept()).effects;
    expect(effect).to.include({ seq: 2, attempt: 2 });
    const { notBeforeMs = 0 } = effect ?? {};
    expect(notBeforeMs).to.be.within(at + 2, at + 99);
    expect(context()).to.deep.include({ results: [] });
    await lab.clock.advance(notBeforeMs - at - 1);
    expect(work.calls).to.have.length(1);
    await lab.clock.advance(1);
    expect(work.calls).to.have.length(2);
    expect(work.last).to.deep.include({ id: 'work', seq: 2, attempt: 2, recovered: false, input: {} });
    await finish('gold', aWhileMs);
    expect(await historyOf(life.engine, address)).to.deep.equal(['event work', `crash ${done}`, `event ${done}`]);
    await expectTrueReplay();
    await restart();
    await lab.clock.advance(600_000);
    expect(work.calls).to.have.length(2);
    expect(context()).to.deep.include({ results: ['gold'] });
  });

  it('all results crash: quarantined at the sixth and reported; nothing runs, even after a restart', async () => {
    await breakDownAtAll();
    expect(work.calls.map(({ attempt }) => attempt)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(work.calls.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(isQuarantined()).to.equal(true);
    expect(await lab.told()).to.have.length(1);
    expect((await lab.told())[0]).to.include({ type: 'actor.quarantined', address });
    await expectTrueReplay();
    await life.engine.ask('desk/b', tell(noteTo(address, 'later')));
    await lab.clock.advance(600_000);
    await restart();
    await lab.clock.advance(600_000);
    expect(work.calls).to.have.length(6);
    expect(await failureOf(ask({ type: 'read' }))).to.include({ code: 'ACTOR_QUARANTINED' });
    expect(await lab.data.load(address)).to.include({ seq: 7 });
    expect((await lab.data.unsettled({ prefix: '', limit: 9 })).rows).to.have.length(1);
  });

  it('released: runs again; messages sent meanwhile arrive, and the count of crashes starts again', async () => {
    await breakDownAtAll();
    await life.engine.ask('desk/b', tell(noteTo(address, 'meanwhile')));
    await life.engine.release(address);
    await lab.clock.advance(aWhileMs * 2);
    expect(work.calls).to.have.length(7);
    expect(work.last).to.include({ recovered: true, attempt: 7 });
    for (let time = 1; time <= 5; time += 1) await finish(unbearable, aWhileMs);
    expect(isQuarantined()).to.equal(false);
    await finish('gold');
    expect(context()).to.deep.include({ results: ['gold'], notes: ['meanwhile'] });
    await expectTrueReplay();
  });

  for (const [moment, attempt, seq] of [
    ['before', 2, 1],
    ['after', 3, 2],
  ] as const) {
    it(`runtime dies just ${moment} the commit of the crash: attempt ${attempt} starts after the restart`, async () => {
      await ask({ type: 'work' });
      life.store.hold('commit', moment);
      await finish(unbearable, aWhileMs);
      expect(work.calls).to.have.length(1);
      await restart();
      await lab.clock.advance(aWhileMs);
      expect(work.calls).to.have.length(2);
      expect(work.last).to.include({ attempt, seq, recovered: true });
      await finish('gold');
      expect(context()).to.deep.include({ results: ['gold'] });
    });

    it(`commit of the crash fails ${moment} the write: one more run, and one crash`, async () => {
      await ask({ type: 'work' });
      life.store.fail('commit', moment);
      await finish(unbearable, 10_000);
      expect(work.calls).to.have.length(2);
      expect((await kept()).crashes).to.have.length(1);
      await finish('gold');
      expect(context()).to.deep.include({ results: ['gold'] });
    });
  }

  it('runtime dies while the next attempt waits: started as a further attempt, under its name', async () => {
    await ask({ type: 'work' });
    await finish(unbearable);
    await restart();
    await lab.clock.advance(aWhileMs);
    expect(work.calls.map(({ attempt, seq }) => [attempt, seq])).to.deep.equal([
      [1, 1],
      [3, 2],
    ]);
  });

  it('on-demand actor: the next runtime starts the attempt without being asked', async () => {
    life = await lab.start([{ ...fragileKind({ work }), onDemand: true }]);
    await ask({ type: 'work' });
    await finish(unbearable);
    life = await lab.start([{ ...fragileKind({ work }), onDemand: true }]);
    await lab.clock.advance(aWhileMs);
    expect(work.last).to.include({ attempt: 3, recovered: true });
  });

  it('many attempts through restarts: six crashes still come soon enough to quarantine', async () => {
    await ask({ type: 'work' });
    for (let time = 0; time < 15; time += 1) await restart();
    await lab.clock.advance(300_000);
    expect(work.last).to.include({ attempt: 16 });
    for (let time = 1; time <= 6; time += 1) {
      expect(isQuarantined()).to.equal(false);
      await finish(unbearable, aWhileMs);
    }
    expect(isQuarantined()).to.equal(true);
  });

  it('each attempt takes 15 s: never too often, retried for ever', async () => {
    await ask({ type: 'work' });
    for (let attempt = 1; attempt <= 50; attempt += 1) {
      expect(work.last).to.include({ attempt });
      await lab.clock.advance(15_000);
      await finish(unbearable, aWhileMs);
    }
    expect(isQuarantined()).to.equal(false);
    await finish('gold');
    expect(context()).to.deep.include({ results: ['gold'] });
  });

  it('state left before the next attempt is due: the attempt never runs', async () => {
    await ask({ type: 'work' });
    await finish(unbearable);
    await ask({ type: 'rest' });
    await lab.clock.advance(600_000);
    await restart();
    expect(work.calls).to.have.length(1);
    expect((await kept()).effects).to.deep.equal([]);
  });

  it('deadline passes and its error crashes the machine: the late result of that run is dropped', async () => {
    listen = manualEffect(1_000);
    await restart();
    await ask({ type: 'listen' });
    await lab.clock.advance(1_000 + aWhileMs);
    const [first, second] = listen.calls;
    expect(first?.signal.reason).to.be.instanceOf(StagecraftError).and.to.include({ code: 'TIMEOUT' });
    expect(second).to.include({ attempt: 2 });
    const before = await historyOf(life.engine, address);
    first?.send({ type: 'note', text: 'late' });
    first?.finish('late');
    await lab.rest();
    expect(await historyOf(life.engine, address)).to.deep.equal(before);
  });

  it('request crashes the machine while an effect runs: the effect goes on', async () => {
    await ask({ type: 'work' });
    watched(ask(breakDown));
    await lab.clock.advance(aWhileMs);
    expect(work.last).to.include({ attempt: 1 });
    await finish('gold');
    expect(work.calls).to.have.length(1);
    expect(context()).to.deep.include({ results: ['gold'] });
  });

  describe('of a loop', () => {
    beforeEach(() => ask({ type: 'listen' }));

    it('event of the loop crashes the machine: the loop goes on', async () => {
      listen.last.send({ type: 'note', text: unbearable });
      await lab.clock.advance(aWhileMs);
      listen.last.send({ type: 'note', text: 'better' });
      await lab.clock.advance(aWhileMs);
      expect(listen.calls).to.have.length(1);
      expect(listen.last.signal.aborted).to.equal(false);
      expect(context()).to.deep.include({ notes: ['better'] });
    });

    it('loop throws: begins again; a restart is no attempt and begins it at once', async () => {
      listen.last.fail(new Error('deaf'));
      await lab.clock.advance(aWhileMs);
      expect(listen.last).to.include({ attempt: 2, seq: 2, recovered: false });
      listen.last.send({ type: 'note', text: 'heard' });
      await lab.rest();
      expect(context()).to.deep.include({ notes: ['heard'] });
      await restart();
      expect(listen.calls).to.have.length(3);
      expect(listen.last).to.include({ attempt: 2, seq: 2, recovered: true });
    });

    it('loop always throws: quarantined at the sixth; released, it begins again', async () => {
      for (let time = 1; time <= 6; time += 1) {
        listen.last.fail(new Error('deaf'));
        await lab.clock.advance(aWhileMs);
      }
      expect(listen.calls).to.have.length(6);
      expect(isQuarantined()).to.equal(true);
      await life.engine.release(address);
      await lab.rest();
      expect(listen.calls).to.have.length(7);
      expect(listen.last).to.include({ attempt: 6, recovered: true });
    });
  });
});
