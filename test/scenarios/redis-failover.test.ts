/** Live engines while masters change: sentinels promote a replica, a cluster moves slots or loses a master. */
import { expect } from 'chai';
import { bucketOf, slotOf } from '../../src/stores/redis/redis-keys.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { joinAsReplica, moveSlot, ownerOf } from '../redis/cluster.js';
import { cluster, watched } from '../redis/topologies.js';
import { eventually } from '../until.js';
import { clerkIn, codes, type OpenEngine, owesNothing, Scene, Writers } from './redis-scene.js';

describe('a live engine while masters change', () => {
  const scene = new Scene();

  afterEach(() => scene.clear());

  for (const [what, signal] of [
    ['killed', 'SIGKILL'],
    ['frozen, and comes back as a replica', 'SIGSTOP'],
  ] as const) {
    it(`the master is ${what} while a confirmed replica is promoted: no acknowledged write is lost`, async () => {
      const { master, sentinels } = await watched(scene.lab);
      const options: RedisStoreOptions = {
        ...sentinels,
        durability: { replicas: 1, timeoutMs: 500 },
        commandTimeoutMs: 1_000,
      };
      const opened = await scene.engine(options);
      const { engine, logged } = opened;
      const writers = new Writers(() => engine, 4);
      await engine.ask('clerk/ticker', { type: 'tick' });
      await writers.more(30);
      master.signal(signal);
      await writers.more(20);
      if (signal === 'SIGSTOP') master.signal('SIGCONT');
      await goesOn(opened);
      await writers.more(10);
      await writers.stop();
      const reader = await scene.reader(sentinels);
      await writers.check(reader, engine);
      expect(codes(logged, 'STORE_SUSPECT').length).to.be.greaterThan(0);
      expect(codes(logged, 'STORE_ROLLED_BACK')).to.deep.equal([]);
      expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  }

  it('a replica without the last writes is promoted: they are written again, none acknowledged is lost', async () => {
    const { master, replicas, sentinels } = await watched(scene.lab);
    const opened = await scene.engine({ ...sentinels, commandTimeoutMs: 1_000 });
    const { engine, logged } = opened;
    const writers = new Writers(() => engine, 4);
    await engine.ask('clerk/ticker', { type: 'tick' });
    await writers.more(20);
    // From here on they get nothing: their master refuses them.
    for (const replica of replicas) await replica.client().config('SET', 'masterauth', 'wrong');
    await master.client().call('client', 'kill', 'type', 'replica');
    await eventually('the replicas are cut off', async () =>
      (await master.client().info('replication')).includes('connected_slaves:0'),
    );
    await writers.more(30);
    await master.kill();
    for (const replica of replicas) await replica.client().config('SET', 'masterauth', '');
    await writers.more(20);
    await goesOn(opened);
    await writers.stop();
    const reader = await scene.reader(sentinels);
    await writers.check(reader, engine, false);
    // What the older data owed is settled by the next one, and counts no second time.
    await engine.stop();
    const next = await scene.engine(sentinels);
    await owesNothing(reader, '');
    await writers.check(reader, next.engine, false);
    expect(codes(logged, 'STORE_ROLLED_BACK').length).to.be.at.least(4);
    expect(codes(logged, 'ACTOR_QUARANTINED')).to.deep.equal([]);
    expect(codes(logged, 'FENCED')).to.deep.equal([]);
  });

  it('a cluster moves slots of busy actors: each note counts once, timers go on, no loss is suspected', async () => {
    const { nodes, options } = await cluster(scene.lab);
    const opened = await scene.engine(options);
    const { engine, logged } = opened;
    const writers = new Writers(() => engine, 12);
    await engine.ask('clerk/ticker', { type: 'tick' });
    await writers.more(10);
    const names = [...writers.told.map((_, clerk) => writers.address(clerk)), 'clerk/ticker', 'node/n1', 'clerks'];
    const slots = new Set(names.map((name) => slotOf(bucketOf(name))));
    for (const slot of slots) await moveSlot(nodes, slot);
    await writers.more(10);
    await goesOn(opened);
    await writers.stop();
    const reader = await scene.reader(options);
    await writers.check(reader, engine);
    expect(logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(writers.count('unknown') + writers.count('refused')).to.equal(0);
  });

  it('a cluster’s master is killed and its replica takes over: no acknowledged write is lost', async () => {
    const { nodes, options } = await cluster(scene.lab);
    // The one that has the lease: it is to be lost too.
    const dying = nodes[await ownerOf(nodes, slotOf(bucketOf('node/n1')))];
    if (!dying) throw new Error('no node');
    await joinAsReplica(scene.lab, nodes, dying);
    const opened = await scene.engine(options);
    const { engine, logged } = opened;
    const writers = new Writers(() => engine, 12);
    await engine.ask('clerk/ticker', { type: 'tick' });
    await writers.more(15);
    await dying.kill();
    await writers.more(15);
    await goesOn(opened);
    await writers.stop();
    const reader = await scene.reader({ cluster: options.cluster.filter(({ port }) => port !== dying.port) });
    await writers.check(reader, engine, codes(logged, 'STORE_ROLLED_BACK').length === 0);
    expect(codes(logged, 'STORE_SUSPECT').length).to.be.greaterThan(0);
    expect(codes(logged, 'ACTOR_QUARANTINED')).to.deep.equal([]);
    expect(codes(logged, 'FENCED')).to.deep.equal([]);
  });

  /** Timers fire, effects run, and the journals lead to what is stored. */
  async function goesOn({ engine }: OpenEngine): Promise<void> {
    const ticks = () => clerkIn(engine, 'clerk/ticker').ticks;
    const before = ticks();
    await eventually('it ticks', () => ticks() > before + 3);
    await engine.ask('clerk/worker', { type: 'work' });
    const worked = () => clerkIn(engine, 'clerk/worker').worked;
    await eventually('an effect runs', () => worked() === 1);
    await engine.ask('clerk/ticker', { type: 'rest' });
  }
});
