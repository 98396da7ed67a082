/** Checks the text of a socket's path, never the disk. */
import { isAbsolute } from 'node:path';
import { type ErrorCode, StagecraftError } from '../errors.js';

/** Limit of Linux's `sockaddr_un` without the closing NUL. Node cuts longer paths silently. */
export const maxSocketPathBytes = 107;

/**
 * Checks a path of a unix socket.
 * @throws {StagecraftError} SOCKET_PATH_RELATIVE, SOCKET_PATH_TOO_LONG, or INVALID_ARGUMENT for a NUL
 */
export function checkSocketPath(path: string): void {
  const refuse = (code: ErrorCode, fault: string): never => {
    throw new StagecraftError(code, `the socket path ${JSON.stringify(path)} ${fault}`);
  };
  if (!isAbsolute(path)) refuse('SOCKET_PATH_RELATIVE', 'is not absolute: give it from / on');
  if (path.includes('\0')) refuse('INVALID_ARGUMENT', 'has a NUL character in it: take it out');
  const bytes = Buffer.byteLength(path);
  if (bytes > maxSocketPathBytes) {
    const fault = `is ${bytes} bytes long, but the kernel takes ${maxSocketPathBytes}: use a shorter directory, e.g. below /run`;
    refuse('SOCKET_PATH_TOO_LONG', fault);
  }
}
