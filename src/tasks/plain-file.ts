/** Files in the place of logs: opened without waiting, and refused where they are a pipe, a device or a directory. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** @returns its descriptor. @throws Error for what is no plain file */
export function openPlain(path: string, flags: number, mode?: number): number {
  const file = opened(path, flags, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw noPlainFile(path);
}

function opened(path: string, flags: number, mode?: number): number {
  try {
    // Without O_NONBLOCK a pipe would be waited for; for plain files it means nothing.
    return openSync(path, flags | constants.O_NONBLOCK, mode);
  } catch (error) {
    // A pipe that nobody reads, a socket, a directory.
    const isOther = error instanceof Error && 'code' in error && ['ENXIO', 'EISDIR'].includes(String(error.code));
    throw isOther ? noPlainFile(path, error) : error;
  }
}

const noPlainFile = (path: string, cause?: unknown): Error =>
  new Error(`${path} is no plain file: move it away`, cause === undefined ? {} : { cause });
