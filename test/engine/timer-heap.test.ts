/** Heap of timers, compared with a list that is searched for its earliest timer. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Timer, TimerHeap } from '../../src/engine/timer-heap.js';
import { type SimulatedClock, seededRandom, simulatedClock } from '../../src/testing/index.js';

interface QuickClock extends SimulatedClock {
  pass(ms: number): void;
  readonly thrown: unknown[];
}

/** Clock whose time passes at once, without a turn of the event loop. */
function quickClock(): QuickClock {
  let nowMs = 0;
  const thrown: unknown[] = [];
  const timers = new Set<{ dueAtMs: number; callback: () => void }>();
  const earliest = (untilMs: number): { dueAtMs: number; callback: () => void } | undefined =>
    [...timers].filter(({ dueAtMs }) => dueAtMs <= untilMs).sort((a, b) => a.dueAtMs - b.dueAtMs)[0];
  return {
    ...simulatedClock(),
    now: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueAtMs: nowMs + Math.max(delayMs, 0), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      const untilMs = nowMs + ms;
      for (let timer = earliest(untilMs); timer; timer = earliest(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueAtMs);
        try {
          timer.callback();
        } catch (error) {
          thrown.push(error); // Node's own timers go on as well
        }
      }
      nowMs = untilMs;
    },
    thrown,
    get pending() {
      return timers.size;
    },
  };
}

const broken = 'a callback broke';

type CompiledAction = 'nothing' | 'throw' | 'set' | 'set at once' | 'cancel' | 'stop';
type Step =
  | { do: 'set'; delayMs: number; deed: CompiledAction; which: number }
  | { do: 'cancel'; which: number }
  | { do: 'pass'; ms: number }
  | { do: 'stop' };

const deeds: fc.Arbitrary<CompiledAction> = fc.constantFrom(
  'nothing',
  'nothing',
  'throw',
  'set',
  'set at once',
  'cancel',
  'cancel',
  'stop',
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      delayMs: fc.integer({ min: -5, max: 60 }),
      deed: deeds,
      which: fc.nat(50),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(50) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
);

/** The heap and its model, side by side. */
class Pair {
  readonly clock = quickClock();
  readonly heap = new TimerHeap(this.clock);
  readonly fired: string[] = [];
  #isStopped = false;
  readonly #set: { timer: Timer; dueAtMs: number; order: number; isLive: boolean }[] = [];

