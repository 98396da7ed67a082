/** The process dies at every single call of the store, before or after it took effect; the next one makes good for all. */
import { expect } from 'chai';
import { pause } from '../../src/engine/clock.js';
import type { EffectCall } from '../../src/engine/effects.js';
import type { Engine } from '../../src/engine/engine.js';
import type { Random } from '../../src/engine/random.js';
import { seededRandom } from '../../src/testing/index.js';
import { builderAddress, clerkAddress, plannerAddress, siteKinds, siteTopic } from './building-site.js';
import { type Cut, cutStore } from './cut-store.js';
import { Lab, topicOf } from './lab.js';

const uncut: Cut = { at: Number.POSITIVE_INFINITY, moment: 'before' };
const seeds = [1, 2, 3];
const addresses = [plannerAddress, builderAddress, clerkAddress];

interface Order {
  id: string;
  waitMs: number;
  /** How often building it fails before it succeeds. */
  failures: number;
}

function ordersOf(random: Random): Order[] {
  return Array.from({ length: 4 }, (_, index) => ({
    id: `house-${index}`,
    waitMs: Math.floor(random.next() * 800),
    failures: Math.floor(random.next() * 2),
  }));
}

/** One run of the scenario: lives that follow each other on one store, and the world outside that outlives them. */
class Run {
  readonly lab = new Lab();
  readonly orders: Order[];
  /** How often each house was worked on. */
  readonly doings = new Map<string, number>();
  readonly answers = new Map<string, unknown>();

  constructor(seed: number) {
    this.orders = ordersOf(seededRandom(seed));
  }

  /** Lives until the cut, or until all has come to rest. Answers the engine of a life that was not cut. */
  async live(cut: Cut): Promise<Engine | undefined> {
    await this.lab.crash();
    const died = new AbortController();
    const store = cutStore(this.lab.store(), cut, () => {
      died.abort();
      void this.lab.crash();
    });
    const engine = this.lab.engine(siteKinds({ run: (call) => this.#construct(call, died.signal) }), store);
    void this.#begin(engine, died.signal).catch(() => {});
    for (let second = 0; second < 15 && !died.signal.aborted; second += 1) await this.lab.clock.advance(1_000);
    return store.isCut ? undefined : engine;
  }

  async #begin(engine: Engine, died: AbortSignal): Promise<void> {
    await engine.open();
    await engine.restore(['']);
    for (const { id, waitMs } of this.orders) {
      if (this.answers.has(id)) continue;
      await pause(this.lab.clock, waitMs);
      const answer = await engine.ask(plannerAddress, { type: 'order', id }, { requestId: `order ${id}` });
      if (died.aborted) return;
      this.answers.set(id, answer);
    }
  }

  async #construct({ input }: EffectCall, died: AbortSignal): Promise<string> {
    const { id, attempt }: { id?: string; attempt?: number } = input instanceof Object ? input : {};
    const order = this.orders.find((one) => one.id === id);
    if (!order || !attempt) throw new Error('nothing to build');
    await pause(this.lab.clock, 100);
    if (died.aborted) return new Promise(() => {});
    this.doings.set(order.id, (this.doings.get(order.id) ?? 0) + 1);
    if (attempt <= order.failures) throw new Error('the wall fell over');
    return order.id;
  }

  /** All that may be seen when everything is at rest, without what depends on when it happened. */
  async outcome(engine: Engine): Promise<object> {
    const told: Record<string, string[]> = {};
    for (const { source, text } of await topicOf(this.lab, siteTopic)) {
      const { type, id }: { type: string; id: string } = JSON.parse(text);
      const name = `${source} ${type}`;
      told[name] = [...(told[name] ?? []), id];
    }
    const actors = addresses.map((address) => [address, engine.peek(address)?.state, engine.peek(address)?.context]);
    return { actors, told, answers: [...this.answers] };
  }

  /** What must hold in any run that came to rest. */
  async check(engine: Engine): Promise<void> {
    for (const { id, failures } of this.orders) expect(this.doings.get(id), id).to.be.greaterThan(failures);
    expect(await this.lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
    for (const address of addresses) {
      const record = await this.lab.data.load(address);
      const replayed = await engine.replay(address);
      expect(replayed.seq).to.equal(record?.seq);
      expect(JSON.stringify(replayed.snapshot)).to.equal(JSON.stringify(JSON.parse(record?.text ?? '').snapshot));
    }
  }
}

/** Lives on after the cuts, and compares what there is with a run that had none. Answers whether one of them came. */
async function expectSameOutcome(seed: number, cuts: Cut[], expected: object): Promise<boolean> {
  const run = new Run(seed);
  let wasCut = false;
  for (const cut of cuts) wasCut = (await run.live(cut)) === undefined || wasCut;
  const engine = await run.live(uncut);
  if (!engine) throw new Error('a life without a cut was cut');
  expect(await run.outcome(engine), JSON.stringify({ seed, cuts })).to.deep.equal(expected);
  await run.check(engine);
  return wasCut;
}

describe('a process that dies at the n-th call of its store', () => {
  const expected = new Map<number, object>();

  before(async () => {
    for (const seed of seeds) {
      const run = new Run(seed);
      const engine = await run.live(uncut);
      if (!engine) throw new Error('a life without a cut was cut');
      await run.check(engine);
      expected.set(seed, await run.outcome(engine));
    }
  });

  it('never, then every house is ordered, built, filed and told of once, in order', () => {
    const houses = ['house-0', 'house-1', 'house-2', 'house-3'];
    for (const seed of seeds) {
      expect(expected.get(seed)).to.deep.equal({
        actors: [
          [plannerAddress, {}, { ordered: houses, built: houses, filed: houses }],
          [builderAddress, 'idle', { waiting: [], attempt: 1 }],
          [clerkAddress, {}, { files: houses }],
        ],
        told: {
          [`${plannerAddress} ordered`]: houses,
          [`${builderAddress} built`]: houses,
          [`${clerkAddress} filing`]: houses,
          [`${plannerAddress} filed`]: houses,
        },
        answers: houses.map((id, index) => [id, index + 1]),
      });
    }
  });

  for (const seed of seeds) {
    for (const moment of ['before', 'after'] as const) {
      it(`${moment} it took effect, for every n (seed ${seed}), then the next life comes to the same end`, async () => {
        let at = 1;
        while (await expectSameOutcome(seed, [{ at, moment }], expected.get(seed) ?? {})) at += 1;
        expect(at).to.be.greaterThan(60);
      });
    }
  }

  it('again and again, at random calls, then the last life comes to the same end', async () => {
    const random = seededRandom(99);
    for (let round = 0; round < 60; round += 1) {
      const seed = seeds[round % seeds.length] ?? 1;
      const cuts = Array.from({ length: 6 }, () => ({
        at: 1 + Math.floor(random.next() * 25),
        moment: random.next() < 0.5 ? ('before' as const) : ('after' as const),
      }));
      await expectSameOutcome(seed, cuts, expected.get(seed) ?? {});
    }
  });
});
