/**
 * The end of an instance against all else that may happen to it at that moment: every order of a look's answer, a lost
 * connection, a new definition, the end of the look's time, the end of the runtime. Between two of them passes nothing,
 * a few turns or all that is under way, as the seed has it. Turn by turn, two at a time: shutdown.test.ts
 */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import type { Random } from '../../src/engine/random.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { type FakeClient, healthy, type Look, unhealthy } from './fake-kind.js';
import { device, House, inShort, nodeId, refusal } from './house.js';

const seed = 20261121;

const answers = {
  good: () => healthy,
  bad: () => unhealthy,
  failing: () => new Error('cancelled'),
  missing: undefined,
} satisfies Record<string, (() => Fingerprint | Error) | undefined>;
type Answer = keyof typeof answers;

type Action = 'answer' | 'deregister' | 'lost' | 'restart' | 'timeout' | 'close';

const beside: Action[] = ['answer', 'deregister', 'lost', 'restart', 'timeout'];

function ordersOf<T>(items: T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => ordersOf(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

/** Looks wait, by the name of their plugin, until they are answered. */
class Waiting {
  readonly #waiting = new Map<string, ((found: Fingerprint | Error) => void)[]>();

  hold({ client: { info } }: Look): Promise<Fingerprint> {
    return new Promise((resolve, reject) => {
      const settle = (found: Fingerprint | Error): void => (found instanceof Error ? reject(found) : resolve(found));
      this.#waiting.set(info.name, [...(this.#waiting.get(info.name) ?? []), settle]);
    });
  }

  /** All that wait now; not those that come after. */
  answer(name: string, found: Fingerprint | Error): void {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const settle of waiting) settle(found);
  }
}

/** One instance of one name, and what is done to it. */
class Schedule {
  readonly #house: House;
  readonly #random: Random;
  readonly #waiting = new Waiting();
  readonly name: string;
  /** What must be registered, after all calls that were answered with success; and what they must have told. */
  version: string | undefined;
  readonly told: string[] = [];
  readonly #underWay: Promise<void>[] = [];

  constructor(house: House, random: Random, name: string) {
    this.#house = house;
    this.#random = random;
    this.name = name;
  }

  /** Registered, and its first look, or one after a good one, under way. */
  async begin(wasHealthy: boolean): Promise<void> {
    const { kind, clock } = this.#house;
    kind.find = wasHealthy ? () => healthy : (look) => this.#waiting.hold(look);
    await this.#register('1');
    await this.#house.rest();
    kind.find = (look) => this.#waiting.hold(look);
    if (wasHealthy) await clock.advance(30_000);
  }

  async run(order: Action[], answer: Answer): Promise<void> {
    for (const action of order) {
      this.#underWay.push(this.#act(action, answer));
      const gap = Math.floor(this.#random.next() * 24);
      if (gap > 20) await this.#house.rest();
      else for (let turn = 0; turn < gap; turn += 1) await Promise.resolve();
    }
    await Promise.all(this.#underWay);
    await this.#house.rest();
  }

  /** Whatever happened before: it is taken out, if it is there. */
  async end(): Promise<void> {
    await this.#deregister();
    await this.#house.rest();
  }

  get clients(): FakeClient[] {
    return this.#house.kind.clients.filter(({ info }) => info.name === this.name);
  }

  async #act(action: Action, answer: Answer): Promise<void> {
    switch (action) {
      case 'answer': {
        const found = answers[answer]?.();
        if (found) this.#waiting.answer(this.name, found);
        return;
      }
      case 'deregister':
        return this.#unlessClosed(this.#deregister());
      case 'restart':
        return this.#unlessClosed(this.#register('2'));
      case 'lost':
        for (const { listeners } of this.clients) for (const tell of [...listeners]) tell();
        return;
      case 'timeout':
        return this.#house.clock.advance(30_000);
      case 'close':
        return this.#house.runtime.close();
    }
  }

  async #register(version: string): Promise<void> {
    await this.#house.plugins.register(this.info(version));
    this.told.push(this.version === undefined ? 'registered' : 'updated');
    this.version = version;
  }

  async #deregister(): Promise<void> {
    await this.#house.plugins.deregister('device', this.name, 'a1');
    if (this.version !== undefined) this.told.push('deregistered');
    this.version = undefined;
  }

  info(version: string) {
    return device('a1', { name: this.name, version });
  }

  /** A call that the end of the runtime refuses has changed nothing. */
  async #unlessClosed(call: Promise<void>): Promise<void> {
    const closed = await call.then(
      () => undefined,
      (error: unknown) => refusal(() => Promise.reject(error)),
    );
    if (closed) expect(closed.code).to.equal('RUNTIME_CLOSED');
  }
}

