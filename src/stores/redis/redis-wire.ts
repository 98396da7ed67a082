/** Inboxes of agents as streams in Redis. Reading blocks, so it has connections of its own. Roster: redis-roster.ts */
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../../abort.js';
import type { Clock } from '../../engine/clock.js';
import { putWithinMs, type Receive, type Wire } from '../../engine/store.js';
import { bucketOf, type RedisKeys } from './redis-keys.js';
import { arrayOf, entriesOf, numberOf, type StreamEntry } from './redis-replies.js';
import { redisRoster } from './redis-roster.js';
import { entryText } from './redis-rows.js';
import { call, command, type RedisCall, script } from './redis-script.js';
import { askAll, type RedisServers } from './redis-servers.js';

/** Longest wait of one read, ms. A text that comes after an idle time is believed to be at most twice as old. */
export const blockMs = 1_000;
const mostRead = 64;
/** An inbox without a reader is gone after this. */
const expiryMs = 600_000;
const renewMs = 60_000;
const retryMs = 200;

interface RedisWireOptions {
  keys: Pick<RedisKeys, 'wire' | 'roster'>;
  /** Connections for all that does not block. */
  servers(): RedisServers;
  /**
   * Makes connections for reads that block.
   * @param suspect called before the first answer of another server, or of the same with other data
   */
  reading(suspect: () => void): Promise<RedisServers>;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Time after which a text is not put into an inbox any more, ms; default: within the limit of the port. */
  withinMs?: number;
}

export function redisWire(options: RedisWireOptions): Wire {
  const { beat, leave, roster } = redisRoster(options);
  const readers = new Set<InboxReader>();
  return {
    post: redisPost(options),
    async listen(inbox, receive, signal) {
      const reader = new InboxReader(inbox, receive, options);
      await reader.open(signal);
      readers.add(reader);
      onAbort(signal, () => readers.delete(reader));
    },
    async beat(sign) {
      const isKnown = await beat(sign);
      // A server that has lost the entry may have lost the inboxes as well.
      if (!isKnown) for (const reader of readers) reader.renewSoon();
      return isKnown;
    },
    leave,
    roster,
  };
}

class InboxReader {
  readonly #receive: Receive;
  readonly #options: RedisWireOptions;
  readonly #bucket: number;
  readonly #key: string;
  /** Id of the last text that was heard. */
  #last = '0-0';
  /**
   * Start of the last read that emptied the inbox, on this process's clock: what is read later was put in later.
   * Undefined: this server's inbox has not been emptied yet.
   */
  #emptiedMs: number | undefined;
  #renewedMs: number | undefined;
  /** Rises each time when another server, or other data, may answer. */
  #suspicions = 0;
  /** Their number when the inbox was last read from its beginning. */
  #readSuspicions = 0;

  constructor(inbox: string, receive: Receive, options: RedisWireOptions) {
    this.#receive = receive;
    this.#options = options;
    this.#bucket = bucketOf(inbox);
    this.#key = options.keys.wire(inbox);
  }

  /** Makes the inbox and begins to read it. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#make();
    const readers = await this.#options.reading(() => {
      this.#suspicions += 1;
    });
    onAbort(signal, () => {
      readers.close();
      void this.#remove();
    });
    void this.#readAll(readers, signal);
  }

  /** Makes the inbox again, if it is gone, before the next read. */
  renewSoon(): void {
    this.#renewedMs = undefined;
  }

  async #readAll(readers: RedisServers, signal: AbortSignal): Promise<void> {
    let isLost = false;
    while (!signal.aborted) {
      try {
        if (isLost) await this.#make();
        isLost = false;
        if (this.#nowMs() - (this.#renewedMs ?? -Infinity) >= renewMs) await this.#renew();
        await this.#read(readers);
      } catch {
        // The store's own calls fail as well, and are told of.
        if (signal.aborted) return;
        isLost = true;
        this.#emptiedMs = undefined;
        await sleep(retryMs);
      }
    }
  }