  set(delayMs: number, deed: CompiledAction, which: number): void {
    const order = this.#set.length;
    const dueAtMs = this.clock.monotonicMs() + Math.max(delayMs, 0);
    const timer = this.heap.after(delayMs, () => this.#fire(order, deed, which));
    this.#set.push({ timer, dueAtMs, order, isLive: !this.#isStopped });
  }

  cancel(which: number): void {
    const chosen = this.#set[this.#set.length - 1 - which];
    if (!chosen) return;
    this.heap.cancel(chosen.timer);
    chosen.isLive = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.heap.stop();
    for (const each of this.#set) each.isLive = false;
  }

  check(): void {
    expect(this.heap.size).to.equal(this.#live().length);
    expect(this.clock.pending).to.be.at.most(1);
    if (this.heap.size > 0) expect(this.clock.pending).to.equal(1);
    for (const { dueAtMs } of this.#live()) expect(dueAtMs).to.be.greaterThan(this.clock.monotonicMs() - 1);
  }

  #live(): { dueAtMs: number; order: number; isLive: boolean }[] {
    return this.#set.filter(({ isLive }) => isLive).sort((a, b) => a.dueAtMs - b.dueAtMs || a.order - b.order);
  }

  #fire(order: number, deed: CompiledAction, which: number): void {
    const [next] = this.#live();
    expect(next?.order, 'the one that is due first').to.equal(order);
    expect(this.clock.monotonicMs(), 'its time').to.equal(next?.dueAtMs);
    if (next) next.isLive = false;
    this.fired.push(`${order}`);
    if (deed === 'throw') throw new Error(broken);
    if (deed === 'set') this.set(which, 'nothing', 0);
    if (deed === 'set at once') this.set(0, 'nothing', 0);
    if (deed === 'cancel') this.cancel(which);
    if (deed === 'stop') this.stop();
  }
}

describe('the heap of timers', () => {
  let clock: SimulatedClock;
  let heap: TimerHeap;
  let fired: unknown[];

  beforeEach(() => {
    clock = simulatedClock();
    heap = new TimerHeap(clock);
    fired = [];
  });

  const set = (delayMs: number, name: unknown = delayMs): Timer => heap.after(delayMs, () => fired.push(name));

  it('random timers, cancels and stops, also in callbacks: each timer fires once, in order, on time', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), (plan) => {
        const pair = new Pair();
        for (const step of plan) {
          if (step.do === 'set') pair.set(step.delayMs, step.deed, step.which);
          else if (step.do === 'cancel') pair.cancel(step.which);
          else if (step.do === 'pass') pair.clock.pass(step.ms);
          else pair.stop();
          pair.check();
        }
        pair.clock.pass(1_000);
        pair.check();
        expect(pair.clock.thrown.map(String).filter((text) => !text.includes(broken))).to.deep.equal([]);
        expect(new Set(pair.fired).size).to.equal(pair.fired.length);
        expect(pair.heap.size).to.equal(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('timers of the same moment fire in the order in which they were set', async () => {
    for (let at = 0; at < 100; at += 1) set(50, at);
    set(40, 'before');
    await clock.advance(50);
    expect(fired).to.deep.equal(['before', ...Array.from({ length: 100 }, (_, at) => at)]);
  });

  it('thousands set, most cancelled: the rest fire in order, and the clock has one timer', async () => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const random = seededRandom(seed);
      const timers = Array.from({ length: 20_000 }, () => {
        const delayMs = Math.floor(random.next() * 50);
        return { delayMs, timer: set(delayMs) };
      });
      const kept = timers.filter(() => random.next() < 0.1);
      const spared = new Set(kept);
      for (const each of timers) if (!spared.has(each)) heap.cancel(each.timer);
      expect(heap.size, `seed ${seed}`).to.equal(kept.length);
      expect(clock.pending).to.equal(1);
      await clock.advance(50);
      expect(fired, `seed ${seed}`).to.deep.equal(kept.map(({ delayMs }) => delayMs).sort((a, b) => a - b));
      expect(clock.pending).to.equal(0);
      fired = [];
    }
  });

  it('thousands of callbacks cancel others: cancelled timers do not fire, and nothing remains', async () => {
    const timers: Timer[] = [];
    for (let at = 0; at < 5_000; at += 1) {
      timers.push(
        heap.after(at % 10, () => {
          fired.push(at);
          const other = timers[(at * 7 + 1_000) % timers.length];
          if (other) heap.cancel(other);
        }),
      );
    }
    await clock.advance(10);
    expect(heap.size).to.equal(0);
    expect(clock.pending).to.equal(0);
    expect(new Set(fired).size).to.equal(fired.length);
    expect(fired.length).to.be.within(1, 4_999);
  });

  it('most timers cancelled and set again, for ever: the heap does not grow', () => {
    set(1_000_000);
    for (let round = 0; round < 100_000; round += 1) heap.cancel(set(60_000));
    expect(heap.size).to.equal(1);
    expect(clock.pending).to.equal(1);
  });

  it('cancelled twice, or after it fired: counts once', async () => {
    const first = set(10);
    set(20);
    heap.cancel(first);
    heap.cancel(first);
    expect(heap.size).to.equal(1);
    await clock.advance(20);
    heap.cancel(first);
    expect(heap.size).to.equal(0);
    expect(fired).to.deep.equal([20]);
  });

  it('last timer cancelled: the clock has no timer', () => {
    const timers = [set(10), set(20)];
    for (const timer of timers) heap.cancel(timer);
    expect(clock.pending).to.equal(0);
    set(5);
    expect(clock.pending).to.equal(1);
  });

  it('stopped: nothing fires, also no timer set later', async () => {
    const before = set(10);
    heap.stop();
    heap.cancel(before);
    expect(heap.size).to.equal(0);
    expect(clock.pending).to.equal(0);
    set(20);
    await clock.advance(20);
    expect(fired).to.deep.equal([]);
    expect(heap.size).to.equal(0);
    expect(clock.pending).to.equal(0);
  });

  it('callback sets a timer that is due at once: it gets a turn of its own', () => {
    const quick = quickClock();
    const timers = new TimerHeap(quick);
    let isInside = false;
    const nested: boolean[] = [];
    timers.after(10, () => {
      isInside = true;
      timers.after(0, () => nested.push(isInside));
      isInside = false;
    });
    timers.after(10, () => fired.push('set before'));
    quick.pass(10);
    expect(fired).to.deep.equal(['set before']);
    expect(nested).to.deep.equal([false]);
  });

  it('callback throws: the error shows, and later timers still fire', () => {
    const quick = quickClock();
    const timers = new TimerHeap(quick);
    for (const delayMs of [10, 10, 10, 20]) {
      timers.after(delayMs, () => {
        fired.push(delayMs);
        throw new Error('broken');
      });
    }
    quick.pass(20);
    expect(fired).to.deep.equal([10, 10, 10, 20]);
    expect(quick.pending).to.equal(0);
  });

  it('process suspended for long: all due timers fire in order', () => {
    let nowMs = 0;
    let wake = (): void => {};
    const late = new TimerHeap({
      now: () => nowMs,
      monotonicMs: () => nowMs,
      after: (_, callback) => {
        wake = callback;
        return () => {};
      },
    });
    for (const delayMs of [30, 10, 20, 99_999]) late.after(delayMs, () => fired.push(delayMs));
    nowMs = 5_000;
    wake();
    expect(fired).to.deep.equal([10, 20, 30]);
    expect(late.size).to.equal(1);
  });
});
