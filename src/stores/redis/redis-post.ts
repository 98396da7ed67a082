/**
 * Puts texts into inboxes, in time or never: a server that was frozen finds texts in its connections that nobody counts on
 * any more. The age that a reader gets says nothing of the time before.
 */
import type { Clock } from '../../engine/clock.js';
import { putWithinMs, type Wire } from '../../engine/store.js';
import { bucketOf, type RedisKeys } from './redis-keys.js';
import { arrayOf, numberOf } from './redis-replies.js';
import { call, command, script } from './redis-script.js';
import { askAll, type RedisServers } from './redis-servers.js';

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

export function redisPost({ keys, servers, clock, withinMs = defaultMs }: RedisPostOptions): Wire['post'] {
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