  async #read(readers: RedisServers): Promise<void> {
    const suspicions = this.#suspicions;
    if (suspicions !== this.#readSuspicions) {
      // The ids of another server may be lower: what was heard before comes again, and does no harm.
      this.#last = '0-0';
      this.#emptiedMs = undefined;
      this.#readSuspicions = suspicions;
    }
    const beganMs = this.#nowMs();
    const args = ['COUNT', String(mostRead), 'BLOCK', String(blockMs), 'STREAMS', this.#key, this.#last];
    const [reply] = await askAll(readers, [command(this.#bucket, 'xread', ...args)]);
    if (suspicions !== this.#suspicions) throw new Error('another server answers now');
    const entries = entriesIn(reply);
    for (const entry of entries) {
      this.#last = entry.id.join('-');
      const text = entryText(entry);
      const ageMs = this.#emptiedMs === undefined ? Infinity : this.#nowMs() - this.#emptiedMs;
      if (text !== '') this.#receive(text, ageMs);
    }
    if (entries.length < mostRead) this.#emptiedMs = beganMs;
  }

  async #make(): Promise<void> {
    await askAll(this.#options.servers(), [this.#command('xadd', '*', 't', ''), this.#expire()]);
    this.#renewedMs = this.#nowMs();
  }

  /** Keeps the inbox, without the texts that were heard. One that is gone is made again. */
  async #renew(): Promise<void> {
    const trim = this.#command('xtrim', 'MINID', this.#last);
    const [isThere] = await askAll(this.#options.servers(), [this.#expire(), trim]);
    this.#renewedMs = this.#nowMs();
    if (isThere === 1) return;
    await this.#make();
    this.#last = '0-0';
  }

  /** Without the server the inbox goes by itself, once its time is over. */
  async #remove(): Promise<void> {
    try {
      await askAll(this.#options.servers(), [this.#command('del')]);
    } catch {
      // The key expires.
    }
  }

  #expire(): RedisCall {
    return this.#command('pexpire', String(expiryMs));
  }

  #command(name: string, ...args: string[]): RedisCall {
    return command(this.#bucket, name, this.#key, ...args);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

function entriesIn(reply: unknown): StreamEntry[] {
  const [stream] = Array.isArray(reply) ? reply : [];
  return entriesOf(Array.isArray(stream) ? stream[1] : []);
}

/** Texts that an inbox keeps, about: a reader that is further behind loses the oldest. */
const mostTexts = 10_000;
/** An answer that took longer says too little about the server's clock. */
const longestAnswerMs = 1_000;
const defaultMs = putWithinMs - longestAnswerMs;

/**
 * KEYS: inbox. ARGV: moment on the server's clock after which nothing is put in, mostTexts, text. Returns the server's
 * time, and 1; 0 if there is no such inbox; -1 if it is too late.
 */
const postScript = script(`
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local now = string.format('%.0f', nowMs)
if nowMs > tonumber(ARGV[1]) then return {now, -1} end
local id = redis.call('XADD', KEYS[1], 'NOMKSTREAM', 'MAXLEN', '~', ARGV[2], '*', 't', ARGV[3])
return {now, id and 1 or 0}
`);

interface RedisPostOptions {
  keys: Pick<RedisKeys, 'wire'>;
  servers(): RedisServers;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Default: so that the port's limit holds, however late the answers are that the server's clock is known from. */
  withinMs?: number;
}

/**
 * Puts texts into inboxes, in time or never: a server that was frozen finds texts in its connections that nobody counts on
 * any more. The age that a reader gets says nothing of the time before.
 */
function redisPost({ keys, servers, clock, withinMs = defaultMs }: RedisPostOptions): Wire['post'] {
  /** By bucket, how far its server's clock is ahead of this process's: at most so much. */
  const ahead = new Map<number, number>();

  const learn = (bucket: number, askedMs: number, serverMs: number): void => {
    if (clock.monotonicMs() - askedMs <= longestAnswerMs) ahead.set(bucket, serverMs - askedMs);
    else ahead.delete(bucket);
  };

  async function aheadOf(bucket: number): Promise<number> {
    const known = ahead.get(bucket);
    if (known !== undefined) return known;
    const askedMs = clock.monotonicMs();
    const [reply] = await askAll(servers(), [command(bucket, 'time')]);
    const [seconds, micros] = arrayOf(reply);
    learn(bucket, askedMs, numberOf(seconds) * 1_000 + Math.ceil(numberOf(micros) / 1_000));
    return ahead.get(bucket) ?? tooLate();
  }

  return async (inbox, text) => {
    const bucket = bucketOf(inbox);
    const beganMs = clock.monotonicMs();
    do {
      const until = Math.floor((await aheadOf(bucket)) + beganMs + withinMs);
      const askedMs = clock.monotonicMs();
      const args = [String(until), String(mostTexts), text];
      const [reply] = await askAll(servers(), [call(postScript, bucket, [keys.wire(inbox)], args)]);
      const [serverMs, outcome] = arrayOf(reply);
      learn(bucket, askedMs, numberOf(serverMs));
      if (outcome !== -1) return outcome === 1;
      // Tries again with the clock as it is now: another server may answer, or its clock was set.
    } while (clock.monotonicMs() - beganMs < withinMs);
    return tooLate();
  };
}

function tooLate(): never {
  throw new Error('Redis answers too slowly: the text was not put into the inbox.');
}
