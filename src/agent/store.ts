/** The store that a configuration names. Without one the runtime takes the embedded store. */
import { readFileSync } from 'node:fs';
import { messageOf, StagecraftError } from '../errors.js';
import { type RedisStoreOptions, redisStore, type Store } from '../stores/index.js';
import type { AgentConfig, RedisConfig } from './config.js';

export type StoreKind = 'lmdb' | 'redis';

export interface NamedStore {
  kind: StoreKind;
  /** Absent for the embedded one. */
  store?: Store;
  /** For a person: what it is, and where. */
  words: string;
}

/** @throws StagecraftError CONFIG_INVALID for a file that can't be read, or what no Redis can be reached by */
export function storeOf({ store }: Pick<AgentConfig, 'store'>): NamedStore {
  if (!store) return { kind: 'lmdb', words: 'embedded store; remove it to begin anew' };
  const { redis } = store;
  const { host = '' } = redis.url ? new URL(redis.url) : {};
  const where = redis.cluster ? 'cluster' : (redis.master ?? host);
  try {
    return {
      kind: 'redis',
      store: redisStore(optionsOf(redis)),
      words: `state in Redis, ${where}, under ${redis.prefix ?? 'stagecraft:'}`,
    };
  } catch (error) {
    throw new StagecraftError('CONFIG_INVALID', `store.redis: ${messageOf(error)}`, { cause: error });
  }
}

function optionsOf({ master, passwordFile, caFile, ...redis }: RedisConfig): RedisStoreOptions {
  const options: RedisStoreOptions = {};
  for (const [key, value] of Object.entries(redis)) if (value !== undefined) Object.assign(options, { [key]: value });
  if (master) options.name = master;
  if (passwordFile) options.password = contentOf(passwordFile).trim();
  if (caFile) options.tls = { ca: contentOf(caFile) };
  return options;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`can't read ${path}: ${messageOf(error)}`);
  }
}
