/** Checks that no other user can put a socket of their own at a path: whoever is behind it gets secrets, and is called. */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const writableByAll = 0o002;
/** In such a directory only its owner can remove or replace a file. */
const sticky = 0o1000;

/**
 * Looks at each directory on the way to a socket. In one that every user can write, such as /tmp, another user can take the name
 * first, and nobody can tell. A directory that only its owner can write is as that owner wants it.
 * @param self our own user; root is trusted, too
 * @returns the reason not to connect; undefined: there is none, or nothing is there yet
 */
export function placeFault(socketPath: string, self = process.getuid?.() ?? 0): string | undefined {
  if (!lstat(dirname(socketPath))) return undefined;
  let path = join(realpathSync(dirname(socketPath)), basename(socketPath));
  for (let above = dirname(path); above !== path; path = above, above = dirname(path)) {
    const { mode = 0 } = lstat(above) ?? {};
    const uid = lstat(path)?.uid;
    if ((mode & writableByAll) === 0 || uid === undefined) continue;
    const isSafe = (mode & sticky) !== 0 && (uid === 0 || uid === self);
    if (!isSafe) return `every user can write ${above}, and ${path} is user ${uid}'s: ${advice}`;
  }
  return undefined;
}

const advice = 'have its plugin listen below a directory that only you or root can write, such as one below /run';

const lstat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
