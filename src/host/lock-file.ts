/** Locks of the kernel, which end with the process, however that ends. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

export interface HeldLock {
  /** File descriptor. A process that inherits it keeps the lock until it ends. */
  file: number;
  unlock(): void;
}

/**
 * Makes the file where it is missing; the pid inside is for people.
 * @returns what gives it back, or the pid of who holds it, as text
 * @throws Error where no lock can be taken at all
 */
export function takeLock(path: string): HeldLock | { owner: string } {
  const held = tryLocking(openSync(path, 'a+', 0o600));
  if (!held) return { owner: ownerOf(path) };
  ftruncateSync(held.file, 0);
  writeSync(held.file, `${process.pid}\n`);
  return held;
}

/** Pid in a lock file; `unknown`: it has none, or was removed. */
export const ownerOf = (path: string): string => (existsSync(path) && readFileSync(path, 'utf8').trim()) || 'unknown';

/**
 * Locks a directory and leaves nothing behind.
 * @returns the lock; undefined if it is held
 * @throws Error as `takeLock`
 */
export const lockDirectory = (path: string): HeldLock | undefined => tryLocking(openSync(path, 'r'));

/** Exit status of flock if somebody else holds the lock. */
const heldStatus = 1;

/** @param file closed if it can't be locked */
function tryLocking(file: number): HeldLock | undefined {
  // flock(1), busybox's too, locks the open file that it is given, for as long as this process holds it open.
  const { status, error } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', file],
  });
  if (status !== 0) {
    closeSync(file);
    if (error) throw new Error(`flock does not run (${error.message}): install util-linux`);
    if (status !== heldStatus) throw new Error('its file system takes no lock: choose a directory on another one');
    return undefined;
  }
  let isHeld = true;
  const unlock = (): void => {
    if (isHeld) closeSync(file); // the second time, the number may be another file's
    isHeld = false;
  };
  return { file, unlock };
}
