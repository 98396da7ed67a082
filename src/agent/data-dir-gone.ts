/**
 * Watches for the removal or replacement of a running agent's data directory.
 * Without the directory, the agent's open store and socket still work, but nobody can reach them.
 */
import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StagecraftError } from '../errors.js';

const lookEveryMs = 2_000;

/**
 * Resolves with DATA_DIR_GONE when the lock file is gone, or is another file than at first.
 * @param dataDir locked by this process
 */
export async function whenGone(dataDir: string): Promise<StagecraftError> {
  const first = await lockIn(dataDir);
  for (let present = first; present && isSame(present, first); present = await lockIn(dataDir)) {
    await pause(lookEveryMs, undefined, { ref: false });
  }
  const advice = 'remove what is left of it, then start the agent again, which ends plugin processes that still run';
  return new StagecraftError('DATA_DIR_GONE', `the data directory ${dataDir} was removed or replaced: ${advice}`);
}

/** Reads the lock file's identity; undefined if there is none. Other errors may pass, so it looks again. */
async function lockIn(dataDir: string): Promise<BigIntStats | undefined> {
  for (;;) {
    try {
      return await lstat(join(dataDir, 'lock'), { bigint: true });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      await pause(lookEveryMs, undefined, { ref: false });
    }
  }
}

const isSame = (a: BigIntStats, b: BigIntStats | undefined): boolean => a.dev === b?.dev && a.ino === b.ino;
