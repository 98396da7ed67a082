/**
 * An agent of somebody's own that embeds the runtime, and does with its volumes what its parent says. It dies with that.
 * Its argument: VolumeAgentOptions as JSON.
 */

import { createRuntime } from '../../dist/src/index.js';
import type { StagecraftError } from '../../src/errors.js';

export interface VolumeAgentOptions {
  dataDir: string;
  socketPath: string;
  /** By our names, what the driver calls them. */
  nodes: Record<string, string>;
  topology: Record<string, string>;
}

export type Ask =
  | { op: 'create' | 'delete'; id: string; timeoutMs?: number }
  | { op: 'publish' | 'unpublish'; id: string; nodeId: string; timeoutMs?: number };

/** `failed`: what the error says. */
export type Answer = { number: number; failed?: Pick<StagecraftError, 'code' | 'message' | 'outcome'> };

const plugin = 'disk';
const { dataDir, socketPath, nodes, topology }: VolumeAgentOptions = JSON.parse(process.argv[2] ?? '');
const runtime = await createRuntime({
  nodeId: 'controller-1',
  dataDir,
  calls: { timeoutMs: 1_000 },
  retry: { initialMs: 5, maxMs: 50 },
  fingerprint: { intervalMs: 100 },
});

function work(ask: Ask): Promise<unknown> {
  const { id, timeoutMs } = ask;
  const patience = timeoutMs === undefined ? {} : { timeoutMs };
  switch (ask.op) {
    case 'create':
      return runtime.volumes.create(
        {
          id,
          plugin,
          capacity: { requiredBytes: 1_048_576 },
          capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }],
        },
        patience,
      );
    case 'delete':
      return runtime.volumes.delete({ id }, patience);
    case 'publish':
      return runtime.volumes.publish({ id }, ask.nodeId, patience);
    case 'unpublish':
      return runtime.volumes.unpublish({ id }, ask.nodeId, patience);
  }
}

process.on('message', async ({ number, ask }: { number: number; ask: Ask }) => {
  const answer: Answer = await work(ask).then(
    () => ({ number }),
    ({ code, message, outcome }) => ({ number, failed: { code, message, outcome } }),
  );
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());

await runtime.plugins.register({ type: 'csi-controller', name: plugin, allocId: 'disk-1', connection: { socketPath } });
for (const [id, nodeId] of Object.entries(nodes))
  await runtime.nodes.report({ id, plugins: [{ name: plugin, nodeId, topology }] });
process.send?.('ready');
