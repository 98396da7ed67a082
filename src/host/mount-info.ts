/** Reads the kernel's mount table. It asks no file system that is mounted: a dead one holds nothing up. */
import { readFile } from 'node:fs/promises';
import { MountTable, parseMountInfo } from './mount-table.js';

const tableReads = 20;

/**
 * The kernel gives the table in pieces, between which it may change: what two reads agree on was so.
 * @param read default: the mounts of this process
 * @throws Error where it changes all the time: ask again
 */
export async function readMountTable(read: () => Promise<string> = readMountInfo): Promise<MountTable> {
  let before: string | undefined;
  for (let reads = 0; reads < tableReads; reads += 1) {
    const now = await read();
    if (now === before) return new MountTable(parseMountInfo(now));
    before = now;
  }
  throw new Error(`the mount table changed during each of ${tableReads} reads: ask again`);
}

const readMountInfo = (): Promise<string> => readFile('/proc/self/mountinfo', 'utf8');
