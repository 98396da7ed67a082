/** One run of the building site: successive lives on one store, and the outside world that outlives them. */
import { expect } from 'chai';
import { pause } from '../../src/engine/clock.js';
import type { EffectCall } from '../../src/engine/effects/effects.js';
import type { Engine } from '../../src/engine/engine.js';
import type { Random } from '../../src/engine/random.js';
import type { Store } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/index.js';
import { builderAddress, clerkAddress, plannerAddress, siteKinds, siteTopic } from './building-site.js';
import { Lab, topicOf } from './lab.js';

const addresses = [plannerAddress, builderAddress, clerkAddress];

/** Ends a life at once: its engine, its effects, its clients. */
type Kill = () => void;

interface Order {
  id: string;
  waitMs: number;
  /** Number of failures before the house is built. */
  failures: number;
}

function ordersOf(random: Random): Order[] {
  return Array.from({ length: 4 }, (_, index) => ({
    id: `house-${index}`,
    waitMs: Math.floor(random.next() * 800),
    failures: Math.floor(random.next() * 2),
  }));
}

const asIs = (store: Store): Store => store;

export class SiteRun {
  readonly lab = new Lab();
  readonly orders: Order[];
  /** Number of attempts at each house. */
  readonly doings = new Map<string, number>();
  readonly answers = new Map<string, unknown>();

  /** @param atOnce whether all houses are ordered in one turn, so that their steps share a commit */
  constructor(
    seed: number,
    readonly atOnce = false,
  ) {
    this.orders = ordersOf(seededRandom(seed));
  }

  /**
   * Runs one life long enough for all work to come to rest. Returns its engine unless it was killed.
   * @param through wraps the store for this life, and may kill it
   * @param seconds duration of the life
   */
  async live(through: (store: Store, kill: Kill) => Store = asIs, seconds = 15): Promise<Engine | undefined> {
    await this.lab.crash();
    const died = new AbortController();
    const kill: Kill = () => {
      died.abort();
      void this.lab.crash();
    };
    const store = through(this.lab.store(), kill);
    const engine = this.lab.engine(siteKinds({ run: (call) => this.#construct(call, died.signal) }), store);
    void this.#begin(engine, died.signal).catch(() => {});
    for (let second = 0; second < seconds && !died.signal.aborted; second += 1) await this.lab.clock.advance(1_000);
    return died.signal.aborted ? undefined : engine;
  }

  async #begin(engine: Engine, died: AbortSignal): Promise<void> {
    await engine.open();
    await engine.restore(['']);
    const left = this.orders.filter(({ id }) => !this.answers.has(id));
    const order = async (one: Order): Promise<void> => {
      const answer = await this.#order(engine, one);
      if (!died.aborted) this.answers.set(one.id, answer);
    };
    if (this.atOnce) {
      await Promise.all(left.map(order));
      return;
    }
    for (const one of left) {
      await pause(this.lab.clock, one.waitMs);
      await order(one);
      if (died.aborted) return;
    }
  }

  /** Repeats the request as long as its outcome is unknown. */
  async #order(engine: Engine, { id }: Order): Promise<unknown> {
    try {
      return await engine.ask(plannerAddress, { type: 'order', id }, { requestId: `order ${id}` });
    } catch (error) {
      if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) throw error;
      await pause(this.lab.clock, 100);
      return this.#order(engine, { id, waitMs: 0, failures: 0 });
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

  /** Returns the visible outcome at rest, without anything that depends on timing. */
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

  /** Checks what must hold after any run. */
  async check(engine: Engine): Promise<void> {
    for (const { id, failures } of this.orders) expect(this.doings.get(id), id).to.be.greaterThan(failures);
    expect(await this.lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
    for (const address of addresses) {
      const record = await this.lab.data.load(address);
      const replayed = await engine.journals.replay(address);
      expect(replayed.seq).to.equal(record?.seq);
      expect(JSON.stringify(replayed.snapshot)).to.equal(JSON.stringify(JSON.parse(record?.text ?? '').snapshot));
    }
  }
}
