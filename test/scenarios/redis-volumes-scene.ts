/** Agents on one Redis, some of them processes of their own, and one driver on a real socket for all of them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { topologyOf } from '../../src/driver/identity.js';
import type { Logger } from '../../src/engine/logger.js';
import { createRuntime, type Runtime } from '../../src/runtime.js';
import { redisStore } from '../../src/stores/redis.js';
import type { NodeReport } from '../../src/volumes/node-manager.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';
import { eventually } from './redis-scene.js';

export interface VolumesChildOptions {
  url: string;
  nodeId: string;
  dataDir: string;
  socketPath: string;
  /** Where the driver listens that is this node's own; default: it has none. */
  nodeSocketPath?: string;
  /** Where volumes can be published. */
  nodes: string[];
}

export type ChildSaid =
  | { kind: 'open' }
  | { kind: 'elected'; nodeId: string }
  | { kind: 'asked'; what: string; id: string }
  | { kind: 'told'; what: string; id: string; how: string; atMs: number }
  | { kind: 'lost'; code: string };

export const volumeOf = (id: string): VolumeSpec => ({
  id,
  plugin: 'disk',
  capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }],
});

/** What a node that sees the driver's storage reports. */
export const reportOf = (id: string): NodeReport => ({
  id,
  plugins: [{ name: 'disk', nodeId: id, topology: topologyOf('node-1').segments }],
});

/** A runtime with the driver registered and seen well. */
export async function openLeader({
  url,
  nodeId,
  dataDir,
  socketPath,
  nodeSocketPath,
  logger,
}: VolumesChildOptions & { logger: Logger }): Promise<Runtime> {
  const store = redisStore(url);
  const retry = { initialMs: 5, maxMs: 50 };
  const runtime = await createRuntime({ nodeId, dataDir, store, logger, retry, calls: { timeoutMs: 5_000 } });
  const connection = { socketPath };
  await runtime.plugins.register({ type: 'csi-controller', name: 'disk', allocId: 'disk-1', connection });
  await runtime.plugins.waitFor('csi-controller', 'disk');
  if (nodeSocketPath === undefined) return runtime;
  const node = { socketPath: nodeSocketPath };
  await runtime.plugins.register({ type: 'csi-node', name: 'disk', allocId: 'disk-node-1', connection: node });
  return runtime;
}

export class VolumesChild {
  readonly said: ChildSaid[] = [];
  readonly #process: ChildProcess;

  private constructor(options: VolumesChildOptions, program: string) {
    const path = fileURLToPath(new URL(program, import.meta.url));
    this.#process = fork(path, [JSON.stringify(options)], { execArgv: ['--import=tsx'] });
    this.#process.on('error', () => undefined);
    this.#process.on('message', (message: ChildSaid) => void this.said.push(message));
  }

  /** Resolves once it is up; by default it works, which takes that it leads. */
  static async start(options: VolumesChildOptions, program = './redis-volumes-child.ts'): Promise<VolumesChild> {
    const child = new VolumesChild(options, program);
    await eventually('the child is open', () => {
      if (child.#process.exitCode !== null) throw new Error('the child ended');
      return child.said.some(({ kind }) => kind === 'open');
    });
    return child;
  }

  of<K extends ChildSaid['kind']>(kind: K): Extract<ChildSaid, { kind: K }>[] {
    return this.said.filter((message): message is Extract<ChildSaid, { kind: K }> => message.kind === kind);
  }

  freeze(): void {
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}
