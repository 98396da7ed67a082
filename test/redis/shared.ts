/** The plain server that many tests share: $REDIS_URL, or one that is started for the first who asks. */

import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { after } from 'mocha';
import { RedisProcess } from './servers.js';

let shared: Promise<RedisProcess> | undefined;

export async function sharedUrl(): Promise<string> {
  const given = process.env.REDIS_URL;
  if (given !== undefined) return given;
  shared ??= RedisProcess.start();
  return (await shared).url;
}

/** A prefix that nobody else uses. */
export function freshPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}:`;
}

/** Deletes all keys with this prefix. */
export async function sweep(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    // Each by itself: in a cluster they are of many slots.
    await Promise.all(keys.map((key: string) => client.unlink(key)));
  }
}

after(async () => {
  const server = await shared;
  await server?.remove();
});