/** What was told of one name fits together, and the last word on its health comes after its end, once. */
function checkTold(schedule: Schedule, events: PluginEvent[]): void {
  const lines = events.map(inShort).join('; ');
  const registrations = events.flatMap(({ kind }) => (kind === 'health' ? [] : [kind]));
  expect(registrations, lines).to.deep.equal(schedule.told);
  let ends = 0;
  // Registered or defined anew, nothing is known of it.
  let state: PluginEvent['was'] = 'unknown';
  for (const { kind, was, healthy: isHealthy, description } of events) {
    if (kind === 'deregistered') ends += 1;
    if (kind !== 'health') continue;
    expect(['unknown', state], lines).to.include(was);
    expect(was, lines).to.not.equal(isHealthy ? 'healthy' : 'unhealthy');
    state = isHealthy ? 'healthy' : 'unhealthy';
    if (description !== 'shut down') continue;
    ends -= 1;
    expect(ends, `the last report comes once, after the end: ${lines}`).to.be.at.least(0);
  }
  expect(events.findLast(({ kind }) => kind === 'health')?.healthy ?? false, lines).to.equal(false);
}

/** No life of its actor takes anything after its end. */
async function checkHistory(house: House, schedule: Schedule): Promise<void> {
  let isOver = false;
  for (const entry of await house.history(schedule.info('1'))) {
    if (entry.startsWith('begun')) isOver = false;
    expect(isOver && !entry.startsWith('stale'), entry).to.equal(false);
    expect(entry).to.not.include('crash');
    if (entry === 'plugin.shutdown') isOver = true;
  }
  expect(isOver).to.equal(true);
}

async function because(order: Action[], n: number, check: () => unknown): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw new Error(`schedule ${n} of seed ${seed}, ${order.join(', ')}: ${String(error)}`, { cause: error });
  }
}

describe('a shutdown that races', () => {
  for (const answer of Object.keys(answers) as Answer[]) {
    for (const wasHealthy of [false, true]) {
      const which = wasHealthy ? 'a later look' : 'the first look';

      it(`I11 ${which} answers ${answer}, races loss, new definition, time-out and end in every order: closed once`, async () => {
        const house = await new House().open();
        try {
          const random = seededRandom(seed);
          const timers = house.clock.pending;
          const schedules: [Schedule, Action[]][] = [];
          for (const [n, order] of ordersOf(beside).entries()) {
            const schedule = new Schedule(house, random, `n${n}`);
            schedules.push([schedule, order]);
            await because(order, n, async () => {
              await schedule.begin(wasHealthy);
              await schedule.run(order, answer);
              await schedule.end();
              expect(schedule.clients.map(({ closes }) => closes)).to.deep.equal(schedule.clients.map(() => 1));
              expect(schedule.clients.flatMap(({ listeners }) => [...listeners])).to.deep.equal([]);
              expect(house.clock.pending, 'timers').to.equal(timers);
            });
          }
          const { length } = house.kind.looks;
          await house.clock.advance(3_600_000);
          expect(house.kind.looks, 'looks after the end').to.have.lengthOf(length);
          expect(house.plugins.list()).to.deep.equal([]);
          const all = await house.events();
          for (const [n, [schedule, order]] of schedules.entries()) {
            await because(order, n, async () => {
              const events = all.filter(({ info }) => info.name === schedule.name);
              checkTold(schedule, events);
              await checkHistory(house, schedule);
              const record = await house.store.load(pluginAddress(nodeId, 'device', schedule.name, 'a1'));
              expect(record).to.include({ gone: true });
            });
          }
        } finally {
          await house.dispose();
        }
      });
    }
  }

  it('R13 I11 the runtime closes meanwhile, in every order: clients closed once, no timer left, answers kept', async () => {
    const random = seededRandom(seed);
    const kinds = Object.keys(answers) as Answer[];
    const orders = ordersOf<Action>(['answer', 'deregister', 'restart', 'close']);
    for (const [n, order] of [...orders, ...orders].entries()) {
      const house = await new House().open();
      try {
        await because(order, n, async () => {
          const schedule = new Schedule(house, random, 'gpu');
          await schedule.begin(n < orders.length);
          await schedule.run(order, kinds[n % kinds.length] ?? 'good');
          expect(house.kind.closes).to.deep.equal(house.kind.clients.map(() => 1));
          expect(house.kind.clients.flatMap(({ listeners }) => [...listeners])).to.deep.equal([]);
          expect(house.clock.pending, 'timers').to.equal(0);
          const { length } = house.kind.looks;
          await house.clock.advance(3_600_000);
          expect(house.kind.looks, 'looks after the end').to.have.lengthOf(length);

          house.kind.find = () => healthy;
          await house.open();
          await house.rest();
          const { version } = schedule;
          expect(house.plugins.list()).to.deep.equal(version === undefined ? [] : [schedule.info(version)]);
          const open = house.kind.clients.filter(({ closes }) => closes === 0).map(({ info }) => info);
          expect(open).to.deep.equal(house.plugins.list());
          if (version !== undefined) expect(house.plugins.status('device', 'gpu').healthy).to.equal(true);
          await schedule.end();
          checkTold(schedule, await house.events());
          await checkHistory(house, schedule);
        });
      } finally {
        await house.dispose();
      }
    }
  });
});
