/**
 * Measures several agents on one Redis: a publish that is asked on another agent against one on the owner, the take-over after
 * a SIGKILL and a SIGTERM of the owner, and agents that have nothing to do. Each agent is a process (cluster-agent.ts).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { RedisProcess } from '../redis/servers.js';
import type { Asked } from './cluster-agent.js';
import { median } from './measure.js';

const publishes = 500;
const inFlight = 64;
const volumes = 10_000;
const live = 100;
const takeovers = 20;
const idleSeconds = 20;

const start = async (module: string, args: string[]): Promise<ChildProcess> => {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(path, args, { execArgv: ['--import=tsx'] });
  await once(child, 'message');
  return child;
};

class Agent {
  readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  static async start(nodeId: string, url: string, socketPath: string): Promise<Agent> {
    return new Agent(await start('cluster-agent.ts', [nodeId, url, socketPath]));
  }

  /** @returns time of each, in ms */
  async ask(what: Asked['what'], ids: string[], atOnce = 1): Promise<number[]> {
    this.child.send({ what, ids, atOnce } satisfies Asked);
    const [times] = await once(this.child, 'message');
    return times;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child.kill(signal);
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

/** Volumes that no other call of it has named. */
function namer(): (count: number) => string[] {
  let made = 0;
  return (count) => Array.from({ length: count }, () => `volume-${++made}`);
}

async function cpuOf(client: Redis): Promise<number> {
  const of = async (section: string, pattern: RegExp): Promise<number> =>
    [...(await client.info(section)).matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
  return (await of('cpu', /^used_cpu_(?:user|sys):([\d.]+)/gm)) * 1e6;
}

const commandsOf = async (client: Redis): Promise<number> =>
  Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);

const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const worst = (values: number[]): number => Math.max(...values);

async function reportPublishes(url: string, client: Redis): Promise<void> {
  const owner = await Agent.start('owner', url, 'instant');
  const other = await Agent.start('other', url, 'none');
  const name = namer();
  const agents = { here: owner, there: other };
  const times: Record<keyof typeof agents, number[]> = { here: [], there: [] };
  const cpu: typeof times = { here: [], there: [] };
  for (let round = 0; round < 6; round += 1)
    for (const [where, agent] of Object.entries(agents) as [keyof typeof agents, Agent][]) {
      const alone = name(publishes);
      await owner.ask('create', alone, inFlight);
      times[where].push(median(await agent.ask('publish', alone)));
      const many = name(4 * publishes);
      await owner.ask('create', many, inFlight);
      const before = await cpuOf(client);
      await agent.ask('publish', many, inFlight);
      cpu[where].push(((await cpuOf(client)) - before) / many.length);
    }
  await other.end('SIGTERM');
  await owner.end('SIGTERM');
  // The first round warms up.
  const [here, there] = [median(times.here.slice(1)), median(times.there.slice(1))];
  const [cpuHere, cpuThere] = [median(cpu.here.slice(1)), median(cpu.there.slice(1))];
  console.log('\npublish, a driver that answers at once, one Redis: median; CPU of Redis with 64 in flight');
  console.log(`  asked on the agent that works on volumes  ${ms(here)}  ${cpuHere.toFixed(0)} µs`);
  console.log(`  asked on another agent                    ${ms(there)}  ${cpuThere.toFixed(0)} µs`);
  console.log(`  the other to the first                    ${(there / here).toFixed(2)}, aim ${ms(1.5 * here + 0.5)}`);
}

/** Resolves once the driver has told of so many publishes. */
function heard(driver: ChildProcess, count: number, isFirst: boolean): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const hear = (message: { isFirst: boolean }): void => {
      if (message.isFirst === isFirst) left -= 1;
      if (left > 0) return;
      driver.off('message', hear);
      resolve();
    };
    driver.on('message', hear);
  });
}

async function reportTakeovers(url: string, folder: string): Promise<void> {
  const socketPath = join(folder, 'driver.sock');
  const driver = await start('cluster-driver.ts', [socketPath]);
  const name = namer();
  let owner = await Agent.start('0', url, socketPath);
  const filled = name(volumes);
  await owner.ask('create', filled, inFlight);
  await owner.ask('publish', filled, inFlight);
  const times: number[] = [];
  for (let round = 1; round <= takeovers; round += 1) {
    const next = await Agent.start(String(round), url, socketPath);
    const ids = name(live);
    await owner.ask('create', ids, inFlight);
    driver.send('hang');
    const begun = heard(driver, live, true);
    await owner.ask('begin', ids);
    await begun;
    const repeated = heard(driver, live, false);
    const beganMs = performance.now();
    await owner.end('SIGKILL');
    await repeated;
    times.push(performance.now() - beganMs);
    driver.send('answer');
    owner = next;
  }
  console.log(
    `\n${takeovers} SIGKILLs of the owner of ${volumes} volumes, ${live} calls at the driver: until it has all of them again`,
  );
  console.log(`  median ${ms(median(times))}, worst ${ms(worst(times))}`);
  const asker = await Agent.start('asker', url, 'none');
  const waits: number[] = [];
  for (let round = 1; round <= takeovers; round += 1) {
    const next = await Agent.start(`next-${round}`, url, socketPath);
    const ids = name(500);
    await asker.ask('create', ids, inFlight);
    const asked = asker.ask('publish', ids, 4);
    await sleep(50);
    await owner.end('SIGTERM');
    waits.push(worst(await asked));
    owner = next;
  }
  console.log(
    `\n${takeovers} SIGTERMs of the owner while another agent asks it for publishes, 4 at a time: the longest wait of each`,
  );
  console.log(`  median ${ms(median(waits))}, worst ${ms(worst(waits))}`);
  await asker.end('SIGTERM');
  await owner.end('SIGTERM');
  driver.disconnect();
}

async function reportIdlers(url: string, client: Redis): Promise<void> {
  const owner = await Agent.start('owner', url, 'instant');
  console.log('\nagents with nothing to do beside the owner: CPU of each, commands and CPU of Redis for each');
  for (const count of [2, 8, 32]) {
    const atRest = await costOf(client);
    const idlers = await start('cluster-idlers.ts', [url, String(count)]);
    await sleep(5_000);
    idlers.send(idleSeconds);
    const answered = once(idlers, 'message');
    const { commands, cpu } = await costOf(client);
    const [own] = await answered;
    const perAgent = [(commands - atRest.commands) / count, (cpu - atRest.cpu) / count];
    const [each = 0, redis = 0] = perAgent;
    console.log(
      `  ${String(count).padStart(2)}  ${(own / 1_000).toFixed(1)} ms/s  ${each.toFixed(1)} commands/s  ${(redis / 1_000).toFixed(2)} ms/s`,
    );
    idlers.disconnect();
    await once(idlers, 'exit');
  }
  await owner.end('SIGTERM');
}

/** Of Redis, per second. */
async function costOf(client: Redis): Promise<{ commands: number; cpu: number }> {
  const [commands, cpu] = [await commandsOf(client), await cpuOf(client)];
  await sleep(idleSeconds * 1_000);
  const spent = (await cpuOf(client)) - cpu;
  return { commands: ((await commandsOf(client)) - commands) / idleSeconds, cpu: spent / idleSeconds };
}

export async function reportCluster(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  const parts = [reportPublishes, (url: string) => reportTakeovers(url, folder), reportIdlers];
  try {
    for (const part of parts) {
      const server = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
      await part(server.url, server.client());
      await server.remove();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
