/**
 * Redis comes back with older data, or with none, under a live engine or runtime: what was acknowledged is written
 * again before any effect starts, and whoever runs next finds all of it.
 */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pluginsAddress } from '../../machines/kit/addresses.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisProcess } from '../redis/servers.js';
import { device } from '../registry/house.js';
import { eventually } from '../until.js';
import { Child } from './redis-child-driver.js';
import { add, type ClerkContext, clerkKinds } from './redis-clerk.js';
import {
  checkReplay,
  clerkIn,
  codes,
  contextOf,
  entriesOf,
  lapseLeases,
  owesNothing,
  recordsOf,
  Scene,
  topicRows,
  Writers,
} from './redis-scene.js';

/** How the server's data goes back in time. */
interface Loss {
  name: string;
  /** Called where the moment is to which it goes back. */
  mark(server: RedisProcess): Promise<void>;
  /** Called while the server is down. */
  lose(server: RedisProcess): void;
}

const losses: Loss[] = [
  {
    name: 'an older dump',
    mark: async (server) => {
      await server.client().save();
      copyFileSync(join(server.dir, 'dump.rdb'), join(server.dir, 'old.rdb'));
    },
    lose: (server) => copyFileSync(join(server.dir, 'old.rdb'), join(server.dir, 'dump.rdb')),
  },
  {
    name: 'nothing at all',
    mark: async () => undefined,
    lose: (server) => rmSync(join(server.dir, 'dump.rdb'), { force: true }),
  },
];

