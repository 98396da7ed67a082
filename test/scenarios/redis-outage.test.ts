/**
 * Live runtimes and engines while their Redis is killed, full, read-only or cut off: callers are told the truth, each
 * request counts once, and the work goes on without a nudge.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pluginsAddress } from '../../machines/kit/addresses.js';
import { StagecraftError } from '../../src/errors.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import type { Plugins } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { cursorIn } from '../event-cursor.js';
import { device, inShort } from '../registry/house.js';
import { eventually, within } from '../until.js';
import { ChaosProxy, cuts } from './chaos-proxy.js';
import { Child } from './redis-child-driver.js';
import { add, type ClerkContext } from './redis-clerk.js';
import {
  checkReplay,
  clerkIn,
  codes,
  contextOf,
  durable,
  entriesOf,
  lapseLeases,
  owesNothing,
  recordsOf,
  Scene,
  type Told,
  told,
  topicRows,
  Writers,
} from './redis-scene.js';

const seed = Number(process.env.SEED ?? 20261121);
const chaosMs = Number(process.env.CHAOS_MS ?? 8_000);

/** Registers and deregisters instances of one name, one call after the other, and keeps what each was told. */
class Registrar {
  readonly calls: { what: 'register' | 'deregister'; allocId: string; how: Told }[] = [];
  #stopped = false;
  readonly running: Promise<void>;

  constructor(
    readonly plugins: Plugins,
    readonly name: string,
  ) {
    this.running = this.#run();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return within(`the last call for ${this.name}`, this.running);
  }

  get done(): number {
    return this.calls.filter(({ how }) => how === 'done').length;
  }

  async #run(): Promise<void> {
    for (let n = 1; !this.#stopped; n += 1) {
      const isLeaving = n % 3 === 0;
      const allocId = isLeaving ? `a${n - 2}` : `a${n}`;
      const { name } = this;
      const how = await told(
        isLeaving ? this.plugins.deregister('device', name, allocId) : this.plugins.register(device(allocId, { name })),
      );
      this.calls.push({ what: isLeaving ? 'deregister' : 'register', allocId, how });
      await sleep(2);
    }
  }
}

/** Follows from the first event on; begins again after the last one that it saw whenever it was cut off. */
function follower(plugins: Plugins): { seen: PluginEvent[]; stop(): Promise<void> } {
  const seen: PluginEvent[] = [];
  const over = new AbortController();
  const follow = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        const from = seen.at(-1)?.id ?? '0';
        for await (const event of plugins.updates(undefined, { from, signal: over.signal })) seen.push(event);
      } catch (error) {
        if (!(error instanceof StagecraftError) || error.code !== 'STORE_UNAVAILABLE') throw error;
        await sleep(20);
      }
    }
  };
  const following = follow();
  return {
    seen,
    stop: async () => {
      over.abort();
      await within('the follower', following);
    },
  };
}

