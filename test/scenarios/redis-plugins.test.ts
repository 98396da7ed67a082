/**
 * Two runtimes of different nodes on one Redis, with plugins and tasks of the very same names: by every door each sees
 * its own only, whatever becomes of the other. Prefixes, and one node for two: redis-sharing.test.ts
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { pluginAddress, pluginsAddress, registryAddress, taskAddress } from '../../machines/kit/addresses.js';
import { pluginsTopic } from '../../src/registry/plugin-events.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { RedisKeys } from '../../src/stores/redis/redis-keys.js';
import { tasksTopic } from '../../src/tasks/kinds.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { device, refusal, take } from '../registry/house.js';
import { eventually, within } from '../until.js';
import { Child } from './redis-child-driver.js';
import { type OpenRuntime, Scene } from './redis-scene.js';

/** One is the beginning of the other, or becomes it in one way of writing or another. */
const pairs: [string, string][] = [
  ['n1', 'n2'],
  ['n1', 'n10'],
  ['n1', 'n1/0'],
  ['a/b', 'a%2Fb'],
  ['ü', 'ü'.normalize('NFD')],
  ['plugin', 'plugins/device'],
];

const task = { id: 'sleeper', type: 'node' as const, command: ['/bin/sleep', '600'], healthTimeoutMs: 600_000 };
/** Its name is shown, its value is not. */
const mark = (node: string): string => `OF_${Buffer.from(node).toString('hex')}`;
const own = (node: string) => device('a1', { version: node });

interface Side extends OpenRuntime {
  node: string;
  dataDir: string;
}

