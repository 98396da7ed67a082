/** Start of effects: only with an open gate, at their time, and recovered effects in batches. */
import { expect } from 'chai';
import type { LiveEffect } from '../../../src/engine/actor/actor-record.js';
import { EffectGate, type Entrance } from '../../../src/engine/effects/effect-gate.js';
import { TimerHeap } from '../../../src/engine/timer-heap.js';
import { type SimulatedClock, simulatedClock } from '../../../src/testing/index.js';

describe('the gate of effects', () => {
  let clock: SimulatedClock;
  let timers: TimerHeap;
  let gate: EffectGate;
  let isOpen: boolean;
  let started: string[];
  /** Milliseconds by which the wall clock was set. */
  let setMs: number;

  beforeEach(() => {
    const simulated = simulatedClock();
    setMs = 0;
    clock = { ...simulated, now: () => simulated.now() + setMs };
    timers = new TimerHeap(clock);
    isOpen = true;
    started = [];
    gate = new EffectGate(clock, timers, () => isOpen);
  });

  const live = (id: string): LiveEffect => ({ id, src: 'work', input: {}, seq: 1 });
  const admit = (id: string, entrance: Partial<Entrance> = {}): LiveEffect => {
    const effect = live(id);
    gate.admit(effect, { recovered: false, delayMs: 0, start: () => started.push(id), ...entrance });
    return effect;
  };
  const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => `${from + at}`);
  const admitRecovered = (count: number): LiveEffect[] => names(0, count).map((id) => admit(id, { recovered: true }));

  it('gate open: the effect starts at once, within the call', () => {
    admit('a');
    expect(started).to.deep.equal(['a']);
    expect(timers.size).to.equal(0);
  });

  it('gate closed: effects start once it opens again, once, in order', async () => {
    isOpen = false;
    admit('a');
    admit('b');
    gate.reopen();
    await clock.advance(1_000);
    expect(started).to.deep.equal([]);
    isOpen = true;
    gate.reopen();
    gate.reopen();
    expect(started).to.deep.equal(['a', 'b']);
  });

  it('effect with a start time: not a millisecond earlier, even if the gate is reopened meanwhile', async () => {
    admit('a', { delayMs: 500 });
    await clock.advance(499);
    gate.reopen();
    gate.reopen();
    expect(started).to.deep.equal([]);
    await clock.advance(1);
    expect(started).to.deep.equal(['a']);
    expect(timers.size).to.equal(0);
  });

  it('start time passed while the gate is closed: starts when it opens', async () => {
    admit('a', { delayMs: 500 });
    isOpen = false;
    await clock.advance(1_000);
    expect(started).to.deep.equal([]);
    isOpen = true;
    gate.reopen();
    expect(started).to.deep.equal(['a']);
  });

  for (const [how, byMs] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`wall clock set ${how} by an hour: the effect still starts after its delay`, async () => {
      admit('a', { delayMs: 500 });
      setMs = byMs;
      gate.reopen();
      await clock.advance(499);
      expect(started).to.deep.equal([]);
      await clock.advance(1);
      expect(started).to.deep.equal(['a']);
    });
  }

  it('effect withdrawn during any wait: never starts, and no timer remains', async () => {
    const waiting = [admit('timed', { delayMs: 500 })];
    isOpen = false;
    waiting.push(admit('closed'), admit('recovered', { recovered: true }));
    for (const effect of waiting) gate.withdraw(effect);
    expect(timers.size).to.equal(0);
    isOpen = true;
    gate.reopen();
    await clock.advance(1_000);
    expect(started).to.deep.equal([]);
  });

  it('withdrawn twice, or never admitted: nothing happens', () => {
    const effect = admit('a', { delayMs: 500 });
    gate.withdraw(effect);
    gate.withdraw(effect);
    gate.withdraw(live('b'));
    expect(timers.size).to.equal(0);
  });

  describe('effects of an earlier runtime', () => {
    it('many effects: at most 100 start at once and per tenth of a second, in order', async () => {
      admitRecovered(1_000);
      const counts: number[] = [];
      for (let known = 0; started.length < 1_000; known = started.length) {
        await clock.advance(known === 0 ? 0 : 100);
        counts.push(started.length - known);
      }
      expect(Math.max(...counts)).to.equal(100);
      expect(counts.length).to.be.lessThan(12);
      expect(started).to.deep.equal(names(0, 1_000));
      await clock.advance(100);
      expect(timers.size).to.equal(0);
    });

    it('new effects do not queue behind them', () => {
      admitRecovered(500);
      admit('new');
      expect(started).to.include('new');
    });

    it('many withdrawn: they use up no place of a batch', async () => {
      const effects = admitRecovered(600);
      await clock.advance(100);
      const known = started.length;
      for (const effect of effects.slice(known, known + 150)) gate.withdraw(effect);
      await clock.advance(100);
      expect(started.slice(known)).to.deep.equal(names(known + 150, known + 250));
    });

    it('all waiting effects withdrawn: no timer stays for long', async () => {
      for (const effect of admitRecovered(400)) gate.withdraw(effect);
      await clock.advance(100);
      expect(timers.size).to.equal(0);
    });

    it('gate closed for several batches, then opened: start in order, at the same rate', async () => {
      admitRecovered(1_000);
      await clock.advance(100);
      const known = started.length;
      isOpen = false;
      await clock.advance(250);
      expect(started).to.have.length(known);
      isOpen = true;
      gate.reopen();
      expect(started.length - known).to.be.at.most(100);
      await clock.advance(1_000);
      expect(started).to.deep.equal(names(0, 1_000));
    });

    it('gate opens and closes repeatedly: never more starts than the rate', async () => {
      admitRecovered(400);
      for (let round = 0; round < 20; round += 1) {
        isOpen = round % 2 === 0;
        if (isOpen) gate.reopen();
        await clock.advance(10);
      }
      expect(started.length).to.be.at.most(300);
    });

    it('start of one admits another or withdraws the next: respected', async () => {
      const next = live('next');
      admit('first', { recovered: true, start: () => gate.withdraw(next) });
      gate.admit(next, { recovered: true, delayMs: 0, start: () => started.push('next') });
      admit('x', { recovered: true, start: () => admit('from x', { recovered: true }) });
      await clock.advance(1_000);
      expect(started).to.include('from x');
    });

    it('effects with start times: each waits for its time and its batch', async () => {
      names(0, 250).map((id) => admit(id, { recovered: true, delayMs: 1_000 }));
      await clock.advance(999);
      expect(started).to.deep.equal([]);
      await clock.advance(1);
      expect(started.length).to.be.within(1, 100);
      await clock.advance(300);
      expect(started).to.deep.equal(names(0, 250));
    });
  });
});
