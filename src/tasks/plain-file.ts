/** Opens logs without waiting, and refuses links, pipes, devices and directories in their place. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/**
 * @returns file descriptor
 * @throws Error if it is no plain file
 */
export function openPlain(path: string, flags: number, mode?: number): number {
  const file = opened(path, flags, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw noPlainFile(path);
}

function opened(path: string, flags: number, mode?: number): number {
  try {
    // Without O_NONBLOCK opening a pipe would wait; plain files ignore it.
    return openSync(path, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW, mode);
  } catch (error) {
    // A symbolic link, a pipe that nobody reads, a socket, a directory.
    const isOther =
      error instanceof Error && 'code' in error && ['ELOOP', 'ENXIO', 'EISDIR'].includes(String(error.code));
    throw isOther ? noPlainFile(path, error) : error;
  }
}

const noPlainFile = (path: string, cause?: unknown): Error =>
  new Error(`${path} is no plain file: move it away`, cause === undefined ? {} : { cause });