describe(`a live runtime whose Redis fails, seed ${seed}`, () => {
  const scene = new Scene();

  afterEach(() => scene.clear());

  it('is killed twice (appendfsync always) during registrations: answered ones are kept, refused ones absent', async () => {
    const server = await scene.lab.server({ config: durable });
    const { runtime, logged } = await scene.runtime({ store: redisStore(server.url) });
    const names = ['gpu', 'tpu', 'fpga', 'nic'];
    const followers = [follower(runtime.plugins), follower(runtime.plugins)];
    const registrars = names.map((name) => new Registrar(runtime.plugins, name));
    const more = async (calls: number) => {
      const goals = registrars.map(({ done }) => done + calls);
      await eventually('more calls are answered', () => goals.every((goal, i) => (registrars[i]?.done ?? 0) >= goal));
    };
    await more(40);
    for (const downMs of [300, 6_500]) {
      await server.kill();
      await sleep(downMs); // how long it is gone, beyond the patience of the second time
      await server.run();
      await more(30);
    }
    for (const registrar of registrars) await registrar.stop();
    const calls = registrars.flatMap((registrar) => registrar.calls);
    expect(calls.some(({ how }) => how === 'unknown')).to.equal(true);
    expect(calls.some(({ how }) => how === 'refused')).to.equal(true);

    const reader = await scene.reader(server.url);
    const expected: string[] = [];
    for (const [i, name] of names.entries()) {
      const address = pluginsAddress('n1', 'device', name);
      await owesNothing(reader, address);
      const entries = (await entriesOf(reader, address)).filter(({ kind }) => kind === 'event');
      const instances: string[] = [];
      for (const { what, allocId, how } of registrars[i]?.calls ?? []) {
        const times = entries.filter(
          ({ event }) => event?.type === `plugins.${what}` && (event.allocId ?? event.info?.allocId) === allocId,
        ).length;
        if (how === 'done') expect(times, `${what} ${name} ${allocId}: ${how}`).to.equal(1);
        else if (how === 'refused') expect(times, `${what} ${name} ${allocId}: ${how}`).to.equal(0);
        else expect(times, `${what} ${name} ${allocId}: ${how}`).to.be.oneOf([0, 1]);
        if (times === 0) continue;
        if (what === 'register') {
          instances.unshift(allocId);
          expected.push(`${name} registered ${allocId}`);
        } else if (instances.includes(allocId)) {
          const wasActive = instances[0] === allocId;
          instances.splice(instances.indexOf(allocId), 1);
          expected.push(`${name} deregistered ${allocId}`);
          if (wasActive && instances.length > 0) expected.push(`${name} promoted ${instances[0]} for ${allocId}`);
        }
      }
      expect(runtime.plugins.instances('device', name).map(({ allocId }) => allocId)).to.deep.equal(instances);
      await eventually(
        `all of ${name} are healthy`,
        async () =>
          (await recordsOf(reader, `plugin/n1/device/${name}/`)).filter(({ text }) =>
            text.includes('"value":"healthy"'),
          ).length === instances.length,
      );
    }
    for (const record of [...(await recordsOf(reader, 'plugin')), ...(await recordsOf(reader, 'registry/'))]) {
      await checkReplay(reader, runtime.journal, record.address);
    }

    const rows = await topicRows(reader, 'plugins/n1');
    await eventually('the followers have all', () => followers.every(({ seen }) => seen.length >= rows.length));
    for (const each of followers) {
      await each.stop();
      expect(each.seen.map(({ id }) => cursorIn(id))).to.deep.equal(rows.map(({ cursor }) => cursor));
      for (const name of names) {
        const ofName = each.seen.filter(({ kind, info }) => kind !== 'health' && info.name === name);
        expect(ofName.map((event) => `${name} ${inShort(event)}`)).to.deep.equal(
          expected.filter((line) => line.startsWith(`${name} `)),
        );
      }
      const healths = each.seen.filter(({ kind }) => kind === 'health');
      const asTold = healths.map(({ info, was, healthy }) => `${info.name} ${info.allocId} ${was} ${healthy}`);
      expect(new Set(asTold).size).to.equal(asTold.length);
    }
    expect(codes(logged, 'STORE_SUSPECT')).to.have.lengthOf(2);
    expect(codes(logged, 'STORE_ROLLED_BACK')).to.deep.equal([]);
    expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('and its runtime are killed during calls, in rounds: the next runtime has each answered call once', async () => {
    const server = await scene.lab.server({ config: durable });
    const dataDir = join(scene.directory(), 'data');
    const random = seededRandom(seed);
    const answered: string[] = [];
    const asked: string[] = [];
    for (const round of [1, 2, 3]) {
      const child = await Child.start({ as: 'runtime', url: server.url, dataDir });
      scene.atEnd(() => child.kill());
      const calls = (async () => {
        for (let n = 1; ; n += 1) {
          const allocId = `r${round}-${n}`;
          asked.push(allocId);
          if ((await child.call({ what: 'register', name: 'gpu', allocId })) === 'done') answered.push(allocId);
        }
      })().catch(() => undefined);
      const goal = answered.length + 20;
      await eventually('it answers', () => answered.length >= goal);
      await sleep(random.next() * 20); // the moment itself
      await Promise.all(random.next() > 0.5 ? [server.kill(), child.kill()] : [child.kill().then(() => server.kill())]);
      await server.run();
      await lapseLeases(server.client());
      await eventually('the lease has lapsed', async () => (await server.client().keys('*:h:*')).length === 0);
      await within('the caller', calls);
    }
    const { runtime, logged } = await scene.runtime({ store: redisStore(server.url), dataDir });
    const allocIds = runtime.plugins.instances('device', 'gpu').map(({ allocId }) => allocId);
    expect(allocIds).to.include.members(answered);
    expect(allocIds.reverse()).to.deep.equal(asked.filter((allocId) => allocIds.includes(allocId)));
    expect(allocIds.length - answered.length).to.be.at.most(3);
    const reader = await scene.reader(server.url);
    await owesNothing(reader, '');
    const addresses = (await recordsOf(reader, 'plugin/')).map(({ address }) => address.split('/').at(-1));
    expect(addresses).to.have.members(allocIds);
    const rows = await topicRows(reader, 'plugins/n1');
    const registered = rows.flatMap(({ text }) => {
      const { type, info } = JSON.parse(text);
      return type === 'registered' ? [info.allocId] : [];
    });
    expect(registered).to.deep.equal(allocIds);
    await checkReplay(reader, runtime.journal, pluginsAddress('n1', 'device', 'gpu'));
    expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  for (const [what, limit, free] of [
    ['full', ['maxmemory', '1'], ['maxmemory', '0']],
    ['without the replicas it needs', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0']],
  ] as const) {
    it(`is ${what}: callers are refused, reads go on, and work goes on once it takes writes again`, async () => {
      const server = await scene.lab.server({ config: durable });
      const { runtime, kind, logged } = await scene.runtime({ store: redisStore(server.url) });
      const { plugins } = runtime;
      await plugins.register(device('a1'));
      await plugins.waitFor('device', 'gpu');
      await server.client().config('SET', ...limit);
      expect(await told(plugins.register(device('a2')))).to.equal('refused');
      expect(await told(plugins.register(device('b1', { name: 'tpu' })))).to.equal('refused');
      expect(await told(plugins.deregister('device', 'gpu', 'a1'))).to.equal('refused');
      expect(plugins.list()).to.deep.equal([device('a1')]);
      expect(plugins.status('device', 'gpu')).to.include({ state: 'healthy' });
      const replayed = await runtime.journal.replay('plugin/n1/device/gpu/a1');
      expect(replayed.snapshot?.value).to.equal('healthy');
      const looks = kind.looks.length;
      await server.client().config('SET', ...free);
      await eventually('it takes registrations again', async () => {
        return (await told(plugins.register(device('a3')))) === 'done';
      });
      await plugins.waitFor('device', 'gpu');
      expect(plugins.instances('device', 'gpu').map(({ allocId }) => allocId)).to.deep.equal(['a3', 'a1']);
      expect(kind.looks.length).to.be.greaterThan(looks);
      expect(await told(plugins.deregister('device', 'gpu', 'a1'))).to.equal('done');
      const entries = await entriesOf(await scene.reader(server.url), pluginsAddress('n1', 'device', 'gpu'));
      const allocIds = entries.map(({ event }) => event?.allocId ?? event?.info?.allocId);
      expect(allocIds).to.deep.equal(['a1', 'a3', 'a1']);
      expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  }

  it('is full for several terms of the lease: nothing is lost, and nothing counts twice', async () => {
    const server = await scene.lab.server({ config: durable });
    const { engine } = await scene.engine(server.url, { ttlMs: 600 });
    let lost = false;
    void engine.lost.then(() => {
      lost = true;
    });
    const writers = new Writers(() => engine, 4);
    await engine.ask('clerk/ticker', { type: 'tick' });
    await engine.ask('clerk/worker', { type: 'work' });
    await writers.more(10);
    await server.client().config('SET', 'maxmemory', '1');
    const asked = engine.ask('clerk/worker', { type: 'work' }).catch(() => undefined);
    const fullUntil = performance.now() + 2_000;
    await eventually('three terms have passed', () => performance.now() > fullUntil);
    expect(await told(engine.ask('clerk/0', add('never')))).to.equal('refused');
    const ticks = clerkIn(engine, 'clerk/ticker').ticks;
    await server.client().config('SET', 'maxmemory', '0');
    await asked;
    await writers.more(10);
    await eventually('it ticks', () => clerkIn(engine, 'clerk/ticker').ticks > ticks + 3);
    await writers.stop();
    expect(lost).to.equal(false);
    expect(writers.count('refused')).to.be.greaterThan(0);
    await writers.check(await scene.reader(server.url), engine);
    await engine.ask('clerk/ticker', { type: 'rest' });
    await checkReplay(await scene.reader(server.url), engine.journals, 'clerk/ticker');
  });

  it('is cut off at random moments all the time: each request id counts exactly once', async () => {
    const server = await scene.lab.server({ config: durable });
    const proxy = await ChaosProxy.to(server.port);
    scene.atEnd(() => proxy.close());
    const { engine, logged } = await scene.engine({ host: '127.0.0.1', port: proxy.port, commandTimeoutMs: 1_000 });
    const random = seededRandom(seed);
    const until = performance.now() + chaosMs;
    const answers = Array.from({ length: 6 }, () => [] as unknown[]);
    const given = () => answers.reduce((sum, { length }) => sum + length, 0);
    const repeats = { times: 0 };
    const lines = answers.map(async (answered, line) => {
      for (let n = 1; performance.now() < until; n += 1) {
        const requestId = `${line}-${n}`;
        // Two lines to each clerk, one behind the other.
        const ask = () => engine.ask(`clerk/${line % 3}`, add(requestId), { requestId });
        for (;;) {
          try {
            answered.push(await within(requestId, ask()));
            break;
          } catch (error) {
            if (!(error instanceof StagecraftError) || error.code !== 'STORE_UNAVAILABLE') throw error;
            repeats.times += 1;
            await sleep(5);
          }
        }
      }
    });
    await engine.ask('clerk/ticker', { type: 'tick' }).catch(() => undefined);
    const chaos = (async () => {
      while (performance.now() < until) {
        const before = given();
        await sleep(random.next() * 40); // the moment itself
        proxy.cut(cuts[Math.floor(random.next() * cuts.length)] ?? 'now');
        if (random.next() > 0.95) {
          proxy.shut(true);
          await sleep(random.next() * 200);
          proxy.shut(false);
        }
        // Mostly amid work; at times the greeting of the new connection is cut too.
        if (random.next() > 0.1) await eventually('work goes on', () => given() > before + 3);
      }
    })();
    await Promise.all([...lines, chaos]);
    expect(proxy.cuts).to.be.greaterThan(30);
    expect(repeats.times).to.be.greaterThan(30);
    const reader = await scene.reader(server.url);
    for (const clerk of [0, 1, 2]) {
      const address = `clerk/${clerk}`;
      await owesNothing(reader, address);
      const { notes } = contextOf(await reader.load(address)) as ClerkContext;
      const asked = [clerk, clerk + 3].flatMap((line) =>
        (answers[line] ?? []).map((position, n) => ({ position, note: `${line}-${n + 1}` })),
      );
      const inOrder = asked.sort((a, b) => Number(a.position) - Number(b.position));
      expect(notes).to.deep.equal(inOrder.map(({ note }) => note));
      expect(inOrder.map(({ position }) => position)).to.deep.equal(notes.map((_, i) => i + 1));
      await checkReplay(reader, engine.journals, address);
      expect((contextOf(await reader.load(`till/${clerk}`)) as ClerkContext).notes).to.deep.equal(notes);
      const said = (await topicRows(reader, 'clerks')).filter(({ source }) => source === address);
      expect(said.map(({ text }) => JSON.parse(text).note)).to.deep.equal(notes);
    }
    expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
