/**
 * Checks made on every new connection before anything else: whether this is the same server with the same data as
 * before, and whether its settings keep the store's promises. The settings are looked at again from time to time.
 */

import type { StoreEvents } from '../../engine/store.js';
import type { Say } from './redis-link.js';
import { allScripts } from './redis-script.js';

/** Identity of a server's process and of the history of its data. */
export interface Identity {
  runId: string;
  replicationId: string;
  isMaster: boolean;
}

interface Greeting {
  /** Address of the server, for messages. */
  where: string;
  /** Number of the database. Every connection begins with 0. */
  db: number;
  /** True behind sentinels: they may still name a master that was demoted meanwhile. */
  onlyMaster: boolean;
  /** Identity seen on the last connection. */
  known: Identity | undefined;
  events: StoreEvents;
  /** Settings of the server. */
  settings: SettingsWatch;
}

/** Oldest supported version: its streams number their entries, and its scripts fail before their first write. */
const oldestMajor = 7;

/**
 * Checks the server, calls `suspect` and `warn` as needed, and resolves with its identity.
 * @throws {Error} the server cannot be used, or not yet
 */
export async function greet(say: Say, { where, db, onlyMaster, known, events, settings }: Greeting): Promise<Identity> {
  // Selects explicitly: ioredis would go on in the first database if it may not select another.
  if (db !== 0) await answered(say('select', String(db)), 'SELECT');
  const info = parseInfo(await answered(say('info'), 'INFO'));
  const version = info.get('redis_version') ?? 'unknown';
  if (Number.parseInt(version, 10) < oldestMajor)
    throw new Error(`version ${version} is too old: Redis ${oldestMajor} or newer is needed.`);
  if (info.get('loading') === '1') throw new Error('it is still loading its data.');
  const identity = {
    runId: info.get('run_id') ?? '',
    replicationId: info.get('master_replid') ?? '',
    isMaster: info.get('role') === 'master',
  };
  if (onlyMaster && !identity.isMaster) throw new Error('it is a replica now; waiting for a master.');
  await Promise.all(allScripts.map(({ lua }) => answered(say('script', 'load', lua), 'SCRIPT LOAD')));

  const change = known && changeBetween(known, identity);
  if (change !== undefined) events.suspect(`Redis at ${where}: ${change}`);
  if (identity.runId !== known?.runId) {
    settings.forget();
    await settings.look(say, info);
  }
  return identity;
}

function changeBetween(before: Identity, now: Identity): string | undefined {
  if (before.runId !== now.runId) return 'another process answers now (it was restarted, or replaced in a failover).';
  if (before.replicationId !== now.replicationId) return 'its data has another history now (a replica was promoted).';
  return undefined;
}

/** Warns of settings that do not keep the store's promises: of each once, and again if it was mended meanwhile. */
export class SettingsWatch {
  readonly #where: string;
  readonly #events: Pick<StoreEvents, 'warn'>;
  #told: readonly string[] = [];

  constructor(where: string, events: Pick<StoreEvents, 'warn'>) {
    this.#where = where;
    this.#events = events;
  }

  /** Called when another process answers: all is said of it that has to be said. */
  forget(): void {
    this.#told = [];
  }

  /** @param known what INFO has just answered; default: it is asked */
  async look(say: Say, known?: Map<string, string>): Promise<void> {
    const info = known ?? parseInfo(await answered(say('info'), 'INFO'));
    const faults = await faultsOf(say, info);
    for (const fault of faults) if (!this.#told.includes(fault)) this.#events.warn(`Redis at ${this.#where} ${fault}`);
    this.#told = faults;
  }
}

async function faultsOf(say: Say, info: Map<string, string>): Promise<string[]> {
  const faults: string[] = [];
  const policy = info.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    faults.push(`may evict what it holds when memory is short (${policy}): set maxmemory-policy noeviction.`);
  if (info.get('role') !== 'master') faults.push('is a replica: it takes no writes until it is promoted.');
  if (info.get('aof_enabled') !== '1')
    return [...faults, 'loses all writes since its last dump when it stops: set appendonly yes.'];
  const fsync = await say('config', 'get', 'appendfsync');
  const policyOfSync = Array.isArray(fsync) ? fsync[1] : undefined;
  if (policyOfSync === 'everysec')
    faults.push('may lose the last second of writes in a power cut (appendfsync everysec): set appendfsync always.');
  if (policyOfSync === 'no')
    faults.push('may lose what the host had not written in a power cut (appendfsync no): set appendfsync always.');
  return faults;
}

async function answered(reply: Promise<unknown>, name: string): Promise<string> {
  const answer = await reply;
  if (typeof answer === 'string') return answer;
  throw new Error(`it refused ${name}: ${answer instanceof Error ? answer.message : typeof answer}`);
}

function parseInfo(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
