/** Options of the commands that read a store themselves, in place of asking an agent. */
import type { Command } from 'commander';
import type { StoredAt } from '../agent/stored-past.js';
import { misuse } from './arguments.js';

export const fromStore = (command: Command): Command =>
  command
    .option('--data-dir <dir>', 'read this data directory, or copy of one, that no agent runs on')
    .option('--redis <url>', 'read the store in this Redis, or in a copy of it, without asking an agent')
    .option('--redis-prefix <prefix>', 'what the keys of that store begin with; default stagecraft:');

/** The store that is to be read; undefined: an agent is asked. */
export function storedAt({ dataDir, redis, redisPrefix }: StoredAt): StoredAt | undefined {
  if (dataDir !== undefined && redis !== undefined) throw misuse('--data-dir and --redis name two stores: give one');
  if (redisPrefix !== undefined && redis === undefined) throw misuse('--redis-prefix needs --redis');
  if (redis !== undefined) return { redis, ...(redisPrefix !== undefined && { redisPrefix }) };
  return dataDir === undefined ? undefined : { dataDir };
}
