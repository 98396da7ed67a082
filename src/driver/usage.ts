/** What a directory takes up, and what is left for it where it is. Measured by du(1): a process of its own, with a deadline. */
import { statfs } from 'node:fs/promises';
import { CsiStatus } from '../csi/server.js';
import { messageOf } from '../errors.js';
import type { Ran, Run } from './commands.js';

export interface Usage {
  usedBytes: number;
  usedInodes: number;
  /** Of the file system, for all who use it. */
  freeBytes: number;
  freeInodes: number;
}

export type Measure = (directory: string) => Promise<Usage>;

/** Those who ask for the same directory at the same time get one answer. */
export function usageMeter(run: Run): Measure {
  const underWay = new Map<string, Promise<Usage>>();
  return (directory) => {
    const known = underWay.get(directory);
    if (known) return known;
    const measuring = measure(run, directory).finally(() => underWay.delete(directory));
    underWay.set(directory, measuring);
    return measuring;
  };
}

/** What a directory or file takes up on disk. @throws {CsiStatus} INTERNAL */
export const usedBytesOf = (run: Run, path: string): Promise<number> => diskUsage(run, ['--block-size=1', path]);

async function measure(run: Run, directory: string): Promise<Usage> {
  const usedBytes = await usedBytesOf(run, directory);
  const usedInodes = await diskUsage(run, ['--inodes', directory]);
  const { bavail, bsize, ffree } = await statfs(directory);
  return { usedBytes, usedInodes, freeBytes: bavail * bsize, freeInodes: ffree };
}

/** It complains when a file goes away while it counts: the sum is good all the same. */
async function diskUsage(run: Run, args: string[]): Promise<number> {
  const { stdout, stderr } = await run('du', ['--summarize', '--one-file-system', ...args]).catch(
    (cause: unknown): Ran => {
      throw new CsiStatus('INTERNAL', `the volume's usage is not known: ${messageOf(cause)}; ask again`);
    },
  );
  const sum = /^\d+/.exec(stdout)?.[0];
  if (sum !== undefined) return Number(sum);
  throw new CsiStatus('INTERNAL', `the volume's usage is not known: ${stderr || 'du says nothing'}; ask again`);
}
