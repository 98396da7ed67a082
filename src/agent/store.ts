/**
 * Makes the store that the configuration names, and reads the key of its cluster. Without a store, the runtime uses the embedded
 * one.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf, type StagecraftError } from '../errors.js';
import { shortestKeyBytes } from '../requests/settings.js';
import type { RedisStoreOptions, Store } from '../stores/index.js';
import type { AgentConfig, Fault } from './config.js';

export type StoreKind = 'lmdb' | 'redis';

interface NamedStore {
  kind: StoreKind;
  /** Absent for the embedded store. */
  store?: Store;
  /** Names the kind and the place of the store, for a person. */
  words: string;
}

/**
 * Loads the Redis client only where the configuration names Redis: that takes a tenth of the time in which an agent starts.
 * @throws StagecraftError CONFIG_INVALID for files that can't be read or used, and for wrong Redis options
 */
export async function storeOf({ store, invalid }: Pick<AgentConfig, 'store' | 'invalid'>): Promise<NamedStore> {
  if (!store) return { kind: 'lmdb', words: 'embedded store in state/' };
  const { master, passwordFile, caFile, ...redis } = store.redis;
  const options: RedisStoreOptions = {};
  for (const [key, value] of Object.entries(redis)) if (value !== undefined) Object.assign(options, { [key]: value });
  if (master) options.name = master;

  const faults: Fault[] = [];
  const attempt = (path: string[], use: () => void): void => {
    try {
      use();
    } catch (error) {
      faults.push({ path: ['store', 'redis', ...path], message: messageOf(error) });
    }
  };
  const { redisStore } = await import('../stores/index.js');
  let made: Store | undefined;
  if (passwordFile) attempt(['passwordFile'], () => Object.assign(options, { password: passwordIn(passwordFile) }));
  if (caFile) attempt(['caFile'], () => Object.assign(options, { tls: { ca: certificateIn(caFile) } }));
  attempt([], () => {
    made = redisStore(options);
  });
  if (!made || faults.length > 0) throw invalid(faults);
  const where = redis.cluster ? 'cluster' : (master ?? new URL(redis.url ?? '').host);
  return { kind: 'redis', store: made, words: `state in Redis, ${where}, under ${redis.prefix ?? 'stagecraft:'}` };
}

function passwordIn(file: string): string {
  const password = contentOf(file).trim();
  if (password === '') throw new Error(`${file} is empty: write the password into it, or remove passwordFile`);
  return password;
}

function certificateIn(file: string): string {
  const text = contentOf(file);
  try {
    new X509Certificate(text);
    return text;
  } catch (cause) {
    const advice = 'name the PEM file of the certificate authority that signed the certificate of the server';
    throw new Error(`${file} holds no certificate (${messageOf(cause)}): ${advice}`, { cause });
  }
}

/** Content of a password, key or certificate. No message shows it. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`can't be read (${messageOf(cause)}): correct the path, or let the agent read it`, { cause });
  }
}

/**
 * Returns the runtime's option `cluster`, with the key that the configuration names.
 * @throws StagecraftError CONFIG_INVALID for a file that can't be used, and for settings without a store that agents share
 */
export function clusterOf({ cluster = {}, store, invalid }: Pick<AgentConfig, 'cluster' | 'store' | 'invalid'>): {
  cluster?: { own?: 'auto' | 'never' | undefined; key?: string };
} {
  const { own, keyFile } = cluster;
  const refuse = (name: string, message: string): StagecraftError => invalid([{ path: ['cluster', name], message }]);
  if (!store && keyFile !== undefined)
    throw refuse(
      'keyFile',
      'has no use: only agents on one Redis send each other messages. Add store.redis, or remove keyFile',
    );
  if (!store && own === 'never')
    throw refuse('own', 'must be auto: no other agent can work on the volumes of an embedded store. Add store.redis');
  if (keyFile === undefined) return own === undefined ? {} : { cluster: { own } };
  try {
    return { cluster: { ...(own && { own }), key: keyIn(keyFile) } };
  } catch (error) {
    throw refuse('keyFile', messageOf(error));
  }
}

function keyIn(file: string): string {
  const key = contentOf(file).trim();
  const bytes = Buffer.byteLength(key);
  if (bytes >= shortestKeyBytes) return key;
  const advice = 'write one into it with: openssl rand -hex 32';
  throw new Error(`${file} has ${bytes} bytes, but a key has at least ${shortestKeyBytes}: ${advice}`);
}
