/**
 * One connection to one server, made again whenever it is lost. ioredis repeats nothing here: a call lost with its
 * connection rejects, and the caller decides. Nothing is sent before redis-greeting.ts has checked which server
 * answers.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Redis, type RedisOptions } from 'ioredis';
import { onAbort } from '../../abort.js';
import { systemClock } from '../../engine/clock.js';
import { type RedisDurability, serverText } from './redis-options.js';
import { inFull, type RedisCall } from './redis-script.js';

/** Call that certainly had no effect: it was never sent. */
export class NotSentError extends Error {}

/** Sends one command. Resolves with its answer, or with the error that the server answered. */
export type Say = (name: string, ...args: string[]) => Promise<unknown>;

export interface LinkOptions {
  connection: RedisOptions;
  durability: RedisDurability;
  commandTimeoutMs: number;
  /**
   * Checks each new connection before it is used. A rejection closes the connection; another is made after a pause.
   * Resolves with whether the server is a master: another server may become one at any time, with other data, and is
   * checked again.
   */
  greet(say: Say): Promise<boolean>;
  /** Called every few minutes while a connection is in use. A rejection changes nothing: the next call tries again. */
  look(say: Say): Promise<void>;
  /** Default: three minutes. */
  lookEveryMs?: number;
}

const defaultLookEveryMs = 180_000;

/** Error codes of a server that has become a replica: its data may be replaced. */
const signsOfChange = ['READONLY', 'LOADING', 'MASTERDOWN'];

const firstBackoffMs = 10;
const longestBackoffMs = 1_000;

