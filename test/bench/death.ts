/**
 * How soon a runtime tells that a plugin is gone, and that it is back: beside how soon its parent hears of it, and how
 * soon a client is answered that asks each millisecond. Once for a driver that is killed, once for one that closes its
 * socket and lives on.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { credentials } from '@grpc/grpc-js';
import type { PluginEvent } from '../../dist/src/registry/plugin-events.js';
import { createRuntime, type Runtime } from '../../dist/src/runtime/runtime.js';
import { csi } from '../generated/csi.js';
import { median } from './measure.js';
import { PluginServer } from './plugin-server.js';

const deaths = 20;
/** Longer than what must lie between two looks: what happens comes long after the last one. */
const restMs = 200;

/** A plugin that ends and comes back. */
interface Mortal {
  /** Resolves when a bare watcher knows. */
  die(): Promise<void>;
  /** Begins to come back. */
  rise(): Promise<void> | void;
  end(): Promise<void>;
}

function killedDriver(folder: string, socketPath: string): Mortal {
  const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
  const places = ['--endpoint', `unix://${socketPath}`, '--data-dir', join(folder, 'driver')];
  const start = () =>
    spawn(process.execPath, [program, 'driver', '--node-id', 'bench', ...places], { stdio: 'ignore' });
  let child = start();
  const die = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    die,
    rise: () => {
      child = start();
    },
    end: die,
  };
}

async function closingServer(socketPath: string): Promise<Mortal> {
  const server = new PluginServer([socketPath]);
  await server.serve();
  return { die: () => server.close(), rise: () => server.serve(), end: () => server.end() };
}

/** The health that is told of the one plugin. */
class Health {
  readonly #events: AsyncIterator<PluginEvent>;

  constructor(runtime: Runtime) {
    this.#events = runtime.plugins.updates()[Symbol.asyncIterator]();
  }

  async turns(healthy: boolean): Promise<void> {
    for (;;) {
      const { value, done } = await this.#events.next();
      if (done) throw new Error('the runtime has ended');
      if (value.kind === 'health' && value.healthy === healthy) return;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isListening = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Resolves when a Probe is answered: asks each millisecond whether somebody listens. */
async function firstAnswer(socketPath: string): Promise<void> {
  while (!(await isListening(socketPath))) await pause(1);
  const client = new csi.v1.IdentityClient(`unix://${socketPath}`, credentials.createInsecure());
  await new Promise<void>((resolve, reject) =>
    client.Probe(new csi.v1.ProbeRequest(), (error) => (error ? reject(error) : resolve())),
  );
  client.close();
}

/** Milliseconds until this has come about. */
async function taken(what: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await what;
  return performance.now() - startMs;
}

function reportOf(what: string, bareName: string, times: { bare: number; ours: number }[]): void {
  const shown = (of: 'bare' | 'ours'): string => {
    const all = times.map((time) => time[of]);
    return `${median(all).toFixed(1)} ms, worst ${Math.max(...all).toFixed(1)} ms`;
  };
  const later = times.map(({ bare, ours }) => ours - bare);
  console.log(`  ${what}`);
  console.log(`    ${bareName.padEnd(50)} ${shown('bare')}`);
  console.log(`    ${'told by updates()'.padEnd(50)} ${shown('ours')}`);
  console.log(
    `    ${'later than that'.padEnd(50)} ${median(later).toFixed(1)} ms, worst ${Math.max(...later).toFixed(1)} ms`,
  );
}

async function reportDeaths(how: string, folder: string, make: (socketPath: string) => Mortal | Promise<Mortal>) {
  const socketPath = join(folder, 'csi.sock');
  const plugin = await make(socketPath);
  const runtime = await createRuntime({ nodeId: 'bench', dataDir: join(folder, 'data') });
  const gone: { bare: number; ours: number }[] = [];
  const back: typeof gone = [];
  try {
    const health = new Health(runtime);
    const info = { type: 'csi-node', name: 'mortal', allocId: 'a1', connection: { socketPath } };
    await runtime.plugins.register(info);
    await health.turns(true);
    for (let death = 0; death < deaths; death += 1) {
      await pause(restMs);
      const [unhealthy, dead] = [taken(health.turns(false)), taken(plugin.die())];
      gone.push({ bare: await dead, ours: await unhealthy });
      await pause(restMs);
      const [healthy, answered] = [taken(health.turns(true)), taken(firstAnswer(socketPath))];
      await plugin.rise();
      back.push({ bare: await answered, ours: await healthy });
    }
  } finally {
    await runtime.close();
    await plugin.end();
  }
  console.log(`\na driver ${how}, ${deaths} times`);
  reportOf('to unhealthy', 'its parent knows', gone);
  reportOf('from its start to healthy', 'a bare client is answered', back);
}

export async function reportDeath(): Promise<void> {
  for (const [how, make] of [
    ['is killed (SIGKILL)', killedDriver],
    ['closes its socket', (_: string, socketPath: string) => closingServer(socketPath)],
  ] satisfies [string, (folder: string, socketPath: string) => Mortal | Promise<Mortal>][]) {
    const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
    try {
      await reportDeaths(how, folder, (socketPath) => make(folder, socketPath));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}
