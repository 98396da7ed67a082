/**
 * Makes index, due and owed anew from the records. They are written with the record, in the same script, so that
 * nothing of ours can part them; an operator who deletes keys can.
 */

import { allBuckets, bucketOf, type RedisKeys } from './redis-keys.js';
import { isReply } from './redis-link.js';
import { rowOf, textOf, textsOf } from './redis-replies.js';
import { call, command } from './redis-script.js';
import { enlistScript, sweepScript, tallyScript } from './redis-scripts.js';
import { askAll, type RedisServers } from './redis-servers.js';

const scanStep = '1000';

/** Whether every bucket lists as much as was counted when it was written. */
export async function isComplete(servers: RedisServers, keys: RedisKeys): Promise<boolean> {
  const answers = await askAll(
    servers,
    allBuckets.map((bucket) => call(tallyScript, bucket, keys.indexes(bucket), [])),
  );
  return answers.every((answer) => answer === 1);
}

/** Whether nothing is listed and nothing counted, which is so as well where an operator deleted both. */
export async function isBare(servers: RedisServers, keys: RedisKeys): Promise<boolean> {
  const answers = await askAll(
    servers,
    allBuckets.map((bucket) => command(bucket, 'exists', keys.counts(bucket))),
  );
  return answers.every((answer) => answer === 0);
}

/** Others may use the store meanwhile: each step adds or strikes what the records say at that moment. */
export async function rebuild(servers: RedisServers, keys: RedisKeys): Promise<void> {
  for (const master of servers.masters()) {
    let cursor = '0';
    do {
      const args = [cursor, 'MATCH', keys.recordPattern, 'COUNT', scanStep];
      const [answer] = await master.send([command(0, 'scan', ...args)]);
      if (isReply(answer)) throw answer;
      const [next, found] = rowOf(answer);
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
