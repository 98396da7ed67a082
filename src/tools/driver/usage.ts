/** Usage of a directory, and the room that is left. Measured by du(1), as a process of its own. */
import { statfs } from 'node:fs/promises';
import type { VolumeUsage } from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import type { Ran, RunTool } from './commands.js';

export interface Usage {
  usedBytes: number;
  usedInodes: number;
  /** Free bytes of the file system, for all its users. */
  freeBytes: number;
  freeInodes: number;
}

export type Measure = (directory: string) => Promise<Usage>;

/** Shares one measurement among callers for the same directory at the same time. */
export function usageMeter(run: RunTool): Measure {
  const underWay = new Map<string, Promise<Usage>>();
  return (directory) => {
    const known = underWay.get(directory);
    if (known) return known;
    const measuring = measure(run, directory).finally(() => underWay.delete(directory));
    underWay.set(directory, measuring);
    return measuring;
  };
}

/** @returns undefined if it is not known yet */
export type PatientMeasure = (directory: string) => Promise<Usage | undefined>;

/** Answers after a while with the last measurement of a large directory; the present one goes on. */
export function patientMeter(measure: Measure, patienceMs: number): PatientMeasure {
  /** Last measurements of directories that take longer. */
  const last = new Map<string, Promise<Usage>>();
  const late = new WeakSet<Promise<Usage>>();
  return async (directory) => {
    const counting = measure(directory);
    const keep = (): unknown => (late.has(counting) ? last.set(directory, counting) : last.delete(directory));
    counting.then(keep, keep); // a failure that came too late is reported to the next caller
    let patience: NodeJS.Timeout | undefined;
    const timeUp = new Promise<Usage | undefined>((resolve) => {
      patience = setTimeout(() => {
        late.add(counting);
        resolve(last.get(directory));
      }, patienceMs);
    });
    return Promise.race([counting, timeUp]).finally(() => clearTimeout(patience));
  };
}

/** Usage of the file system of the directory, in the form of CSI. */
export async function fileSystemUsage(directory: string): Promise<VolumeUsage[]> {
  const { blocks, bfree, bavail, bsize, files, ffree } = await statfs(directory, { bigint: true });
  return [
    { unit: 'BYTES', total: blocks * bsize, used: (blocks - bfree) * bsize, available: bavail * bsize },
    { unit: 'INODES', total: files, used: files - ffree, available: ffree },
  ];
}

/**
 * Bytes that a directory or file takes up on disk.
 * @throws {CsiStatus} INTERNAL
 */
const usedBytesOf = (run: RunTool, path: string): Promise<number> => diskUsage(run, ['--block-size=1', path]);

async function measure(run: RunTool, directory: string): Promise<Usage> {
  const usedBytes = await usedBytesOf(run, directory);
  const usedInodes = await diskUsage(run, ['--inodes', directory]);
  const { bavail, bsize, ffree } = await statfs(directory);
  return { usedBytes, usedInodes, freeBytes: bavail * bsize, freeInodes: ffree };
}

/** Accepts complaints of du(1) about files that went away during the count: the sum is good all the same. */
async function diskUsage(run: RunTool, args: string[]): Promise<number> {
  const { stdout, stderr } = await run('du', ['--summarize', '--one-file-system', ...args]).catch(
    (cause: unknown): Ran => {
      throw new CsiStatus('INTERNAL', `the volume's usage is not known: ${messageOf(cause)}; ask again`);
    },
  );
  const sum = /^\d+/.exec(stdout)?.[0];
  if (sum !== undefined) return Number(sum);
  throw new CsiStatus('INTERNAL', `the volume's usage is not known: ${stderr || 'du says nothing'}; ask again`);
}
