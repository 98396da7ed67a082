/**
 * Servers behind a store: a single one, or the one that sentinels name. For a cluster: redis-cluster.ts. Also decides
 * what is known of a call without a proper answer.
 */

import type { StoreEvents } from '../../engine/store.js';
import { greet, type Identity, SettingsWatch } from './redis-greeting.js';
import { isReply, NotSentError, RedisLink } from './redis-link.js';
import { type RedisSettings, serverText } from './redis-options.js';
import type { RedisCall } from './redis-script.js';

export interface RedisServers {
  /** Address for messages. */
  readonly where: string;
  /** Whether one call may cover several buckets. */
  readonly shareCalls: boolean;
  /** Rejects with the reason if the servers cannot be reached or used. */
  open(): Promise<void>;
  close(): void;
  /**
   * Sends each call to the server that has its bucket; calls for one server go together. Resolves with the answers in
   * the order of the calls; an Error stands for a missing answer.
   * @param sure with writes: waits for as many replicas as `durability` demands
   */
  send(calls: RedisCall[], sure?: boolean): Promise<unknown[]>;
  /** Returns a connection to each master. */
  masters(): RedisLink[];
}

/** Error codes of servers that did not begin the call. */
const refusals = [
  ...['OOM', 'MISCONF', 'READONLY', 'LOADING', 'CLUSTERDOWN', 'NOREPLICAS', 'BUSY', 'TRYAGAIN', 'MASTERDOWN', 'NOPERM'],
  ...['NOAUTH', 'MOVED', 'ASK', 'NOSCRIPT'],
];

/** Tells whether nothing was written: the call was not sent, or refused before it began. */
export function isUndone(answer: unknown): answer is Error {
  if (answer instanceof NotSentError) return true;
  // A script that had begun names the line at which it failed.
  return isReply(answer, ...refusals) && !answer.message.includes('on @user_script:');
}

export class RedisServer implements RedisServers {
  readonly shareCalls = true;
  readonly #link: RedisLink;
  #known: Identity | undefined;

  /** @param lookEveryMs @see LinkOptions.lookEveryMs */
  constructor(settings: RedisSettings, events: StoreEvents, lookEveryMs?: number) {
    const { connection } = settings;
    const where = serverText(connection);
    const watch = new SettingsWatch(where, events);
    this.#link = new RedisLink({
      ...settings,
      ...(lookEveryMs !== undefined && { lookEveryMs }),
      look: (say) => watch.look(say),
      greet: async (say) => {
        const onlyMaster = connection.sentinels !== undefined;
        this.#known = await greet(say, {
          where,
          db: connection.db ?? 0,
          onlyMaster,
          known: this.#known,
          events,
          settings: watch,
        });
        return this.#known.isMaster;
      },
    });
  }

  get where(): string {
    return this.#link.where;
  }

  open(): Promise<void> {
    return this.#link.open();
  }

  close(): void {
    this.#link.close();
  }

  async send(calls: RedisCall[], sure = false): Promise<unknown[]> {
    return sendOr(this.#link, calls, sure);
  }

  masters(): RedisLink[] {
    return [this.#link];
  }
}

/** Sends calls and never rejects: for a lost connection, each answer is its error. */
export async function sendOr(link: RedisLink, calls: RedisCall[], sure: boolean): Promise<unknown[]> {
  try {
    return await link.send(calls, sure);
  } catch (error) {
    return calls.map(() => error);
  }
}

/** @throws {Error} if one of the calls failed */
export async function askAll(servers: RedisServers, calls: RedisCall[], sure = false): Promise<unknown[]> {
  return checked(servers, await servers.send(calls, sure), (answer) => answer instanceof Error);
}

/**
 * Reads keys. The answer for a key of another type, which the store did not write, is an Error: it harms no other key.
 * @throws {Error} if one of the calls failed
 */
export async function readAll(servers: RedisServers, calls: RedisCall[]): Promise<unknown[]> {
  const isFailure = (answer: unknown): boolean => answer instanceof Error && !isReply(answer, 'WRONGTYPE');
  return checked(servers, await servers.send(calls), isFailure);
}

function checked(servers: RedisServers, answers: unknown[], isFailure: (answer: unknown) => boolean): unknown[] {
  const failure = answers.find(isFailure);
  if (isReply(failure)) throw new Error(`Redis at ${servers.where} answered: ${failure.message}`, { cause: failure });
  if (failure !== undefined) throw failure;
  return answers;
}
