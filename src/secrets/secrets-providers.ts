/** Built-in secrets providers. Their sources: secret-sources.ts */
import { isAbsolute } from 'node:path';
import type { SecretRef } from '../../machines/kit/csi-types.js';
import { messageOf, StagecraftError } from '../errors.js';
import { environment, filesBelow, type SecretSource } from './secret-sources.js';
import type { SecretsProvider } from './secrets.js';

export interface EnvironmentOptions {
  /** Only variables that begin with it can be named; default: all. */
  prefix?: string;
}

export interface SecretsFrom {
  /** See `fileSecrets`. */
  directory?: string;
  /** See `envSecrets`; false, the default: none. */
  env?: boolean | EnvironmentOptions;
}

/**
 * Secrets are files below `directory` (absolute): `file:<name>`, or `{ file: name }`. A file is read each time it is
 * asked for; one line end at its end is no part of the secret. It is a plain file of at most 64 KiB of UTF-8 text, and
 * a link to it leads out of the directory nowhere.
 */
export const fileSecrets = (directory: string): SecretsProvider => secretsFrom({ directory });

/** Secrets are variables of this process: `env:<NAME>`, or `{ env: NAME }`. */
export const envSecrets = (options: EnvironmentOptions = {}): SecretsProvider => secretsFrom({ env: options });

/**
 * Both at once, by what a reference begins with. What can't be had is told whole, in one error.
 * @throws StagecraftError INVALID_ARGUMENT for a directory that is not absolute, or where nothing is given
 */
export function secretsFrom({ directory, env = false }: SecretsFrom): SecretsProvider {
  const sources = new Map<string, SecretSource>();
  if (directory !== undefined) {
    if (typeof directory !== 'string' || !isAbsolute(directory))
      throw new StagecraftError('INVALID_ARGUMENT', 'the directory of secrets must be an absolute path');
    sources.set('file', filesBelow(directory));
  }
  if (env) sources.set('env', environment(env === true ? '' : (env.prefix ?? '')));
  if (sources.size === 0)
    throw new StagecraftError('INVALID_ARGUMENT', 'secrets come from somewhere: give a directory, env, or both');
  return {
    check: (refs) => Object.entries(refs).flatMap(([key, ref]) => faultsIn(sources, key, ref)),
    resolve: async (refs, options) => {
      const looks = Object.entries(refs).map(([key, ref]) => look(sources, key, ref, options?.signal));
      const found = await Promise.all(looks);
      const faults = found.flatMap(({ fault }) => fault ?? []);
      if (faults.length > 0) throw new Error(faults.join('; '));
      return Object.fromEntries(found.map(({ key, value = '' }) => [key, value]));
    },
  };
}

/** Faults of references. Leaves out the reference itself: it may be a value, written there by mistake. */
function faultsIn(sources: Map<string, SecretSource>, key: string, ref: SecretRef): string[] {
  const [kind, name] = partsOf(ref);
  const source = sources.get(kind);
  if (!source) return [unknownForm(sources, key)];
  const fault = source.faultIn(name);
  return fault === undefined ? [] : [`${key}: ${fault}`];
}

const unknownForm = (sources: Map<string, SecretSource>, key: string): string =>
  `${key}: its reference must be ${[...sources.keys()].map((one) => `${one}:<name>`).join(' or ')}`;

interface Found {
  key: string;
  value?: string;
  fault?: string;
}

async function look(
  sources: Map<string, SecretSource>,
  key: string,
  ref: SecretRef,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const [kind, name] = partsOf(ref);
  const source = sources.get(kind);
  if (!source) return { key, fault: unknownForm(sources, key) };
  try {
    return { key, value: await source.find(name, signal) };
  } catch (error) {
    return { key, fault: `${key} (${kind}:${name}): ${messageOf(error)}` };
  }
}

/** Kind and name in a reference. */
function partsOf(ref: SecretRef): [kind: string, name: string] {
  if (typeof ref === 'string') {
    const at = ref.indexOf(':');
    return at < 0 ? ['', ''] : [ref.slice(0, at), ref.slice(at + 1)];
  }
  const [only, ...more] = Object.entries(ref);
  return only && more.length === 0 ? only : ['', ''];
}
