/**
 * Sources of the built-in secrets providers: files below a directory, the environment. Each look is made anew, so
 * that a rotated secret is found. Errors name a secret, never its value.
 */
import { constants, type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

export interface SecretSource {
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
export function filesBelow(directory: string): SecretSource {
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
export function environment(prefix: string): SecretSource {
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
