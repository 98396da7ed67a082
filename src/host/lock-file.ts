/** A lock that is the kernel's and ends with the process, however that ends; the pid inside is for people. */
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

export interface HeldLock {
  /** A process that inherits it keeps it locked too, until it ends. */
  file: number;
  unlock(): void;
}

/**
 * Makes the file where it is missing.
 * @returns what gives it back, or the pid of who holds it, as text
 * @throws Error where no lock can be taken at all
 */
export function takeLock(path: string): HeldLock | { owner: string } {
  const file = openSync(path, 'a+', 0o600);
  // flock(1), busybox's too, locks the open file that it is handed; it stays locked for as long as we hold it open.
  const { status, error } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', file],
  });
  if (status !== 0) {
    closeSync(file);
    if (error) throw new Error(`flock does not run (${error.message}): install util-linux`);
    return { owner: readFileSync(path, 'utf8').trim() || 'unknown' };
  }
  ftruncateSync(file, 0);
  writeSync(file, `${process.pid}\n`);
  let isHeld = true;
  const unlock = (): void => {
    if (isHeld) closeSync(file); // the second time, its number may be another file's
    isHeld = false;
  };
  return { file, unlock };
}
