/** Checks a Redis store at open: format of the stored data, rights of the user, and indexes. */

import { allBuckets, bucketOf, buckets, type RedisKeys } from './redis-keys.js';
import { isReply } from './redis-link.js';
import { arrayOf, textOf, textsOf } from './redis-replies.js';
import { call, command } from './redis-script.js';
import { enlistScript, metaScript, probeScript, sweepScript, tallyScript } from './redis-scripts.js';
import { askAll, type RedisServers } from './redis-servers.js';

const format = '1';

/** Refuses data of another version, and repairs indexes that an operator damaged. */
export async function checkStored(servers: RedisServers, keys: RedisKeys): Promise<void> {
  const [made] = await askAll(servers, [call(metaScript, 0, [keys.meta], [format, String(buckets)])]);
  const [isNew, storedFormat, storedBuckets] = arrayOf(made);
  if (storedFormat !== format || storedBuckets !== String(buckets)) {
    throw new Error(
      `The data under ${keys.prefix} has format ${storedFormat} with ${storedBuckets} buckets; ` +
        `this version reads format ${format} with ${buckets} buckets: see UPGRADING.md.`,
    );
  }
  await checkRights(servers, keys);
  if (isNew === 1) return;
  if (!(await isComplete(servers, keys)) || (await isBare(servers, keys))) await rebuild(servers, keys);
}

/** Checks all rights at open: a right missing during a commit would leave it half written. */
async function checkRights(servers: RedisServers, keys: RedisKeys): Promise<void> {
  const [answer] = await servers.send([call(probeScript, 0, [keys.probe], [])]);
  if (answer instanceof Error && /^(ERR|NOPERM)/.test(answer.message)) throw answer;
}

const hints: [RegExp, string][] = [
  [/ECONNREFUSED/, 'Nothing listens there: is the server running, and are host and port right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'The host has no address: is its name right?'],
  [/NOAUTH|WRONGPASS|HELLO must be called with the client already authenticated/, 'Are user name and password right?'],
  [
    /NOPERM|user executing the script|ACL failure/,
    'The user lacks a right: redisStore names the commands that it needs.',
  ],
  [
    /SSL|TLS|certificate|wrong version number/i,
    'Is TLS on at both sides (the url begins with rediss://), with the right certificate authority?',
  ],
  [/sentinel/i, 'Are the sentinels right, and the name of the master?'],
  [/READONLY/, 'A replica can be opened only once its master has been.'],
  [/no answer within|ETIMEDOUT/, 'Does it hang, does a firewall drop packets, or does only one side expect TLS?'],
];

/** Explains why a store could not be opened, and what to check. */
export function openFailure(cause: unknown, where: string): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const hint = hints.find(([pattern]) => pattern.test(reason))?.[1];
  const message = `The Redis store at ${where} can't be opened: ${reason}${hint === undefined ? '' : ` ${hint}`}`;
  return new Error(message, { cause });
}

const scanStep = '1000';

/** Tells whether every bucket's indexes have as many members as were counted when they were written. */
async function isComplete(servers: RedisServers, keys: RedisKeys): Promise<boolean> {
  const answers = await askAll(
    servers,
    allBuckets.map((bucket) => call(tallyScript, bucket, keys.indexes(bucket), [])),
  );
  return answers.every((answer) => answer === 1);
}

/** Tells whether the indexes and their counts are empty, which is also the case if an operator deleted both. */
async function isBare(servers: RedisServers, keys: RedisKeys): Promise<boolean> {
  const answers = await askAll(
    servers,
    allBuckets.map((bucket) => command(bucket, 'exists', keys.counts(bucket))),
  );
  return answers.every((answer) => answer === 0);
}

/**
 * Rebuilds the indexes from the records. Others may use the store meanwhile: each step uses the records of its
 * moment.
 */
async function rebuild(servers: RedisServers, keys: RedisKeys): Promise<void> {
  for (const master of servers.masters()) {
    let cursor = '0';
    do {
      const args = [cursor, 'MATCH', keys.recordPattern, 'COUNT', scanStep];
      const [answer] = await master.send([command(0, 'scan', ...args)]);
      if (isReply(answer)) throw answer;
      const [next, found] = arrayOf(answer);
      cursor = textOf(next);
      await enlist(servers, keys, textsOf(found));
    } while (cursor !== '0');
  }
  await askAll(
    servers,
    allBuckets.map((bucket) =>
      call(sweepScript, bucket, keys.indexes(bucket), [keys.records(bucket), keys.outboxes(bucket)]),
    ),
  );
}

async function enlist(servers: RedisServers, keys: RedisKeys, found: string[]): Promise<void> {
  const byBucket = new Map<number, string[]>();
  for (const address of found.flatMap((key) => keys.addressOf(key) ?? [])) {
    const bucket = bucketOf(address);
    byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), address]);
  }
  const calls = [...byBucket].map(([bucket, addresses]) => {
    const own = addresses.flatMap((address) => [keys.record(address), keys.outbox(address)]);
    return call(enlistScript, bucket, [keys.index(bucket), keys.due(bucket), keys.owed(bucket), ...own], addresses);
  });
  if (calls.length > 0) await askAll(servers, calls);
}
