/** The Redis store while masters change: a failover that sentinels decide, and a cluster that moves slots. */

import { expect } from 'chai';
import { bucketOf, slotOf } from '../../src/stores/redis/redis-keys.js';
import { done, plainCommit } from '../../src/tools/store-suite/subject.js';
import { joinAsReplica, moveSlot } from '../redis/cluster.js';
import { commitOne, insist, RedisLab, Writer } from '../redis/lab.js';
import { type RedisProcess, startCluster } from '../redis/servers.js';
import { until } from '../until.js';

describe('redis store, sentinels', () => {
  const lab = new RedisLab();

  afterEach(() => lab.clear());

  const hasReplicas = async (server: RedisProcess, count: number) => {
    const client = server.client();
    await until(async () => (await client.info('replication')).split('state=online').length === count + 1);
  };

  it('the master is killed during confirmed commits: the next one has all of them, and is suspected', async () => {
    const soon = 'repl-diskless-sync-delay 0';
    const master = await lab.server({ config: [soon] });
    const config = [`replicaof 127.0.0.1 ${master.port}`, soon];
    const replicas = await Promise.all([lab.server({ config }), lab.server({ config })]);
    await hasReplicas(master, replicas.length);
    const sentinelConfig = [
      `sentinel monitor main 127.0.0.1 ${master.port} 2`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 5000',
    ];
    const start = () => lab.server({ mode: 'sentinel', config: sentinelConfig });
    const sentinels = await Promise.all([start(), start(), start()]);
    for (const sentinel of sentinels) {
      const client = sentinel.client();
      await until(async () => {
        const state = String(await client.call('sentinel', 'master', 'main'));
        return /num-slaves,2/.test(state) && /num-other-sentinels,2/.test(state);
      });
    }
    const { store, heard } = await lab.store({
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      name: 'main',
      durability: { replicas: 1, timeoutMs: 500 },
      commandTimeoutMs: 1_000,
    });
    const writer = new Writer(store, 4);
    const writing = writer.writeUpTo(200);
    await until(async () => writer.acknowledged.every((seq) => seq > 20));
    await master.kill();
    await writing;
    await writer.check();
    expect(heard.join()).to.match(/^suspect: .*another process answers/);
  });
});

describe('redis store, a cluster', () => {
  const lab = new RedisLab();
  let nodes: RedisProcess[];

  beforeEach(async () => {
    nodes = (await startCluster()).map((node) => lab.keep(node));
  });

  afterEach(() => lab.clear());

  const open = () => lab.store({ cluster: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) });

  it('a slot is moved from node to node amid commits: each is done, and written once', async () => {
    const { store } = await open();
    const writer = new Writer(store, 24);
    const writing = writer.writeUpTo(120);
    await until(async () => writer.acknowledged.every((seq) => seq > 5));
    const busy = new Set(writer.acknowledged.map((_, actor) => slotOf(bucketOf(writer.address(actor)))));
    for (const slot of [...busy].slice(0, 4)) await moveSlot(nodes, slot);
    await writing;
    await writer.check();
    // Reads of a place that it has not heard of since.
    for (const slot of [...busy].slice(0, 4)) await moveSlot(nodes, slot);
    await writer.check();
  });

  it('a master is gone: what it has is refused or rejected, the rest goes on', async () => {
    const { store } = await open();
    const addresses = Array.from({ length: 40 }, (_, i) => `actor/${i}`);
    await store.commit(addresses.map((address) => plainCommit(address, 0)));
    await nodes[2]?.kill();
    const config = await nodes[0]?.client().config('SET', 'cluster-require-full-coverage', 'no');
    await nodes[1]?.client().config('SET', 'cluster-require-full-coverage', 'no');
    expect(config).to.equal('OK');
    const results = await insist(() => store.commit(addresses.map((address) => plainCommit(address, 1))));
    const isGone = (address: string) => slotOf(bucketOf(address)) >= 2 * Math.ceil(16_384 / 3);
    expect(results.map(({ status }) => status)).to.deep.equal(
      addresses.map((address) => (isGone(address) ? 'refused' : 'done')),
    );
    await nodes[2]?.run();
  });

  it('a cluster’s master is killed and its replica takes over: suspected, with all confirmed commits', async () => {
    const [, , dying] = nodes;
    if (dying === undefined) throw new Error('no node');
    const replica = await joinAsReplica(lab, nodes, dying);
    const { store, heard } = await open();
    const writer = new Writer(store, 12);
    const isDying = (actor: number) => slotOf(bucketOf(writer.address(actor))) >= 2 * Math.ceil(16_384 / 3);
    expect(writer.acknowledged.some((_, actor) => isDying(actor))).to.equal(true);
    await writer.writeUpTo(5);
    await dying.client().call('wait', 1, 0);
    await dying.kill();
    await writer.writeUpTo(10);
    await writer.check();
    expect(heard.join())
      .to.include(dying.where)
      .and.match(/serves the cluster no longer/);
    expect(await replica.client().info('replication')).to.include('role:master');
  });

  it('too few replicas confirm on one master: the call rejects', async () => {
    const { store } = await lab.store({
      cluster: nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      durability: { replicas: 1, timeoutMs: 20 },
    });
    const failure = await commitOne(store, plainCommit('a', 0)).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    await store.close();
    const { store: lax } = await open();
    expect(await commitOne(lax, plainCommit('a', 0))).to.deep.equal(done);
  });
});
