/**
 * An agent of cluster.ts in a process of its own. Arguments: node id, URL of Redis, socket of its driver. `instant`: a driver
 * in this process, which answers at once; `none`: no driver, and it never works on volumes. Ends in order with SIGTERM.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '../../dist/src/runtime/runtime.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { driverInProcess } from './volumes-driver.js';
import { csiNodeId, nodeId as onNode, pluginName, specOf } from './volumes-house.js';

/** Work that it is asked for. The answer: time of each, in ms. */
export interface Asked {
  /** `begin`: a publish is not waited for. */
  what: 'create' | 'publish' | 'begin';
  ids: string[];
  atOnce: number;
}

const [nodeId = '', url = '', socketPath = ''] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
const runtime = await createRuntime({
  ...{ nodeId, dataDir, store: redisStore(url), calls: { maxInFlightPerPlugin: 256 } },
  ...(socketPath === 'instant' && { dispensers: { 'csi-controller': driverInProcess() } }),
  ...(socketPath === 'none' && { cluster: { own: 'never' as const } }),
});
if (socketPath !== 'none') {
  const connection = { socketPath: socketPath === 'instant' ? join(dataDir, 'none.sock') : socketPath };
  await runtime.plugins.register({ type: 'csi-controller', name: pluginName, allocId: `${nodeId}-1`, connection });
  await runtime.plugins.waitFor('csi-controller', pluginName);
  await runtime.nodes.report({ id: onNode, plugins: [{ name: pluginName, nodeId: csiNodeId }] });
}

async function one(what: Asked['what'], id: string): Promise<number> {
  const beganMs = performance.now();
  if (what === 'create') await runtime.volumes.create(specOf(id));
  else if (what === 'publish') await runtime.volumes.publish({ id }, onNode);
  else runtime.volumes.publish({ id }, onNode).catch(() => {});
  return performance.now() - beganMs;
}

process.on('message', async ({ what, ids, atOnce }: Asked) => {
  const times: number[] = [];
  const left = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) times.push(await one(what, id));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  process.send?.(times);
});
process.once('SIGTERM', async () => {
  await runtime.close();
  rmSync(dataDir, { recursive: true });
  process.exit();
});
process.once('disconnect', () => process.exit());
process.send?.(runtime.leadership.isOurs);
