/** Reads files that the configuration names: passwords, keys, certificates. No message shows what is in them. */
import { readFileSync } from 'node:fs';
import { messageOf, type StagecraftError } from '../errors.js';
import { shortestKeyBytes } from '../requests/settings.js';
import type { AgentConfig } from './config.js';

export function contentOf(file: string): string {
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
