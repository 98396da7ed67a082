/**
 * Watches the data directory of a running agent, and its lock file. Without the directory, the agent's open store and socket
 * still work, but nobody can reach them.
 */
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onAbort } from '../abort.js';
import { StagecraftError } from '../errors.js';
import { type HeldLock, takeLock } from '../host/lock-file.js';

const lookEveryMs = 2_000;
const unnoticed = (delayMs: number): Promise<unknown> => setTimeout(delayMs, undefined, { ref: false });

interface Watch {
  /** Receives a line when the lock file is made again. */
  warn(line: string): void;
  /** Ends the watch, and gives back a lock that it has taken. */
  signal: AbortSignal;
  /** Waits between two looks; default: keeps no process alive. */
  pause?(delayMs: number): Promise<unknown>;
}

/**
 * Resolves with DATA_DIR_GONE when the directory is gone or another one, or another agent holds its lock file. A lock file that
 * somebody has removed is made again: the next agent finds its owner in it. Never resolves after the signal.
 * @param dataDir locked by this process
 */
export async function whenGone(dataDir: string, { warn, signal, pause = unnoticed }: Watch): Promise<StagecraftError> {
  const file = join(dataDir, 'lock');
  const directory = await identityOf(dataDir);
  let lock = await identityOf(file);
  let again: HeldLock | undefined;
  onAbort(signal, () => again?.unlock());
  for (;;) {
    await pause(lookEveryMs);
    if (signal.aborted) return new Promise(() => {});
    if (!isSame(directory, await identityOf(dataDir))) return gone(dataDir, 'was removed or replaced');
    if (isSame(lock, await identityOf(file)) || signal.aborted) continue;
    const taken = takeLock(file);
    if ('owner' in taken) return gone(dataDir, `is locked by the agent with pid ${taken.owner}, too`);
    again?.unlock();
    again = taken;
    lock = await identityOf(file);
    warn(`${file} was removed or replaced: it is made again; leave it to the agent`);
  }
}

function gone(dataDir: string, why: string): StagecraftError {
  const advice = 'remove what is left of it, then start the agent again, which ends plugin processes that still run';
  return new StagecraftError('DATA_DIR_GONE', `the data directory ${dataDir} ${why}: ${advice}`);
}

/** Identity of a file; undefined if there is none. Other errors may pass, so it looks again. */
async function identityOf(path: string): Promise<BigIntStats | undefined> {
  for (;;) {
    try {
      return await lstat(path, { bigint: true });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      await unnoticed(lookEveryMs);
    }
  }
}

const isSame = (a: BigIntStats | undefined, b: BigIntStats | undefined): boolean =>
  a !== undefined && a.dev === b?.dev && a.ino === b.ino;
