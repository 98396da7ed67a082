/** What an operator does to a running cluster: moves slots, adds a replica. */

import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../until.js';
import type { RedisLab } from './lab.js';
import { clusterConfig, freePort, meet, type RedisProcess } from './servers.js';

/** A replica of this master that all nodes know, and that could take its place. */
export async function joinAsReplica(lab: RedisLab, nodes: RedisProcess[], master: RedisProcess): Promise<RedisProcess> {
  const replica = await lab.server({ config: clusterConfig(await freePort()) });
  const client = replica.client();
  await meet(master.client(), replica);
  const id = String(await master.client().call('cluster', 'myid'));
  await until(async () => String(await client.call('cluster', 'nodes')).includes(id));
  await until(async () => (await client.call('cluster', 'replicate', id).catch(() => '')) === 'OK');
  await until(async () => (await client.info('replication')).includes('master_link_status:up'));
  for (const node of nodes) {
    const asked = node.client();
    await until(async () =>
      new RegExp(`:${replica.port}@.* slave ${id} .* connected`).test(String(await asked.call('cluster', 'nodes'))),
    );
  }
  await until(async () => /cluster_state:ok/.test(String(await client.call('cluster', 'info'))));
  return replica;
}

/** From whoever has it to the next node, as redis-cli does it, with time for others in between. */
export async function moveSlot(nodes: RedisProcess[], slot: number): Promise<void> {
  const clients = nodes.map((node) => node.client());
  const ids = await Promise.all(clients.map(async (client) => String(await client.call('cluster', 'myid'))));
  const owner = await ownerOf(nodes, slot);
  const next = (owner + 1) % nodes.length;
  const [from, to] = [clients[owner], clients[next]];
  if (from === undefined || to === undefined) throw new Error('no node');
  await to.call('cluster', 'setslot', slot, 'importing', ids[owner] ?? '');
  await from.call('cluster', 'setslot', slot, 'migrating', ids[next] ?? '');
  for (;;) {
    const keys = await from.call('cluster', 'getkeysinslot', slot, 3);
    if (!Array.isArray(keys) || keys.length === 0) break;
    await from.call('migrate', '127.0.0.1', String(nodes[next]?.port), '', 0, 5_000, 'KEYS', ...keys.map(String));
    await sleep(1);
  }
  await to.call('cluster', 'setslot', slot, 'node', ids[next] ?? '');
  for (const client of clients) await client.call('cluster', 'setslot', slot, 'node', ids[next] ?? '');
  for (const client of clients) client.disconnect();
}

export async function ownerOf(nodes: RedisProcess[], slot: number): Promise<number> {
  const client = nodes[0]?.client();
  const ranges = await client?.call('cluster', 'slots');
  client?.disconnect();
  if (!Array.isArray(ranges)) throw new Error('no slots');
  for (const [first, last, [, port]] of ranges) {
    if (first <= slot && slot <= last) return nodes.findIndex((node) => node.port === port);
  }
  throw new Error(`nobody has slot ${slot}`);
}
