/**
 * Crash intensity: an actor that crashes too often is quarantined by the commit of its last crash, and no other actor
 * is.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { deskKind, noteTo, tell } from '../desk.js';
import { breakDown, fragileKind, nap } from '../fragile.js';
import { failureOf, historyOf, type Life, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { PolicyLab, textOf } from '../policy-lab.js';

const address = 'fragile/a';
const reason = 'it crashed 6 times in 60000 ms, last: it broke';

describe('crash intensity', () => {
  let lab: PolicyLab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new PolicyLab();
    work = manualEffect();
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([fragileKind({ work }), deskKind]);
  };
  const ask = (event: AnyEventObject): Promise<unknown> => life.engine.ask(address, event);
  const crash = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      expect(await failureOf(ask(breakDown))).to.include({ code: 'ACTOR_CRASHED' });
    }
  };
  const message = async (text: string): Promise<void> => {
    await life.engine.ask('desk/b', tell(noteTo(address, text)));
    await lab.rest();
  };
  const isQuarantined = (): boolean => life.engine.quarantined().length > 0;
  const kept = async (): Promise<{ quarantined?: object; crashes?: number[] }> =>
    JSON.parse(await textOf(lab, address));

  it('five crashes within the time: the actor goes on; the sixth quarantines it in the same commit', async () => {
    await ask({ type: 'note', text: 'one' });
    await crash(5);
    await ask({ type: 'note', text: 'two' });
    expect(isQuarantined()).to.equal(false);
    await crash(1);
    expect(life.engine.quarantined()).to.have.length(1);
    expect(await kept()).to.deep.include({ quarantined: { at: lab.clock.now(), reason } });
    expect(await lab.data.load(address)).to.include({ seq: 8 });
    const error = await failureOf(ask({ type: 'note', text: 'three' }));
    expect(error).to.include({ code: 'ACTOR_QUARANTINED', address });
    expect(error.message).to.include('stagecraft actor release').and.to.include(reason);
    expect(await lab.data.load(address)).to.include({ seq: 8 });
  });

  for (const [elapsedMs, isTooOften] of [
    [59_999, true],
    [60_000, false],
  ] as const) {
    it(`sixth crash ${elapsedMs} ms after the first: ${isTooOften ? 'too' : 'not too'} often`, async () => {
      await crash(1);
      await lab.clock.advance(elapsedMs);
      await crash(5);
      expect(isQuarantined()).to.equal(isTooOften);
    });
  }

  it('a crash every twelve seconds, for ever: never too often, and the record does not grow', async () => {
    await crash(1);
    const { length } = await textOf(lab, address);
    for (let time = 0; time < 30; time += 1) {
      await lab.clock.advance(12_000);
      await crash(1);
    }
    expect(isQuarantined()).to.equal(false);
    expect((await textOf(lab, address)).length).to.be.below(length + 100);
  });

  it('restarts between the crashes: the crashes still count', async () => {
    await ask({ type: 'rest' });
    for (let time = 0; time < 6; time += 1) {
      expect(isQuarantined()).to.equal(false);
      await crash(1);
      await restart();
    }
    expect(life.engine.quarantined()[0]).to.include({ address });
  });

  it('quarantined: stays so after restarts, and was broadcast exactly once', async () => {
    await crash(6);
    const at = lab.clock.now();
    for (let time = 0; time < 3; time += 1) {
      await lab.clock.advance(120_000);
      await restart();
      expect(await failureOf(ask({ type: 'read' }))).to.include({ code: 'ACTOR_QUARANTINED' });
      expect(life.engine.quarantined()[0]?.reason).to.include(reason);
    }
    expect(await lab.told()).to.deep.equal([{ type: 'actor.quarantined', address, reason, at }]);
    expect(await lab.data.load(address)).to.include({ seq: 6 });
  });

  it('quarantined: the report of a restart names the actor', async () => {
    await ask({ type: 'rest' });
    await crash(6);
    await restart();
    expect(life.report).to.deep.equal({ actors: 0, quarantined: [address] });
  });

  it('broadcast of the quarantine delayed and the runtime dies: the next runtime sends it, once', async () => {
    life.store.hold('appendTopic');
    await crash(6);
    await restart();
    life.store.hold('settle');
    await restart();
    await restart();
    expect(await lab.told()).to.have.length(1);
  });

  for (const moment of ['before', 'after'] as const) {
    it(`runtime dies just ${moment} the commit of the last crash: record and topic agree`, async () => {
      await ask({ type: 'rest' });
      await crash(5);
      life.store.hold('commit', moment);
      const outcome = watched(ask(breakDown));
      await lab.rest();
      await restart();
      expect(outcome.state).to.equal('open');
      expect(isQuarantined()).to.equal(moment === 'after');
      expect(await lab.told()).to.have.length(moment === 'after' ? 1 : 0);
      if (moment === 'before') await crash(1);
      expect(isQuarantined()).to.equal(true);
      expect(await lab.told()).to.have.length(1);
    });

    it(`answer to the commit of the last crash fails ${moment} the write: the crash counts once`, async () => {
      await crash(5);
      life.store.fail('commit', moment);
      const outcome = watched(ask(breakDown));
      await lab.clock.advance(1_000);
      expect(outcome.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      expect(isQuarantined()).to.equal(true);
      expect(await lab.told()).to.have.length(1);
      expect((await kept()).crashes).to.have.length(6);
    });
  }

  it('requests behind the last crash are refused; messages stay owed', async () => {
    await crash(5);
    const outcomes = [breakDown, { type: 'read' }, breakDown].map((event) => watched(ask(event)));
    void message('later');
    await lab.rest();
    expect(outcomes.map(({ error }) => error?.code)).to.deep.equal([
      'ACTOR_CRASHED',
      'ACTOR_QUARANTINED',
      'ACTOR_QUARANTINED',
    ]);
    expect((await lab.data.unsettled({ prefix: '', limit: 9 })).rows).to.have.length(1);
    await life.engine.release(address);
    await lab.rest();
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['later'] });
  });

  it('messages over several restarts: each applied once and in order after the release', async () => {
    await message('0');
    await crash(6);
    for (let time = 1; time <= 6; time += 1) {
      await message(String(time));
      if (time % 2 === 0) await restart();
    }
    expect(await historyOf(life.engine, address)).to.have.length(7);
    await life.engine.release(address);
    await lab.rest();
    const expected = { notes: ['0', '1', '2', '3', '4', '5', '6'] };
    expect(life.engine.peek(address)?.context).to.deep.include(expected);
    await restart();
    expect(life.engine.peek(address)?.context).to.deep.include(expected);
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('message applied but not settled: settled when it comes again, though the actor is quarantined', async () => {
    life.store.hold('settle');
    await message('0');
    await crash(6);
    await restart();
    expect(isQuarantined()).to.equal(true);
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('crashes caused by messages: those behind the sixth wait, and arrive after the release', async () => {
    const messages = [...'123456'].map(() => ({ to: address, event: breakDown }));
    await life.engine.ask('desk/b', tell(...messages, noteTo(address, 'last')));
    await lab.rest();
    expect(isQuarantined()).to.equal(true);
    await restart();
    await life.engine.release(address);
    await lab.rest();
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['last'] });
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('effect of a quarantined actor: cancelled; neither a late result nor a restart changes the actor', async () => {
    await ask({ type: 'work' });
    const { signal } = work.last;
    await crash(6);
    expect(signal.reason).to.include({ code: 'ACTOR_QUARANTINED' });
    work.last.finish('too late');
    await restart();
    await lab.clock.advance(600_000);
    expect(work.calls).to.have.length(1);
    expect(await lab.data.load(address)).to.include({ seq: 7 });
  });

  it('timer of a quarantined actor falls due, even while no runtime runs: does not fire', async () => {
    await ask(nap(1_000));
    await crash(6);
    await lab.clock.advance(2_000);
    await restart();
    await lab.clock.advance(600_000);
    expect(await lab.data.load(address)).to.include({ seq: 7 });
  });

  it('another actor works on time meanwhile', async () => {
    await life.engine.ask('fragile/b', nap(1_000));
    await crash(6);
    await life.engine.ask('fragile/b', { type: 'note', text: 'fine' });
    await lab.clock.advance(1_000);
    expect(life.engine.peek('fragile/b')?.context).to.deep.include({ notes: ['fine'], naps: 1 });
  });

  it('policy without crashes and with another topic: the first crash quarantines, and is broadcast there', async () => {
    lab.limits = { policy: { crashes: { most: 0, withinMs: 1 }, topic: 'elsewhere' } };
    await restart();
    await ask({ type: 'note', text: 'one' });
    await crash(1);
    expect(isQuarantined()).to.equal(true);
    expect(await lab.told('elsewhere')).to.have.length(1);
    expect(await lab.told()).to.deep.equal([]);
  });

  it('request with an id makes the last crash: its repeat after the release gets the same answer', async () => {
    await crash(5);
    const named = { requestId: 'r1' };
    expect(await failureOf(life.engine.ask(address, breakDown, named))).to.include({ code: 'ACTOR_CRASHED' });
    expect(await failureOf(life.engine.ask(address, breakDown, named))).to.include({ code: 'ACTOR_QUARANTINED' });
    await restart();
    await life.engine.release(address);
    expect(await failureOf(life.engine.ask(address, breakDown, named))).to.include({ code: 'ACTOR_CRASHED' });
    expect((await kept()).crashes ?? []).to.deep.equal([]);
  });

  it('crash in the first step: the sixth one quarantines, and a restart names the actor', async () => {
    const stillborn = { ...fragileKind(), begin: (): object => ({ much: 10n }) };
    life = await lab.start([stillborn]);
    await crash6Times();
    expect(isQuarantined()).to.equal(true);
    life = await lab.start([stillborn]);
    expect(life.engine.quarantined()[0]).to.include({ address });
    expect(await failureOf(ask({ type: 'read' }))).to.include({ code: 'ACTOR_QUARANTINED' });
    await life.engine.release(address);
    expect(await failureOf(ask({ type: 'read' }))).to.include({ code: 'ACTOR_CRASHED' });
  });

  it('on-demand actor quarantined: a restart names it', async () => {
    const kind = { ...fragileKind(), onDemand: true };
    life = await lab.start([kind]);
    await crash(6);
    life = await lab.start([kind]);
    expect(life.engine.quarantined()[0]).to.include({ address });
  });

  const crash6Times = async (): Promise<void> => {
    for (let time = 0; time < 6; time += 1) await failureOf(ask({ type: 'read' }));
  };
});