describe('plugins and tasks of two nodes on one Redis', () => {
  const scene = new Scene();
  let url: string;
  let prefix: string;

  beforeEach(async () => {
    url = await sharedUrl();
    prefix = freshPrefix();
  });

  afterEach(async () => {
    await scene.clear();
    const client = new Redis(url);
    await sweep(client, prefix);
    client.disconnect();
  });

  /** With the same plugin and the same task on each. */
  async function side(node: string, dataDir = join(scene.directory(), 'data')): Promise<Side> {
    const opened = await scene.runtime({ nodeId: node, dataDir, store: redisStore({ url, prefix }) });
    // Of a runtime that was closed meanwhile, the processes are those of the next one.
    scene.atEnd(() => opened.runtime.close({ release: true }).catch(() => undefined));
    return { ...opened, node, dataDir };
  }

  async function sidesOf(nodes: string[]): Promise<[Side, Side]> {
    const [one, two] = await Promise.all(nodes.map((node) => side(node)));
    if (!one || !two) throw new Error('two nodes are needed');
    for (const { runtime, node } of [one, two]) {
      await runtime.plugins.register(own(node));
      await runtime.tasks.start({ ...task, env: { [mark(node)]: 'x' } });
    }
    for (const { runtime } of [one, two]) {
      await eventually('it has its process', () => runtime.tasks.list()[0]?.state === 'waiting');
    }
    return [one, two];
  }

  /** By every door: what is here is of this node, and nothing of it is missing. */
  async function check({ runtime, kind, node }: Side): Promise<void> {
    const { plugins, tasks, actors, journal } = runtime;
    expect((await within('it is healthy', plugins.waitFor('device', 'gpu'))).info).to.deep.equal(own(node));
    expect(plugins.status('device', 'gpu')).to.deep.include({ info: own(node), state: 'healthy' });
    expect(plugins.list()).to.deep.equal([own(node)]);
    expect(plugins.instances('device', 'gpu')).to.deep.equal([own(node)]);
    expect(kind.clients.filter(({ closes }) => closes === 0).map(({ info }) => info)).to.deep.equal([own(node)]);
    expect(tasks.list().map(({ id, state, spec }) => [id, state, spec.env])).to.deep.equal([
      ['sleeper', 'waiting', [mark(node)]],
    ]);
    const addresses = [
      registryAddress(node),
      pluginsAddress(node, 'device', 'gpu'),
      pluginAddress(node, 'device', 'gpu', 'a1'),
      taskAddress(node, 'sleeper'),
    ];
    expect(actors.list().map(({ address }) => address)).to.have.members(addresses);
    expect(actors.quarantined()).to.deep.equal([]);
    const told = await everyRow(pluginsTopic(node), (count) => take(plugins.updates(undefined, { from: '0' }), count));
    expect(told.map(({ info }) => info)).to.deep.equal(told.map(() => own(node)));
    expect(told.filter(({ kind: what }) => what === 'registered')).to.have.lengthOf(1);
    const changes = await everyRow(tasksTopic(node), (count) => take(tasks.updates({ from: '0' }), count));
    expect(changes.map(({ change }) => change.type)).to.deep.equal(['started']);
    expect(await take(journal.entries(addresses[1] ?? ''), 1)).to.have.lengthOf(1);
  }

  async function everyRow<T>(topic: string, read: (count: number) => Promise<T[]>): Promise<T[]> {
    const { newest } = await (await scene.reader({ url, prefix })).readTopic(topic, 0, 0);
    return within(`all of ${topic}`, read(newest));
  }

  for (const nodes of pairs) {
    it(`'${nodes.join("' and '")}': neither sees or changes what the other has`, async () => {
      const [one, two] = await sidesOf(nodes);
      for (const each of [one, two]) await check(each);

      // The other one's addresses are nobody's here.
      const foreign = pluginsAddress(two.node, 'device', 'gpu');
      for (const ask of [
        () => take(one.runtime.journal.entries(foreign), 1),
        () => one.runtime.journal.replay(foreign),
        () => one.runtime.actors.release(foreign),
      ]) {
        expect((await refusal(ask)).code).to.equal('ACTOR_NOT_FOUND');
      }

      const [before] = two.runtime.tasks.list();
      await one.runtime.plugins.deregister('device', 'gpu', 'a1');
      await one.runtime.tasks.stop('sleeper');
      expect(one.runtime.plugins.list()).to.deep.equal([]);
      await check(two);
      expect(two.runtime.tasks.list()).to.deep.equal([before]);

      await one.runtime.close();
      await check(two);
      const again = await side(one.node, one.dataDir);
      expect(again.runtime.plugins.list()).to.deep.equal([]);
      expect(again.runtime.tasks.list().map(({ state }) => state)).to.deep.equal(['stopped']);
      await two.runtime.close();
      await check(await side(two.node, two.dataDir));
      expect(again.runtime.plugins.list()).to.deep.equal([]);
    });
  }

  it('a record of one is damaged: quarantined there, and not known to the other', async () => {
    const [one, two] = await sidesOf(['n1', 'n1/0']);
    await one.runtime.close();
    const address = pluginsAddress('n1', 'device', 'gpu');
    const client = new Redis(url);
    await client.hset(new RedisKeys(prefix).record(address), 'seq', 'seven');
    client.disconnect();
    const again = await side('n1', one.dataDir);
    expect(again.runtime.actors.quarantined().map((each) => each.address)).to.deep.equal([address]);
    expect(again.runtime.plugins.list()).to.deep.equal([]);
    await check(two);
    await two.runtime.close();
    await check(await side('n1/0', two.dataDir));
  });

  it('one is killed: the other goes on, and its successor has exactly its records', async () => {
    const dataDir = join(scene.directory(), 'data');
    const child = await Child.start({ as: 'runtime', url, prefix, dataDir });
    scene.atEnd(() => child.kill());
    const two = await side('n1/0');
    await two.runtime.plugins.register(own('n1/0'));
    for (const allocId of ['a1', 'a2']) await child.call({ what: 'register', name: 'gpu', allocId });
    await child.kill();
    await two.runtime.plugins.register(device('a2'));
    expect(two.runtime.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), own('n1/0')]);
    const { runtime } = await side('n1', dataDir);
    expect(runtime.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), device('a1')]);
    await runtime.plugins.deregister('device', 'gpu', 'a2');
    expect(two.runtime.plugins.instances('device', 'gpu')).to.deep.equal([device('a2'), own('n1/0')]);
  });
});
