/** A runtime to measure volumes in: one plugin, healthy, and one node that has reported it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../dist/src/engine/store.js';
import type { Dispenser } from '../../dist/src/registry/dispenser.js';
import { createRuntime, type Runtime } from '../../dist/src/runtime/runtime.js';

export const pluginName = 'disk';
export const nodeId = 'node-1';
export const csiNodeId = 'csi-node-1';

/** The least that can be asked for. */
export const specOf = (id: string) => ({
  id,
  plugin: pluginName,
  capabilities: [{ accessMode: 'single-node-writer' as const, attachmentMode: 'file-system' as const }],
});

interface HouseOptions {
  store: Store;
  /** Of `csi-controller`; default: the built-in one, at `socketPath`. */
  dispenser?: Dispenser;
  socketPath?: string;
  maxInFlight?: number;
  /** Plugin and node are in the store already; nothing is waited for. */
  isFurnished?: boolean;
}

export async function withHouse<T>(
  { store, dispenser, socketPath, maxInFlight, isFurnished }: HouseOptions,
  use: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    const runtime = await createRuntime({
      nodeId: 'bench',
      dataDir: path,
      store,
      ...(dispenser && { dispensers: { 'csi-controller': dispenser } }),
      ...(maxInFlight && { calls: { maxInFlightPerPlugin: maxInFlight } }),
    });
    if (!isFurnished) await furnish(runtime, socketPath ?? join(path, 'none.sock'));
    const used = await use(runtime);
    await runtime.close();
    return used;
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function furnish(runtime: Runtime, socketPath: string): Promise<void> {
  const connection = { socketPath };
  await runtime.plugins.register({ type: 'csi-controller', name: pluginName, allocId: 'disk-1', connection });
  await runtime.plugins.waitFor('csi-controller', pluginName);
  await runtime.nodes.report({ id: nodeId, plugins: [{ name: pluginName, nodeId: csiNodeId }] });
}
/** One volume, from nothing to published. */
export async function publishOne(runtime: Runtime, id: string): Promise<void> {
  await runtime.volumes.create(specOf(id));
  await runtime.volumes.publish({ id }, nodeId);
}

/** Volumes of these numbers, so many at a time, the next as soon as one is published. */
export async function publishMany(
  runtime: Runtime,
  { from = 0, count, atOnce = count }: { from?: number; count: number; atOnce?: number },
): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + count) {
      next += 1;
      await publishOne(runtime, `volume-${next}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