export class RedisLink {
  readonly where: string;
  readonly #options: LinkOptions;
  /** Connection in use. */
  #live: Redis | undefined;
  #isDoubted = false;
  #greeting: Promise<void> | undefined;
  #lastError = 'not opened yet';
  /** Connection that has not answered in time. */
  #abandoned: Redis | undefined;
  #closing: AbortController | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.where = serverText(options.connection);
  }

  /** Resolves with the first connection. Rejects with the reason if there is none, and then tries no more. */
  async open(): Promise<void> {
    const closing = new AbortController();
    this.#closing = closing;
    try {
      const redis = await this.#connect(closing.signal);
      void this.#keep(redis, closing.signal);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Connects as `open` does, and keeps trying. */
  start(): void {
    this.#closing = new AbortController();
    void this.#keep(undefined, this.#closing.signal);
  }

  close(): void {
    this.#closing?.abort();
    this.#lastError = 'closed';
  }

  get isLive(): boolean {
    return this.#live !== undefined;
  }

  /**
   * Sends all calls together and resolves with their answers; errors that the server answered are among them.
   * @param sure with writes: waits for the replicas that `durability` demands
   * @throws {NotSentError} there is no connection
   * @throws {Error} the outcome is unknown: the connection was lost, or no answer came in time
   */
  async send(calls: RedisCall[], sure = false): Promise<unknown[]> {
    const answers = await this.#sendOnce(calls, sure);
    const forgotten = calls.filter((call, i) => call.script !== undefined && isReply(answers[i], 'NOSCRIPT'));
    if (forgotten.length === 0) return answers;
    // Keeps the first answers of the other calls, whatever happens to the repeated ones.
    const again = await this.#sendOnce(forgotten.map(inFull), sure).catch((error: Error) => forgotten.map(() => error));
    return answers.map((answer) => (isReply(answer, 'NOSCRIPT') ? again.shift() : answer));
  }

  async #sendOnce(calls: RedisCall[], sure: boolean): Promise<unknown[]> {
    if (this.#isDoubted) await this.#greetAgain();
    const redis = this.#live;
    if (redis === undefined) throw new NotSentError(`Redis at ${this.where} is not connected: ${this.#lastError}`);
    const { durability } = this.#options;
    const answers = calls.map(({ command, args }) => this.#say(redis, command, args));
    if (!sure || durability === 'server') return this.#answered(redis, Promise.all(answers), 0);
    const { replicas, timeoutMs } = durability;
    const confirmed = this.#say(redis, 'wait', [String(replicas), String(timeoutMs)]);
    const [all, count] = await this.#answered(redis, Promise.all([Promise.all(answers), confirmed]), timeoutMs);
    if (typeof count === 'number' && count >= replicas) return all;
    if (all.every((answer) => answer instanceof Error)) return all;
    const got = count instanceof Error ? count.message : `${count} within ${timeoutMs} ms`;
    throw new Error(`Redis at ${this.where}: ${replicas} replicas are to confirm each write, but got ${got}.`);
  }

  /** Checks the server again before the next call if an answer shows that its role may have changed. */
  #checkRole(...answers: unknown[]): void {
    if (answers.some((answer) => isReply(answer, ...signsOfChange))) this.#isDoubted = true;
  }

  /** Repeats the greeting of the server. All callers wait until it is done, in the order of their calls. */
  #greetAgain(): Promise<void> {
    const redis = this.#live;
    this.#greeting ??= this.#greet(redis).finally(() => {
      this.#greeting = undefined;
    });
    return this.#greeting;
  }

  async #greet(redis: Redis | undefined): Promise<void> {
    if (redis === undefined) return;
    try {
      const say: Say = (name, ...args) => this.#answered(redis, this.#say(redis, name, args), 0);
      this.#isDoubted = !(await this.#options.greet(say));
    } catch (error) {
      this.#lastError = this.#why(error);
      redis.disconnect();
      throw new NotSentError(`Redis at ${this.where} is not to be used: ${this.#lastError}`);
    }
  }

  /** Resolves with the error if the server answered one; rejects if the outcome is unknown. */
  async #say(redis: Redis, name: string, args: (string | Buffer)[]): Promise<unknown> {
    try {
      const answer = await redis.sendCommand(new Command(name, args, { replyEncoding: 'utf8' }));
      if (Array.isArray(answer)) this.#checkRole(...answer);
      return answer;
    } catch (error) {
      this.#checkRole(error);
      if (isReply(error)) return error;
      throw new Error(`Redis at ${this.where} gave no answer: ${this.#why(error)}`, { cause: error });
    }
  }

  /**
   * Gives up a connection that does not answer in time: another may get through, and no late answer is mistaken for a
   * new one.
   */
  async #answered<T>(redis: Redis, answers: Promise<T>, moreMs: number): Promise<T> {
    const timeoutMs = this.#options.commandTimeoutMs + moreMs;
    const late = new Error(`Redis at ${this.where} gave no answer within ${timeoutMs} ms.`);
    let cancel = (): void => {};
    const timeout = new Promise<never>((_, reject) => {
      cancel = systemClock.after(timeoutMs, () => {
        this.#lastError = late.message;
        reject(late);
        // Once: ioredis adds a listener to the socket at each call.
        if (this.#abandoned !== redis) redis.disconnect();
        this.#abandoned = redis;
      });
    });
    try {
      return await Promise.race([answers, timeout]);
    } finally {
      cancel();
    }
  }

  async #keep(first: Redis | undefined, signal: AbortSignal): Promise<void> {
    let redis = first;
    let backoffMs = firstBackoffMs;
    while (!signal.aborted) {
      if (redis !== undefined) {
        await ended(redis);
        backoffMs = firstBackoffMs;
      }
      await sleep(backoffMs, undefined, { signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, longestBackoffMs);
      redis = signal.aborted ? undefined : await this.#connect(signal).catch(() => undefined);
    }
  }

  /** Resolves with a checked connection that is in use. */
  async #connect(signal: AbortSignal): Promise<Redis> {
    const options: RedisOptions = {
      connectTimeout: this.#options.commandTimeoutMs,
      ...this.#options.connection,
      lazyConnect: true,
      retryStrategy: null,
      sentinelRetryStrategy: () => null,
      sentinelCommandTimeout: this.#options.commandTimeoutMs,
      autoResendUnfulfilledCommands: false,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
    };
    const redis = new Redis({ ...options, replyMapping: 'legacy' });
    const unsubscribe = onAbort(signal, () => redis.disconnect());
    redis.on('error', (error: Error) => {
      this.#lastError = error.message;
    });
    redis.once('end', () => {
      unsubscribe();
      if (this.#live === redis) this.#live = undefined;
    });
    try {
      await this.#answered(redis, redis.connect(), 0);
      await this.#greet(redis);
      if (redis.status !== 'ready') throw new Error(this.#lastError);
      this.#live = redis;
      void this.#keepLooking(redis, signal);
      this.#lastError = 'the connection was lost';
      return redis;
    } catch (error) {
      const reason = this.#why(error);
      this.#lastError = reason;
      redis.disconnect();
      throw new Error(`Redis at ${this.where}: ${reason}`, { cause: error });
    }
  }

  async #keepLooking(redis: Redis, signal: AbortSignal): Promise<void> {
    const { look, lookEveryMs = defaultLookEveryMs } = this.#options;
    const say: Say = (name, ...args) => this.#answered(redis, this.#say(redis, name, args), 0);
    const ended = new AbortController();
    const unsubscribe = onAbort(signal, () => ended.abort());
    redis.once('end', () => ended.abort());
    while (!ended.signal.aborted) {
      await sleep(lookEveryMs, undefined, { signal: ended.signal, ref: false }).catch(() => undefined);
      if (!ended.signal.aborted) await look(say).catch(() => undefined);
    }
    unsubscribe();
  }

  /** Explains a failure: ioredis reports a closed connection and its cause separately. */
  #why(error: unknown): string {
    const message = error instanceof Error ? error.message : String(error);
    return message === 'Connection is closed.' ? this.#lastError : message;
  }
}

/** Tells whether the server answered an error, with one of these codes if any are given. */
export function isReply(answer: unknown, ...codes: string[]): answer is Error {
  if (!(answer instanceof Error) || answer.name !== 'ReplyError') return false;
  return codes.length === 0 || codes.some((code) => answer.message.startsWith(code));
}

function ended(redis: Redis): Promise<void> {
  return redis.status === 'end' ? Promise.resolve() : new Promise((resolve) => redis.once('end', () => resolve()));
}
