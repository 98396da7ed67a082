/** What a path must be like before anything listens on it or connects to it. Looks at the text only, never at the disk. */
import { isAbsolute } from 'node:path';
import { StagecraftError } from '../errors.js';

/** What fits into Linux's `sockaddr_un` beside the closing NUL. Node cuts longer paths silently and goes elsewhere. */
export const maxSocketPathBytes = 107;

/**
 * Refuses what can't be the path of a unix socket.
 * @throws {StagecraftError} INVALID_ARGUMENT: relative, too long, or with a NUL in it; says what to do
 */
export function checkSocketPath(path: string): void {
  const fault = faultIn(path);
  if (fault) throw new StagecraftError('INVALID_ARGUMENT', `the socket path ${JSON.stringify(path)} ${fault}`);
}

function faultIn(path: string): string | undefined {
  if (!isAbsolute(path)) return 'is not absolute: give it from / on';
  if (path.includes('\0')) return 'has a NUL character in it: take it out';
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxSocketPathBytes) return undefined;
  return `is ${bytes} bytes long, but the kernel takes ${maxSocketPathBytes}: use a shorter directory, e.g. below /run`;
}
