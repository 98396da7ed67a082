/**
 * Built-in secrets providers: files below a directory, and the environment. Each look is made anew, so that a rotated secret is
 * found. Errors name a secret, never its value.
 */
import { constants, type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { SecretRef } from '../../machines/kit/csi-types.js';
import { messageOf, StagecraftError } from '../errors.js';
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

interface SecretSource {
  /** Reason why no secret can have this name; undefined if one can. Looks nowhere. */
  faultIn(name: string): string | undefined;
  /** Finds a secret by its name; rejects with the reason. */
  find(name: string, signal?: AbortSignal): Promise<string>;
}

/** Far above CSI's limit for a request: anything larger is no secret. */
const maxBytes = 64 * 1024;

/** Parts of a path that can lead out of its beginning. */
const isStep = (part: string): boolean => part === '' || part === '.' || part === '..';

/**
 * Looks up files one after the other: a directory on storage that hangs then holds one thread of this process, not
 * all.
 * @param directory absolute
 */
function filesBelow(directory: string): SecretSource {
  let last: Promise<unknown> = Promise.resolve();
  const faultIn = (name: string): string | undefined =>
    name.includes('\0') || name.split('/').some(isStep)
      ? 'its name must be that of a file below the directory of secrets'
      : undefined;
  return {
    faultIn,
    find: (name, signal) => {
      const fault = faultIn(name);
      if (fault !== undefined) return Promise.reject(new Error(fault));
      const read = last.then(() => {
        signal?.throwIfAborted();
        return readBelow(directory, name);
      });
      last = read.catch(() => {});
      return read;
    },
  };
}

async function readBelow(directory: string, name: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK this would wait for a pipe; plain files ignore it.
    file = await open(join(directory, name), constants.O_RDONLY | constants.O_NONBLOCK);
    // Asks about the open file: during a rotation the name may lead elsewhere a moment later.
    if (!isBelow(await realpath(directory), await readlink(`/proc/self/fd/${file.fd}`)))
      throw new Error(`its file lies outside of ${directory}`);
    if (!(await file.stat()).isFile()) throw new Error('its file is no plain file');
    return textOf(await beginningOf(file));
  } catch (error) {
    throw error instanceof Error && 'code' in error ? new Error(faultOf(String(error.code), directory)) : error;
  } finally {
    await file?.close();
  }
}

/** Reads one byte more than allowed, which shows that there is more. */
async function beginningOf(file: FileHandle): Promise<Uint8Array> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > maxBytes) throw new Error(`its file has more than ${maxBytes} bytes`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('its file is no text in UTF-8');
  }
  const secret = text.replace(/\r?\n$/, '');
  // The file may just be written.
  if (secret === '') throw new Error('its file is empty');
  return secret;
}

const isBelow = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'its file may not be read by this process',
  ELOOP: 'its file is a link that leads nowhere',
  EISDIR: 'its file is a directory',
  ENXIO: 'its file is no plain file',
};

const faultOf = (code: string, directory: string): string => `${faults[code] ?? code} in ${directory}`;

/** @param prefix only variables that begin with it can be named */
function environment(prefix: string): SecretSource {
  const faultIn = (name: string): string | undefined => {
    if (name === '') return 'its variable must have a name';
    return name.startsWith(prefix) ? undefined : `its variable must have a name that begins with ${prefix}`;
  };
  return {
    faultIn,
    find: async (name) => {
      const fault = faultIn(name);
      if (fault !== undefined) throw new Error(fault);
      const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
      if (value === undefined) throw new Error('there is no such variable in the environment');
      if (value === '') throw new Error('its variable is empty');
      return value;
    },
  };
}
