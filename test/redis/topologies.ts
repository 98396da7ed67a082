/** Redis as operators run it: one server, a master under Sentinels, a cluster; and what happens there to a master that is struck. */

import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, slotOf } from '../../src/stores/redis/redis-keys.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { durable } from '../scenarios/redis-scene.js';
import { eventually } from '../until.js';
import { joinAsReplica, ownerOf } from './cluster.js';
import type { RedisLab } from './lab.js';
import { type RedisProcess, startCluster } from './servers.js';

/** Killed by SIGKILL, or frozen by SIGSTOP. */
export type How = 'killed' | 'frozen';

export interface Topology {
  store: RedisStoreOptions;
  /** Masters at the start. */
  masters: RedisProcess[];
  /**
   * Strikes the master that has the keys of an address, a lease or an inbox.
   * @returns a function that resolves once there is a master for them again, and the frozen one goes on
   */
  strikeMaster(how: How, name: string): Promise<() => Promise<void>>;
}

interface TopologyOptions {
  /** Whether a master is going to be struck. */
  isToBeStruck: boolean;
}

const soon = 'repl-diskless-sync-delay 0';
/** So that a frozen server is given up before another has taken its place. */
const commandTimeoutMs = 1_000;
const frozenMs = 3_000;

export const topologies = {
  'on one server': async (lab: RedisLab): Promise<Topology> => {
    const server = await lab.server({ config: durable });
    return {
      store: { url: server.url, commandTimeoutMs },
      masters: [server],
      strikeMaster: (how) => struck(server, how, () => (how === 'killed' ? server.run() : sleep(frozenMs))),
    };
  },
  'under Sentinel': async (lab: RedisLab): Promise<Topology> => {
    const { master, replicas, sentinels } = await watched(lab);
    return {
      store: { ...sentinels, durability: { replicas: 1, timeoutMs: 500 }, commandTimeoutMs },
      masters: [master],
      strikeMaster: (how) => struck(master, how, () => promoted(replicas)),
    };
  },
  'on a cluster': async (lab: RedisLab, { isToBeStruck }: TopologyOptions): Promise<Topology> => {
    const { nodes, options } = await cluster(lab);
    const replicas: RedisProcess[] = [];
    if (isToBeStruck) for (const node of nodes) replicas.push(await joinAsReplica(lab, nodes, node));
    return {
      store: { ...options, commandTimeoutMs },
      masters: nodes,
      strikeMaster: async (how, name) => {
        const number = await ownerOf(nodes, slotOf(bucketOf(name)));
        const [master, replica] = [nodes[number], replicas[number]];
        if (!master || !replica) throw new Error(`the master of ${name} has no replica`);
        return struck(master, how, () => promoted([replica]));
      },
    };
  },
} satisfies Record<string, (lab: RedisLab, options: TopologyOptions) => Promise<Topology>>;

export type TopologyName = keyof typeof topologies;

/** A master with two replicas, watched by three Sentinels. */
export async function watched(lab: RedisLab) {
  const master = await lab.server({ config: [soon] });
  const config = [`replicaof 127.0.0.1 ${master.port}`, soon];
  const replicas = await Promise.all([lab.server({ config }), lab.server({ config })]);
  await eventually(
    'both replicas are there',
    async () => (await master.client().info('replication')).split('state=online').length === 3,
  );
  const sentinelConfig = [
    `sentinel monitor main 127.0.0.1 ${master.port} 2`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 5000',
  ];
  const start = (): Promise<RedisProcess> => lab.server({ mode: 'sentinel', config: sentinelConfig });
  const all = await Promise.all([start(), start(), start()]);
  for (const sentinel of all) {
    const client = sentinel.client();
    await eventually('the sentinels know each other', async () => {
      const state = String(await client.call('sentinel', 'master', 'main'));
      return /num-slaves,2/.test(state) && /num-other-sentinels,2/.test(state);
    });
  }
  const sentinels = { sentinels: all.map(({ port }) => ({ host: '127.0.0.1', port })), name: 'main' };
  return { master, replicas, sentinels };
}

/** Three masters. */
export async function cluster(lab: RedisLab) {
  const nodes = (await startCluster()).map((node) => lab.keep(node));
  return { nodes, options: { cluster: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) } };
}

async function struck(master: RedisProcess, how: How, recovered: () => Promise<void>): Promise<() => Promise<void>> {
  if (how === 'killed') await master.kill();
  else master.signal('SIGSTOP');
  return async () => {
    await recovered();
    if (how === 'frozen') master.signal('SIGCONT');
  };
}

async function promoted(replicas: RedisProcess[]): Promise<void> {
  const clients = replicas.map((replica) => replica.client());
  await eventually('a replica is promoted', async () => {
    const infos = await Promise.all(clients.map((client) => client.info('replication')));
    return infos.some((info) => info.includes('role:master'));
  });
}