describe('a Redis that loses what it took', () => {
  const scene = new Scene();

  afterEach(() => scene.clear());

  for (const { name, mark, lose } of losses) {
    it(`returns with ${name} amid steady writes: each actor is written again before an effect starts`, async () => {
      const server = await scene.lab.server();
      let watched = false;
      /** Of those that must be written again, how many were, as each effect started. */
      const startedAfter: number[] = [];
      const rolledBack = new Set<string>();
      const kinds = clerkKinds(async () => {
        if (watched) startedAfter.push(rolledBack.size);
      });
      const { engine, logged } = await scene.engine(server.url, { kinds });
      engine.observe(({ entry, address }) => {
        if (entry.kind === 'rolled-back') rolledBack.add(address);
      });
      const idle = Array.from({ length: 150 }, (_, n) => `clerk/idle-${n}`);
      await Promise.all(idle.map((address) => engine.ask(address, add('early'))));
      const writers = new Writers(() => engine, 4);
      await writers.more(10);
      await mark(server);
      await Promise.all(idle.map((address) => engine.ask(address, add('late'))));
      await writers.more(20);
      await server.kill();
      lose(server);
      watched = true;
      // Asked while the store is gone, and while it is compared.
      const working = idle.slice(0, 20).map((address) => engine.ask(address, { type: 'work' }).catch(() => undefined));
      await server.run();
      for (const address of idle.slice(20, 40)) void engine.ask(address, { type: 'work' }).catch(() => undefined);
      await Promise.all(working);
      await writers.more(10);
      await writers.stop();
      await eventually('effects start', () => startedAfter.length >= 20);
      for (const address of idle) expect(rolledBack.has(address), address).to.equal(true);
      for (const n of [0, 1, 2, 3]) expect(rolledBack.has(`clerk/${n}`)).to.equal(true);
      expect(Math.min(...startedAfter), 'written again before the first effect').to.be.at.least(idle.length + 4);
      const reader = await scene.reader(server.url);
      for (const address of idle) {
        expect((contextOf(await reader.load(address)) as ClerkContext).notes).to.deep.equal(['early', 'late']);
        expect((contextOf(await reader.load(address.replace('clerk', 'till'))) as ClerkContext).notes).to.deep.equal([
          'early',
          'late',
        ]);
      }
      await writers.check(reader, engine, false);
      expect(codes(logged, 'STORE_SUSPECT')).to.have.lengthOf(1);
      expect(codes(logged, 'ACTOR_QUARANTINED')).to.deep.equal([]);
      expect(engine.quarantined()).to.deep.equal([]);
      // What the older data owed is settled by the next one, and counts no second time.
      await engine.stop();
      const next = await scene.engine(server.url);
      await owesNothing(reader, '');
      await writers.check(reader, next.engine, false);
    });

    it(`returns with ${name} under a runtime that is killed later: the next one has every answered write`, async () => {
      const server = await scene.lab.server();
      const dataDir = join(scene.directory(), 'data');
      const child = await Child.start({ as: 'runtime', url: server.url, dataDir });
      scene.atEnd(() => child.kill());
      const call = async (what: 'register' | 'deregister', name: string, allocId: string) =>
        expect(await child.call({ what, name, allocId })).to.equal('done');
      for (const n of [1, 2, 3]) await call('register', 'gpu', `a${n}`);
      await call('register', 'tpu', 'b1');
      await mark(server);
      for (const n of [4, 5]) await call('register', 'gpu', `a${n}`);
      await call('register', 'fpga', 'c1');
      await call('deregister', 'gpu', 'a1');
      await call('deregister', 'tpu', 'b1');
      await settled(server);
      await server.kill();
      lose(server);
      await server.run();
      const lines = () => child.of('log');
      await eventually('it is written again', () => codes(lines(), 'STORE_ROLLED_BACK').length >= 5);
      await call('register', 'gpu', 'a6');
      await settled(server);
      expect(child.of('lost')).to.deep.equal([]);
      await child.kill();

      await lapseLeases(server.client());
      await eventually('the lease has lapsed', async () => (await server.client().keys('*:h:*')).length === 0);
      const { runtime, kind, logged } = await scene.runtime({ store: redisStore(server.url), dataDir });
      const allocIds = ['a6', 'a5', 'a4', 'a3', 'a2'];
      expect(runtime.actors.quarantined()).to.deep.equal([]);
      expect(runtime.plugins.instances('device', 'gpu').map(({ allocId }) => allocId)).to.deep.equal(allocIds);
      expect(runtime.plugins.instances('device', 'fpga')).to.deep.equal([device('c1', { name: 'fpga' })]);
      expect(runtime.plugins.instances('device', 'tpu')).to.deep.equal([]);
      await runtime.plugins.waitFor('device', 'gpu');
      await runtime.plugins.register(device('a7'));
      await runtime.plugins.deregister('device', 'gpu', 'a4');
      expect(runtime.plugins.list().map(({ allocId }) => allocId)).to.have.members(['a7', 'c1']);
      const reader = await scene.reader(server.url);
      const entries = await entriesOf(reader, pluginsAddress('n1', 'device', 'gpu'));
      expect(entries.filter((entry) => entry.kind === 'rolled-back')).to.have.lengthOf(1);
      await eventually('each instance was looked at', () => kind.looks.length >= 6);
      for (const { address } of await recordsOf(reader, 'plugin')) await checkReplay(reader, runtime.journal, address);
      expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });

    it(`comes back with ${name} after instances were deregistered: they do not come back to life`, async () => {
      const server = await scene.lab.server();
      const dataDir = join(scene.directory(), 'data');
      const first = await scene.runtime({ store: redisStore(server.url), dataDir });
      for (const n of [1, 2, 3]) await first.runtime.plugins.register(device(`a${n}`));
      await first.runtime.plugins.waitFor('device', 'gpu');
      await mark(server);
      await first.runtime.plugins.deregister('device', 'gpu', 'a1');
      await first.runtime.plugins.deregister('device', 'gpu', 'a3');
      await settled(server);
      await server.kill();
      lose(server);
      await server.run();
      await eventually('it is written again', () => codes(first.logged, 'STORE_ROLLED_BACK').length >= 1);
      await eventually('it goes on', () =>
        first.runtime.plugins.register(device('a4')).then(
          () => true,
          () => false,
        ),
      );
      await settled(server);
      const reader = await scene.reader(server.url);
      const inStore = async () => (await recordsOf(reader, 'plugin/')).map(({ address }) => address.split('/').at(-1));
      expect((await inStore()).sort(), 'instances in the store').to.deep.equal(['a2', 'a4']);
      await first.runtime.close();
      const second = await scene.runtime({ store: redisStore(server.url), dataDir });
      await second.runtime.plugins.waitFor('device', 'gpu');
      await eventually('both were looked at', () => second.kind.looks.length >= 2);
      expect(second.kind.clients.map(({ info }) => info.allocId).sort()).to.deep.equal(['a2', 'a4']);
    });
  }

  it('comes back with an older dump three times in a row, amid steady writes: nothing acknowledged is lost', async () => {
    const server = await scene.lab.server();
    const { engine, logged } = await scene.engine(server.url);
    const writers = new Writers(() => engine, 6);
    await engine.ask('clerk/ticker', { type: 'tick' });
    await writers.more(10);
    const [dump] = losses;
    await dump?.mark(server);
    await writers.more(10);
    for (const answers of [0, 1, 20]) {
      await server.kill();
      dump?.lose(server);
      await server.run();
      if (answers > 0) await writers.more(answers);
    }
    await writers.stop();
    await engine.ask('clerk/ticker', { type: 'rest' });
    const reader = await scene.reader(server.url);
    await writers.check(reader, engine, false);
    await checkReplay(reader, engine.journals, 'clerk/ticker');
    await engine.stop();
    const next = await scene.engine(server.url);
    await owesNothing(reader, '');
    await writers.check(reader, next.engine, false);
    expect(codes(logged, 'ACTOR_QUARANTINED')).to.deep.equal([]);
    expect(codes(logged, 'FENCED')).to.deep.equal([]);
  });

  it('is emptied by FLUSHALL, its process the same: as soon as one actor finds out, all are written again', async () => {
    const server = await scene.lab.server();
    const { engine, logged } = await scene.engine(server.url, { ttlMs: 1_000 });
    const idle = Array.from({ length: 20 }, (_, n) => `clerk/idle-${n}`);
    await Promise.all(idle.map((address) => engine.ask(address, add('early'))));
    const reader = await scene.reader(server.url);
    await owesNothing(reader, '');
    await server.client().flushall();
    await engine.ask('clerk/idle-0', add('late'));
    await eventually('the one that was asked is there', async () => (await reader.load('clerk/idle-0')) !== undefined);
    await eventually('all others are there', async () => (await recordsOf(reader, 'clerk/')).length === idle.length);
    expect(codes(logged, 'FENCED')).to.deep.equal([]);
  });

  it('returns with an older dump and many new events: followers learn of the gap, or miss nothing', async () => {
    const server = await scene.lab.server();
    const { engine } = await scene.engine(server.url);
    const clerks = Array.from({ length: 60 }, (_, n) => `clerk/${n}`);
    const all = (note: string) => Promise.all(clerks.map((address) => engine.ask(address, add(note))));
    await all('early');
    const reader = await scene.reader(server.url);
    await owesNothing(reader, '');
    const seen: string[] = [];
    let failure: unknown;
    const follow = async (): Promise<void> => {
      for await (const { source, text } of engine.follow('clerks', 0)) seen.push(`${source} ${JSON.parse(text).note}`);
    };
    const following = follow().catch((error: unknown) => {
      failure = error;
    });
    await losses[0]?.mark(server);
    await all('late');
    await eventually('all is seen', () => seen.length === 2 * clerks.length);
    await server.kill();
    losses[0]?.lose(server);
    const after = ['after-1', 'after-2', 'after-3'];
    const asked = after.map((note) => all(note).catch(() => undefined));
    await server.run();
    await Promise.all(asked);
    await eventually('all is done', () => clerks.every((address) => clerkIn(engine, address).notes.length === 5));
    const told = async () => (await topicRows(reader, 'clerks')).filter(({ text }) => text.includes('after'));
    await eventually('all is told', async () => (await told()).length === 3 * clerks.length);
    const has = () => seen.filter((line) => line.includes('after')).length;
    await eventually('it ends, or has all', () => failure !== undefined || has() === 3 * clerks.length).catch(
      (error: unknown) => {
        throw new Error(`it has ${has()} of ${3 * clerks.length}, and was told of no loss`, { cause: error });
      },
    );
    if (failure !== undefined) expect(failure).to.have.property('code', 'CURSOR_EXPIRED');
    await engine.stop();
    await following;
  });

  it('returns with an older dump in which another runtime held the lease: the live one goes on', async () => {
    const server = await scene.lab.server();
    const before = await scene.engine(server.url, { ttlMs: 1_500, holder: 'a former one' });
    await before.engine.ask('clerk/0', add('former'));
    await server.client().save();
    copyFileSync(join(server.dir, 'dump.rdb'), join(server.dir, 'old.rdb'));
    await before.engine.stop();
    const { engine, logged } = await scene.engine(server.url, { ttlMs: 1_500 });
    const writers = new Writers(() => engine, 2);
    await writers.more(10);
    await server.kill();
    copyFileSync(join(server.dir, 'old.rdb'), join(server.dir, 'dump.rdb'));
    await server.run();
    await writers.more(10);
    await writers.stop();
    await engine.ask('clerk/9', { type: 'work' });
    await eventually('an effect has run', () => clerkIn(engine, 'clerk/9').worked === 1);
    const reader = await scene.reader(server.url);
    const { notes } = contextOf(await reader.load('clerk/0')) as ClerkContext;
    expect(notes[0]).to.equal('former');
    expect(notes).to.include.members(writers.done(0));
    await checkReplay(reader, engine.journals, 'clerk/0');
    expect(codes(logged, 'FENCED')).to.deep.equal([]);
  });

  /** Nothing is on its way between actors. */
  const settled = async (server: RedisProcess): Promise<void> => owesNothing(await scene.reader(server.url), '');
});
