/** Real Redis servers for tests: on free ports, in directories of their own, gone when the test is over. */

import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Redis, type RedisOptions } from 'ioredis';
import { until } from '../until.js';

type Child = ChildProcessByStdio<null, Readable, null>;

export interface ServerOptions {
  /** Lines of its configuration file besides port and directory. */
  config?: string[];
  mode?: 'sentinel';
  /** How a client of the test connects. */
  client?: RedisOptions;
}

const running = new Set<Child>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** One redis-server process, or the next one with the same port and data. */
export class RedisProcess {
  readonly dir = mkdtempSync(join(tmpdir(), 'stagecraft-redis-'));
  readonly port: number;
  readonly #options: ServerOptions;
  readonly #clients: Redis[] = [];
  #child: Child | undefined;

  private constructor(port: number, options: ServerOptions) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: ServerOptions = {}): Promise<RedisProcess> {
    const server = new RedisProcess(await freePort(), options);
    const { config = [] } = options;
    const lines = [`port ${server.port}`, 'bind 127.0.0.1', `dir ${server.dir}`, 'save ""', ...config];
    writeFileSync(join(server.dir, 'redis.conf'), `${lines.join('\n')}\n`);
    await server.run();
    return server;
  }

  get where(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `redis://${this.where}`;
  }

  /** Starts it, or starts it again after kill(); resolves once it serves. */
  async run(): Promise<void> {
    const args = [join(this.dir, 'redis.conf'), ...(this.#options.mode === 'sentinel' ? ['--sentinel'] : [])];
    const child: Child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    const lines: string[] = [];
    const reader = createInterface(child.stdout);
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`redis-server did not start:\n${lines.join('\n')}`)));
      reader.on('line', (line) => {
        lines.push(line);
        if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve();
      });
    });
  }

  /** A client of the test itself. */
  client(options: RedisOptions = {}): Redis {
    const redis = new Redis({
      port: this.port,
      host: '127.0.0.1',
      ...this.#options.client,
      ...options,
      replyMapping: 'legacy',
    });
    redis.on('error', () => undefined);
    this.#clients.push(redis);
    return redis;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Stands still until the server has answered a client in another process, and so all that was sent before. */
  answerNow(): void {
    const client = `const it = require('net').connect(${this.port}, '127.0.0.1', () => it.write('PING\\r\\n'));
      it.on('data', () => process.exit());`;
    execFileSync(process.execPath, ['--eval', client]);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export function clusterConfig(busPort: number): string[] {
  return ['cluster-enabled yes', `cluster-port ${busPort}`, 'cluster-node-timeout 1500', 'repl-diskless-sync-delay 0'];
}

/** Three masters of a cluster that serve all slots. */
export async function startCluster(): Promise<RedisProcess[]> {
  const start = async () => RedisProcess.start({ config: clusterConfig(await freePort()) });
  const nodes = await Promise.all([start(), start(), start()]);
  const clients = nodes.map((node) => node.client());
  const share = Math.ceil(16_384 / nodes.length);
  for (const [i, client] of clients.entries()) {
    await client.call('cluster', 'addslotsrange', i * share, Math.min((i + 1) * share, 16_384) - 1);
    await client.call('cluster', 'set-config-epoch', i + 1);
    if (i > 0) await meet(clients[0], nodes[i]);
  }
  await until(async () => {
    const infos = await Promise.all(clients.map((client) => client.call('cluster', 'info')));
    return infos.every((info) => /cluster_state:ok/.test(String(info)) && /known_nodes:3/.test(String(info)));
  });
  return nodes;
}

export async function meet(client: Redis | undefined, node: RedisProcess | undefined): Promise<void> {
  const [, busPort = ''] = /cluster-port (\d+)/.exec(await configOf(node)) ?? [];
  await client?.call('cluster', 'meet', '127.0.0.1', String(node?.port), busPort);
}

async function configOf(node: RedisProcess | undefined): Promise<string> {
  const reply = await node?.client().config('GET', 'cluster-port');
  return Array.isArray(reply) ? reply.join(' ') : '';
}

/**
 * Finds a port for a server that is killed and started again. The kernel gives ports of this range to nobody by itself, so no
 * client and no listener on port 0 takes it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (!isFree) continue;
    await once(server, 'close');
    return port;
  }
}
