/** Wires in memory: the contract of all wires, then their faults. */
import { expect } from 'chai';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { MemoryWires, type WireFaults } from '../support/memory-wire.js';
import { wireSuite } from './wire-suite.js';

wireSuite('in memory', async () => {
  const clock = simulatedClock();
  const wires = new MemoryWires({ clock, random: seededRandom(1) });
  return {
    wire: async () => wires.wire(),
    elapse: (ms) => clock.advance(ms),
    nowMs: () => clock.monotonicMs(),
    until: async (_, isSo) => {
      while (!(await isSo())) await clock.advance(1);
    },
    flush: async () => wires.flush(),
    dispose: async () => {},
  };
});

describe('wire, in memory with faults', () => {
  interface Heard {
    text: number;
    ageMs: number;
    atMs: number;
  }
  let clock: SimulatedClock;

  beforeEach(() => {
    clock = simulatedClock();
  });

  /** Sends numbers, one each 10 ms, and returns those that were heard. */
  async function heardOf(faults: Partial<WireFaults>, seed = 7): Promise<Heard[]> {
    const wires = new MemoryWires({ clock, random: seededRandom(seed), faults });
    const heard: Heard[] = [];
    const receive = (text: string, ageMs: number): void =>
      void heard.push({ text: Number(text), ageMs, atMs: clock.monotonicMs() });
    await wires.wire().listen('a', receive, new AbortController().signal);
    for (let text = 0; text < 200; text += 1) {
      await wires
        .wire()
        .post('a', String(text))
        .catch(() => {});
      await clock.advance(10);
    }
    await clock.advance(10_000);
    return heard;
  }
  const sent = Array.from({ length: 200 }, (_, text) => text);
  const textsOf = (heard: Heard[]): number[] => heard.map(({ text }) => text);

  it('a seed gives the same faults each time', async () => {
    const faults = { lost: 0.2, doubled: 0.2, overtaken: 0.2, failed: 0.2, longestDelayMs: 500 };
    const first = textsOf(await heardOf(faults));
    clock = simulatedClock();
    expect(textsOf(await heardOf(faults))).to.deep.equal(first);
    clock = simulatedClock();
    expect(textsOf(await heardOf(faults, 8))).not.to.deep.equal(first);
  });

  it('some are lost, the others are heard once and in order', async () => {
    const texts = textsOf(await heardOf({ lost: 0.2 }));
    expect(texts.length).to.be.within(1, 199);
    expect(texts).to.deep.equal([...new Set(texts)].sort((a, b) => a - b));
  });

  it('some come twice, and none is lost', async () => {
    const texts = textsOf(await heardOf({ doubled: 0.2 }));
    expect(texts.length).to.be.above(200);
    expect([...new Set(texts)]).to.deep.equal(sent);
  });

  it('some are delayed: all come in order, as old as they are', async () => {
    const heard = await heardOf({ delayed: 0.1, longestDelayMs: 500 });
    expect(textsOf(heard)).to.deep.equal(sent);
    expect(Math.max(...heard.map(({ ageMs }) => ageMs))).to.be.above(100);
    for (const { text, ageMs, atMs } of heard) expect(ageMs).to.equal(atMs - text * 10);
  });

  it('some are overtaken: all come, as old as they are', async () => {
    const heard = await heardOf({ overtaken: 0.1, longestDelayMs: 500 });
    expect(textsOf(heard)).not.to.deep.equal(sent);
    expect(textsOf(heard).sort((a, b) => a - b)).to.deep.equal(sent);
    for (const { text, ageMs, atMs } of heard) expect(ageMs).to.equal(atMs - text * 10);
  });

  it('D7 a frozen reader gets what has come meanwhile, as old as it is', async () => {
    const wires = new MemoryWires({ clock, random: seededRandom(1) });
    const heard: [string, number][] = [];
    await wires.wire().listen('n/1', (text, ageMs) => heard.push([text, ageMs]), new AbortController().signal);
    wires.freeze('n/');
    await wires.wire().post('n/1', 'first');
    await clock.advance(5_000);
    await wires.wire().post('n/1', 'second');
    await clock.advance(3_000);
    expect(heard).to.deep.equal([]);
    wires.thaw('n/');
    expect(heard).to.deep.equal([
      ['first', 8_000],
      ['second', 3_000],
    ]);
  });
});
