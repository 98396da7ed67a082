/**
 * A process of its own that runs one of several agents on a Redis, and asks of its runtime what its parent says. It dies with
 * that. Its argument: ClusterAgentOptions as JSON. Who drives it: kill-cluster-scene.ts
 */
import { type AgentPlugin, createRuntime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { type LogLine, loggerInto } from './redis-scene.js';
import { reportOf, volumeOf } from './redis-volumes-scene.js';

export interface ClusterAgentOptions {
  store: RedisStoreOptions;
  nodeId: string;
  dataDir: string;
  /** Names of its controller plugins. */
  plugins: string[];
  socketPath: string;
  /** Limit of a call at its plugin. */
  timeoutMs: number;
}

export type Ask =
  | { op: 'create' | 'delete'; id: string; timeoutMs?: number }
  | { op: 'publish' | 'unpublish'; id: string; node: string; timeoutMs?: number }
  | { op: 'claim' | 'release'; id: string; alloc: string; node: string }
  | { op: 'report'; node: string }
  | { op: 'get'; id: string }
  /** On which agents the plugin can be called. */
  | { op: 'wellAt'; plugin: string }
  | { op: 'leads' };

export type Told =
  | { kind: 'open' }
  | { kind: 'answer'; number: number; value?: unknown; failed?: { code: string; message: string } };

const options: ClusterAgentOptions = JSON.parse(process.argv[2] ?? '{}');
const logged: LogLine[] = [];
const say = (told: Told): void => void process.send?.(told);

const runtime = await createRuntime({
  ...{ nodeId: options.nodeId, dataDir: options.dataDir, store: redisStore(options.store) },
  ...{ logger: loggerInto(logged), retry: { initialMs: 5, maxMs: 50 }, fingerprint: { intervalMs: 200 } },
  calls: { timeoutMs: options.timeoutMs },
});

async function work(ask: Ask): Promise<unknown> {
  const { volumes, nodes, cluster, leadership } = runtime;
  switch (ask.op) {
    case 'create':
      return void (await volumes.create(volumeOf(ask.id), patience(ask)));
    case 'delete':
      return volumes.delete({ id: ask.id }, patience(ask));
    case 'publish':
      return void (await volumes.publish({ id: ask.id }, ask.node, patience(ask)));
    case 'unpublish':
      return volumes.unpublish({ id: ask.id }, ask.node, patience(ask));
    case 'claim': {
      const modes = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
      return (await volumes.claim({ id: ask.id }, { allocId: ask.alloc, nodeId: ask.node, ...modes, wait: true }))
        .state;
    }
    case 'release': {
      const claim = (await volumes.get({ id: ask.id }))?.claims.find(({ allocId }) => allocId === ask.alloc);
      await volumes.release({ id: ask.id }, ask.alloc);
      if (!claim) return undefined;
      return nodes.reportUnstaged(ask.node, { id: ask.id }, { claimGeneration: claim.generation });
    }
    case 'report':
      return void (await nodes.report(reportOf(ask.node)));
    case 'get': {
      const volume = await volumes.get({ id: ask.id });
      if (!volume) return undefined;
      const published = Object.entries(volume.publications).map(([node, { state }]) => [node, state]);
      const { state, waiting, csiId } = volume;
      return { state, published: Object.fromEntries(published), waiting: waiting.length, csiId };
    }
    case 'wellAt': {
      const isWell = ({ name, healthy }: AgentPlugin): boolean => name === ask.plugin && healthy;
      const agents = await cluster.agents();
      return agents.filter(({ plugins }) => plugins.some(isWell)).map(({ nodeId }) => nodeId);
    }
    case 'leads':
      return leadership.isOurs;
  }
}

const patience = ({ timeoutMs }: { timeoutMs?: number }): { timeoutMs?: number } =>
  timeoutMs === undefined ? {} : { timeoutMs };

process.on('message', async ({ number, ask }: { number: number; ask: Ask }) => {
  try {
    say({ kind: 'answer', number, value: await work(ask) });
  } catch (error) {
    const { code, message } = Object(error);
    say({ kind: 'answer', number, failed: { code: String(code), message: String(message) } });
  }
});
process.on('disconnect', () => process.exit());
process.once('SIGTERM', () => void runtime.close().finally(() => process.exit()));

const connection = { socketPath: options.socketPath };
for (const name of options.plugins) {
  await runtime.plugins.register({ type: 'csi-controller', name, allocId: `${name}-1`, connection });
  await runtime.plugins.waitFor('csi-controller', name, { until: 'healthy' });
}
say({ kind: 'open' });
