/** Reads the kernel's mount table. It asks no file system that is mounted: a dead one holds nothing up. */
import { type FileHandle, open } from 'node:fs/promises';
import { MountTable, parseMountInfo } from './mount-table.js';

const tableReads = 20;

/** Larger than most tables; the kernel gives a page at a time. */
const firstBytes = 2 ** 16;

/**
 * The kernel gives the table in pieces, between which it may change: what two reads agree on was so.
 * @param read default: the mounts of this process
 * @throws Error where it changes all the time: ask again
 */
export async function readMountTable(read?: () => Promise<string>): Promise<MountTable> {
  if (read) return tableOf(await agreedOn(read));
  const file = await open('/proc/self/mountinfo');
  try {
    return tableOf(await agreedOn(() => wholeOf(file)));
  } finally {
    await file.close();
  }
}

async function agreedOn(read: () => Promise<string>): Promise<string> {
  let before: string | undefined;
  for (let reads = 0; reads < tableReads; reads += 1) {
    const now = await read();
    if (now === before) return now;
    before = now;
  }
  throw new Error(`the mount table changed during each of ${tableReads} reads: ask again`);
}

/** From its beginning: the kernel makes it anew then. */
async function wholeOf(file: FileHandle): Promise<string> {
  let bytes = Buffer.allocUnsafe(firstBytes);
  for (let length = 0; ; ) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) return bytes.toString('utf8', 0, length);
    length += bytesRead;
    if (length < bytes.length) continue;
    const larger = Buffer.allocUnsafe(2 * length);
    bytes.copy(larger);
    bytes = larger;
  }
}

/** Most reads find what the one before has found: a table is never changed, so that it serves again. */
let last: { text: string; table: MountTable } | undefined;

function tableOf(text: string): MountTable {
  if (last?.text !== text) last = { text, table: new MountTable(parseMountInfo(text)) };
  return last.table;
}
