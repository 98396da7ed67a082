/**
 * Several runtimes on one Redis: one node is run by one of them at a time, and a runtime that slept while another one
 * took over does nothing any more; different nodes and prefixes know nothing of each other.
 */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisProcess } from '../redis/servers.js';
import { FakeKind } from '../registry/fake-kind.js';
import { device, inShort, refusal, take } from '../registry/house.js';
import { eventually, within } from '../until.js';
import { Child } from './redis-child-driver.js';
import { add, type ClerkContext } from './redis-clerk.js';
import { checkReplay, contextOf, durable, type OpenRuntime, recordsOf, Scene } from './redis-scene.js';

const ttlMs = 800;

describe('runtimes that share a Redis', () => {
  const scene = new Scene();
  let server: RedisProcess;
  /** Servers and directories of the test are gone after it; this one's data too. */
  beforeEach(async () => {
    server = await scene.lab.server({ config: durable });
  });
  afterEach(() => scene.clear());

  it('two of one node: the second is refused with NODE_IN_USE; once the first closes, it starts', async () => {
    const first = await scene.runtime({ store: redisStore(server.url) });
    await first.runtime.plugins.register(device('a1'));
    const options = {
      nodeId: 'n1',
      dataDir: `${scene.directory()}/data`,
      store: redisStore(server.url),
      dispensers: { device: new FakeKind() },
    };
    for (const _ of ['once', 'again']) {
      const { code, message } = await refusal(() => createRuntime(options));
      expect(code).to.equal('NODE_IN_USE');
      expect(message).to.include(first.runtime.dataDir).and.include(`pid ${process.pid}`).and.include('nodeId');
    }
    // Nothing that was refused has harmed the first.
    await first.runtime.plugins.register(device('a2'));
    await first.runtime.close();
    const second = await scene.runtime(options);
    expect(second.runtime.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), device('a1')]);
    await second.runtime.plugins.waitFor('device', 'gpu');
  });

  it('five of one node at the same moment: one comes up, each other one is refused NODE_IN_USE', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => scene.runtime({ store: redisStore(server.url) })),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused.map(({ code }) => code)).to.deep.equal(Array(4).fill('NODE_IN_USE'));
    const up = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    await up[0]?.runtime.plugins.register(device('a1'));
    expect(up[0]?.runtime.plugins.list()).to.deep.equal([device('a1')]);
  });

  it('the first is killed: the second is refused until the lease has lapsed, and then takes over', async () => {
    const child = await Child.start({ as: 'engine', url: server.url, ttlMs });
    scene.atEnd(() => child.kill());
    await eventually('the child writes', () => child.of('told').length > 50);
    await child.kill();
    const { code } = await refusal(() => scene.engine(server.url, { ttlMs }));
    expect(code).to.equal('NODE_IN_USE');
    const { engine } = await takeOver();
    await engine.ask('clerk/0', add('second'));
    await checkAnswered(child, 'second');
  });

  for (const round of [1, 2]) {
    it(`the first is frozen until another has taken over (${round}): fenced, it writes nothing and informs callers`, async () => {
      const child = await Child.start({ as: 'engine', url: server.url, ttlMs });
      scene.atEnd(() => child.kill());
      await eventually('the child works', () => child.of('told').length > 50 * round && child.of('effect').length > 5);
      child.freeze();
      const { engine } = await takeOver();
      const reader = await scene.reader(server.url);
      await engine.ask('clerk/0', add('second'));
      const before = await recordsOf(reader, '');
      const thawedAtMs = Date.now();
      child.thaw();
      await eventually('the child is fenced', () => child.of('lost').length > 0);
      expect(child.of('lost')[0]?.code).to.equal('FENCED');
      await eventually('each of its lines was told', () => fencedLines(child) === 4);
      expect(child.of('effect').filter(({ atMs }) => atMs >= thawedAtMs)).to.deep.equal([]);
      // What it was told to be done is there, and nothing that it wrote since.
      await engine.ask('clerk/0', add('third'));
      const changed = (await recordsOf(reader, '')).filter(
        ({ address, seq }) => before.find((record) => record.address === address)?.seq !== seq,
      );
      const owners = new Set(changed.map(({ owner }) => owner));
      expect([...owners], changed.map(({ address }) => address).join()).to.deep.equal([
        (await reader.load('clerk/0'))?.owner,
      ]);
      expect(changed.every(({ address }) => /^(clerk|till)\/(0|worker-\d)$/.test(address))).to.equal(true);
      await checkAnswered(child, 'second', 'third');
      for (const { address } of await recordsOf(reader, 'clerk/')) await checkReplay(reader, engine.journals, address);
    });
  }

  it('the first is frozen for longer than its lease and nobody takes over: it goes on', async () => {
    const child = await Child.start({ as: 'engine', url: server.url, ttlMs });
    scene.atEnd(() => child.kill());
    await eventually('the child works', () => child.of('effect').length > 5);
    child.freeze();
    await eventually('its lease has lapsed', async () => (await server.client().keys('*:h:*')).length === 0);
    const thawedAtMs = Date.now();
    child.thaw();
    await eventually(
      'it works again',
      () =>
        child.of('effect').filter(({ atMs }) => atMs > thawedAtMs).length > 5 &&
        child.of('told').filter(({ atMs, how }) => atMs > thawedAtMs && how === 'done').length > 50,
    );
    expect(child.of('lost')).to.deep.equal([]);
    await child.kill();
    await checkAnswered(child);
  });

  for (const [what, left, right] of [
    ['nodes', { nodeId: 'n1' }, { nodeId: 'n1/0' }],
    ['prefixes', { prefix: 'one:' }, { prefix: 'one:*' }],
  ] satisfies [string, Side, Side][]) {
    it(`of different ${what}: neither sees what the other has, nor its events, before and after a restart`, async () => {
      const sides = [await side(left), await side(right)];
      for (const [i, { runtime }] of sides.entries()) {
        for (const n of [1, 2]) await runtime.plugins.register(device(`${i}-${n}`));
        await runtime.plugins.register(device(`${i}-x`, { name: `only-${i}` }));
        await runtime.plugins.deregister('device', `only-${i}`, `${i}-x`);
      }
      for (const opened of sides) await opened.runtime.plugins.waitFor('device', 'gpu');
      await check(sides);
      for (const [i, settings] of [left, right].entries()) {
        const was = sides[i];
        await was?.runtime.close();
        sides[i] = await side(settings, was?.runtime.dataDir);
        await sides[i]?.runtime.plugins.waitFor('device', 'gpu');
        await check(sides);
      }
      await sides[0]?.runtime.plugins.deregister('device', 'gpu', '0-2');
      expect(sides[0]?.runtime.plugins.list()).to.deep.equal([device('0-1')]);
      expect(sides[1]?.runtime.plugins.list()).to.deep.equal([device('1-2')]);
    });
  }

  interface Side {
    nodeId?: string;
    prefix?: string;
  }

  function side({ nodeId = 'n1', prefix }: Side, dataDir?: string): Promise<OpenRuntime> {
    const store = redisStore(prefix === undefined ? server.url : { url: server.url, prefix });
    const options: Partial<RuntimeOptions> & { store: typeof store } = { nodeId, store };
    if (dataDir !== undefined) options.dataDir = dataDir;
    return scene.runtime(options);
  }

  async function check(sides: OpenRuntime[]): Promise<void> {
    for (const [i, { runtime, kind }] of sides.entries()) {
      expect(runtime.plugins.list()).to.deep.equal([device(`${i}-2`)]);
      expect(runtime.plugins.instances('device', 'gpu')).to.deep.equal([device(`${i}-2`), device(`${i}-1`)]);
      const events = await within('its events', take(runtime.plugins.updates(undefined, { from: '0' }), 4));
      const of = (pattern: RegExp) => events.map(inShort).filter((line) => pattern.test(line));
      expect(of(/registered/).every((line) => line.includes(` ${i}-`))).to.equal(true);
      expect(kind.looks.every(({ client }) => client.info.allocId.startsWith(`${i}-`))).to.equal(true);
    }
  }

  /** As soon as the lease of the one before has lapsed. */
  async function takeOver() {
    let opened: Awaited<ReturnType<Scene['engine']>> | undefined;
    await eventually('another takes over', async () => {
      opened = await scene.engine(server.url, { ttlMs, holder: 'the second' }).catch((error: unknown) => {
        if (error instanceof StagecraftError && error.code === 'NODE_IN_USE') return undefined;
        throw error;
      });
      return opened;
    });
    if (!opened) throw new Error('nobody took over');
    return opened;
  }

  /** The lines of the child that were told FENCED. */
  const fencedLines = (child: Child): number => child.of('told').filter(({ how }) => how === 'FENCED').length;

  /** Each note that the child was answered is in the store, once, and none that was refused. */
  async function checkAnswered(child: Child, ...others: string[]): Promise<void> {
    const reader = await scene.reader(server.url);
    const told = child.of('told');
    for (const address of new Set(told.map((each) => each.address))) {
      const record = await reader.load(address);
      const notes = record ? (contextOf(record) as ClerkContext).notes : [];
      const of = (...hows: string[]) =>
        told.filter((each) => each.address === address && hows.includes(each.how)).map(({ note }) => note);
      expect(notes, address).to.include.members(of('done'));
      expect(new Set(notes).size, address).to.equal(notes.length);
      expect(
        of('refused').filter((note) => notes.includes(note)),
        address,
      ).to.deep.equal([]);
      expect(
        notes.filter((note) => !of('done', 'unknown', 'FENCED').includes(note) && !others.includes(note)).length,
        `${address}: asked, and killed before the answer`,
      ).to.be.at.most(1);
    }
  }
});
