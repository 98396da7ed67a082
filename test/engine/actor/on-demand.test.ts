/**
 * On-demand kinds: actors live in the store, load on a message or a due timer, and are passivated when memory is short.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import type { Store } from '../../../src/engine/store.js';
import { deskKind, noteTo, tell } from '../desk.js';
import { fragileKind, nap } from '../fragile.js';
import { failureOf, type Life, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { PolicyLab, plant } from '../policy-lab.js';

const address = 'fragile/a';
const minuteMs = 60_000;
/** Window and interval of reminders: src/engine/actor/passivation.ts. */
const [lookAheadMs, lookEachMs] = [10 * minuteMs, 5 * minuteMs];

describe('kinds on demand', () => {
  let lab: PolicyLab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new PolicyLab({ idleBytes: 0 });
    work = manualEffect(1_000_000);
    await restart();
  });

  const kinds = (): ActorKind[] => [{ ...fragileKind({ work }), onDemand: true }, deskKind];
  const restart = async (through?: (store: Store) => Store): Promise<void> => {
    life = await lab.start(kinds(), through ? { through } : {});
  };
  const ask = async (event: AnyEventObject, to = address): Promise<unknown> => {
    const answer = await life.engine.ask(to, event);
    await lab.rest();
    return answer;
  };
  const note = (text: string, to = address): Promise<unknown> => ask({ type: 'note', text }, to);
  const stored = async (of = address): Promise<{ notes: string[]; naps: number }> =>
    JSON.parse((await lab.data.load(of))?.text ?? '{}').snapshot.context;
  const isHere = (of = address): boolean => life.engine.has(of);

  it('after a restart: stays in the store, and peek returns nothing until a request comes', async () => {
    lab.limits = {};
    await restart();
    await note('one');
    expect(life.engine.peek(address)).to.deep.include({ seq: 1 });
    await restart();
    expect(life.report).to.deep.equal({ actors: 0, quarantined: [] });
    expect([isHere(), life.engine.peek(address)]).to.deep.equal([false, undefined]);
    expect([...life.engine.views('')]).to.deep.equal([]);
    expect(await ask({ type: 'read' })).to.deep.include({ notes: ['one'] });
    expect(life.engine.peek(address)).to.deep.include({ seq: 2 });
  });

  it('no room at all: leaves after each event, with the same state as if it had stayed', async () => {
    for (const text of ['1', '2', '3']) {
      await note(text);
      expect(isHere()).to.equal(false);
    }
    expect(await ask({ type: 'read' })).to.deep.equal({ notes: ['1', '2', '3'], results: [], naps: 0 });
    expect((await life.engine.journals.replay(address)).seq).to.equal(4);
  });

  it('message: the actor loads, applies it once, and leaves', async () => {
    await note('one');
    await ask(tell(noteTo(address, 'two'), noteTo(address, 'three')), 'desk/b');
    expect(isHere()).to.equal(false);
    expect((await stored()).notes).to.deep.equal(['one', 'two', 'three']);
  });

  it('burst of requests and messages for an actor in the store: one load, all handled in order', async () => {
    await note('0');
    const loads = life.store.calls.filter((call) => call === 'load').length;
    const asked = ['1', '2', '3'].map((text) => life.engine.ask(address, { type: 'note', text }));
    await Promise.all(asked);
    await lab.rest();
    expect((await stored()).notes).to.deep.equal(['0', '1', '2', '3']);
    expect(life.store.calls.filter((call) => call === 'load')).to.have.length(loads + 1);
  });

  it('actor that does not exist is looked up, then begun: one load', async () => {
    expect(await life.engine.read(address)).to.equal(undefined);
    await note('0');
    expect((await stored()).notes).to.deep.equal(['0']);
    expect(life.store.calls.filter((call) => call === 'load')).to.have.length(1);
  });

  it('request in the very moment of leaving: nothing is lost', async () => {
    const outcomes: unknown[] = [];
    life.engine.observe(({ seq }) => {
      if (seq >= 20) return;
      queueMicrotask(() => outcomes.push(watched(life.engine.ask(address, { type: 'note', text: `m${seq}` }))));
      if (seq % 3 === 0) setImmediate(() => watched(life.engine.ask(address, { type: 'note', text: `i${seq}` })));
    });
    await note('0');
    for (let turn = 0; turn < 20; turn += 1) await lab.rest();
    const { notes } = await stored();
    expect(new Set(notes).size).to.equal(notes.length);
    expect(notes).to.include.members(['m1', 'i3', 'm6', 'i6', 'm19', 'i18']);
  });

  it('actor with an effect stays, and a restart loads it at once; it leaves when the effect has ended', async () => {
    await ask({ type: 'work' });
    expect(isHere()).to.equal(true);
    await restart();
    await lab.clock.advance(1_000);
    expect(work.last).to.include({ recovered: true, attempt: 2 });
    work.last.finish('gold');
    await lab.rest();
    expect(isHere()).to.equal(false);
    expect(await stored()).to.deep.include({ results: ['gold'] });
  });

  it('commit hangs: the actor stays until it is done', async () => {
    const letGo = life.store.hold('commit', 'after');
    const outcome = watched(life.engine.ask(address, { type: 'note', text: 'one' }));
    await lab.rest();
    expect(isHere()).to.equal(true);
    letGo();
    await lab.rest();
    expect([outcome.state, isHere()]).to.deep.equal(['answered', false]);
  });

  it('event for an address without an actor: nothing stays in memory', async () => {
    const { begin, ...kind } = fragileKind();
    expect(begin).to.be.a('function');
    life = await lab.start([{ ...kind, onDemand: true }]);
    expect(await failureOf(note('one'))).to.include({ code: 'ACTOR_NOT_FOUND' });
    expect(isHere()).to.equal(false);
  });

  describe('in memory', () => {
    const bytesOf = async (of: string): Promise<number> => (await lab.data.load(of))?.text.length ?? 0;

    it('room for two: the actor idle longest leaves', async () => {
      for (const name of ['a', 'b', 'c']) await note('x', `fragile/${name}`);
      lab.limits = { idleBytes: 2 * (await bytesOf('fragile/a')) + 40 };
      await restart();
      const here = (): string[] => ['a', 'b', 'c'].filter((name) => isHere(`fragile/${name}`));
      await ask({ type: 'read' }, 'fragile/a');
      await ask({ type: 'read' }, 'fragile/b');
      await ask({ type: 'read' }, 'fragile/a');
      await ask({ type: 'read' }, 'fragile/c');
      expect(here()).to.deep.equal(['a', 'c']);
      await ask({ type: 'read' }, 'fragile/b');
      expect(here()).to.deep.equal(['b', 'c']);
    });

    it('actor idle longest works again: another one leaves, and it counts again once idle', async () => {
      for (const name of ['a', 'b', 'c']) await note('x', `fragile/${name}`);
      lab.limits = { idleBytes: 2 * (await bytesOf('fragile/a')) + 40 };
      await restart();
      await ask({ type: 'work' }, 'fragile/a');
      for (const name of ['b', 'c']) await ask({ type: 'read' }, `fragile/${name}`);
      expect(['a', 'b', 'c'].map((name) => isHere(`fragile/${name}`))).to.deep.equal([true, true, true]);
      work.last.finish('gold');
      await lab.rest();
      expect(['a', 'b', 'c'].map((name) => isHere(`fragile/${name}`))).to.deep.equal([true, false, true]);
    });

    it('thousands of requests, twice: memory stays within the limit, and nothing is lost', async () => {
      await note('x');
      lab.limits = { idleBytes: 50 * (await bytesOf(address)) };
      await restart();
      const names = Array.from({ length: 3_000 }, (_, index) => `fragile/${index}`);
      for (const text of ['1', '2']) {
        const outcomes = names.map((name) => watched(life.engine.ask(name, { type: 'note', text })));
        while (outcomes.some(({ state }) => state === 'open')) await lab.rest();
        await lab.rest();
        expect(names.filter((name) => isHere(name)).length).to.be.within(45, 50);
      }
      for (const name of names) expect((await stored(name)).notes).to.deep.equal(['1', '2']);
    });

    it('thousands of naps: each wakes once and on time, also after a restart, within the memory limit', async () => {
      await note('x');
      lab.limits = { idleBytes: 20 * (await bytesOf(address)) };
      await restart();
      const names = Array.from({ length: 1_500 }, (_, index) => `fragile/${index}`);
      await Promise.all(names.map((name, index) => life.engine.ask(name, nap(minuteMs + (index % 3)))));
      await lab.rest();
      expect(names.filter((name) => isHere(name)).length).to.be.below(25);
      await lab.clock.advance(minuteMs - 1);
      await restart();
      await lab.clock.advance(1);
      const napsOf = async (): Promise<number[]> => Promise.all(names.map(async (name) => (await stored(name)).naps));
      const untilRested = async (): Promise<void> => {
        for (let turn = 0; turn < 30; turn += 1) await lab.rest();
      };
      await untilRested();
      expect((await napsOf()).filter((naps) => naps === 1)).to.have.length(500);
      await restart();
      await lab.clock.advance(10 * minuteMs);
      await untilRested();
      expect(await napsOf()).to.deep.equal(names.map(() => 1));
      expect(names.filter((name) => isHere(name)).length).to.be.below(25);
    });
  });

  it('quarantined actor stays in memory; released, it works and leaves; its overdue nap ends once', async () => {
    await ask(nap(1_000));
    for (let time = 0; time < 6; time += 1) await failureOf(ask({ type: 'break' }));
    await note('other', 'fragile/b');
    await lab.clock.advance(lookAheadMs);
    expect([isHere(), isHere('fragile/b')]).to.deep.equal([true, false]);
    await restart();
    expect(life.engine.quarantined()).to.have.length(1);
    await life.engine.release(address);
    await lab.clock.advance(0);
    expect([isHere(), (await stored()).naps]).to.deep.equal([false, 1]);
  });

  describe('while the store fails', () => {
    it('to load: callers wait, and nothing is lost', async () => {
      await note('one');
      life.store.fail('load', 'before', 3);
      const outcome = watched(life.engine.ask(address, { type: 'note', text: 'two' }));
      await lab.clock.advance(2_000);
      expect(outcome.state).to.equal('answered');
      expect((await stored()).notes).to.deep.equal(['one', 'two']);
    });

    it('to list due timers, at the start or later: asked again soon, and each nap ends', async () => {
      await ask(nap(1_000));
      await lab.crash();
      await lab.clock.advance(minuteMs);
      let isDown = true;
      const down = (store: Store): Store => ({
        ...store,
        due: (query) => (isDown ? Promise.reject(new Error('down')) : store.due(query)),
      });
      await restart(down);
      expect(await stored()).to.deep.include({ naps: 0 });
      isDown = false;
      await lab.clock.advance(5_000);
      expect(await stored()).to.deep.include({ naps: 1 });
      await ask(nap(2 * lookAheadMs));
      isDown = true;
      await lab.clock.advance(lookEachMs);
      isDown = false;
      await lab.clock.advance(2 * lookAheadMs - lookEachMs);
      expect(await stored()).to.deep.include({ naps: 2 });
    });

    it('to load one due actor, for ever: restore ends, and the others wake in time', async () => {
      await ask(nap(1_000), 'fragile/bad');
      await ask(nap(2 * lookAheadMs));
      const choking = (store: Store): Store => ({
        ...store,
        load: (of) => (of === 'fragile/bad' ? Promise.reject(new Error('a bad page')) : store.load(of)),
      });
      await lab.crash();
      await lab.clock.advance(minuteMs);
      const engine = lab.engine(kinds(), lab.store(choking));
      await engine.open();
      const restored = watched(engine.restore(['']));
      await lab.clock.advance(minuteMs);
      expect(restored.state).to.equal('answered');
      await lab.clock.advance(2 * lookAheadMs - 2 * minuteMs);
      expect(await stored()).to.deep.include({ naps: 1 });
    });

    it('stop during a look: no timer remains, and no actor is loaded', async () => {
      await ask(nap(lookEachMs + 1_000));
      const letGo = life.store.hold('due', 'after');
      await lab.clock.advance(lookEachMs);
      await lab.stop(life.engine);
      letGo();
      await lab.rest();
      expect(lab.clock.pending).to.equal(0);
      expect(isHere()).to.equal(false);
    });

    it('to give a readable record: the actor is reported as soon as it is due, and the others wake', async () => {
      await ask(nap(1_000));
      await ask(nap(1_000), 'fragile/b');
      await plant(lab, address, '{', { wakeAtMs: lab.clock.now() });
      const before = await lab.data.load(address);
      await lab.clock.advance(2_000);
      await restart();
      expect(life.engine.quarantined().map((actor) => actor.address)).to.deep.equal([address]);
      expect(await stored('fragile/b')).to.deep.include({ naps: 1 });
      expect(await lab.data.load(address)).to.deep.equal(before);
    });
  });
});
