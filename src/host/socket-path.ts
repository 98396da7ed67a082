/** Checks the text of a socket's path, and that no other user can put a socket of their own there. */
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { isAbsolute, join } from 'node:path';
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

const writableByAll = 0o002;
/** In such a directory only its owner can remove or replace a file. */
const sticky = 0o1000;

/** Bound of the kernel: a path with more links than that leads nowhere. */
const maxLinks = 40;

/**
 * Walks to a socket as the kernel does, name by name, and looks at each directory, file and link on the way, before it follows a
 * link. Where every user can write, such as in /tmp, another user can take the name first, and nobody can tell. A directory that only
 * its owner can write is as that owner wants it.
 * @param self our own user; root is trusted, too
 * @returns the reason not to connect; undefined: there is none, or nothing is there yet
 */
export function placeFault(socketPath: string, self = process.getuid?.() ?? 0): string | undefined {
  const names = (isAbsolute(socketPath) ? socketPath : `${process.cwd()}/${socketPath}`).split('/');
  let above = '/';
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const path = join(above, name);
    const found = lstat(path);
    if (!found) return undefined;
    if (name !== '' && name !== '.' && name !== '..' && !isSafe(lstat(above), found, self))
      return `every user can write ${above}, and ${path} is user ${found.uid}'s: ${advice}`;
    if (found.isSymbolicLink()) {
      links += 1;
      if (links > maxLinks) return `${socketPath} leads through too many links: ${advice}`;
      const target = readlinkSync(path);
      names.unshift(...target.split('/'));
      if (isAbsolute(target)) above = '/';
    } else above = path;
  }
  return undefined;
}

/** Whether no other user can have put this into the directory, or can replace it there. */
function isSafe({ mode = 0 }: Partial<Stats> = {}, { uid }: Stats, self: number): boolean {
  return (mode & writableByAll) === 0 || ((mode & sticky) !== 0 && (uid === 0 || uid === self));
}

const advice = 'have its plugin listen below a directory that only you or root can write, such as one below /run';

const lstat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
