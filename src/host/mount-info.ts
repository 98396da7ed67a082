/**
 * Reads the kernel's mount table. Asks no mounted file system: a dead one delays nothing. Reads at once, without a
 * thread for each piece, which takes a third of the time.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { MountTable, parseMountInfo } from './mount-table.js';

const tableReads = 20;

/** Larger than most tables; the kernel returns a page at a time. */
const firstBytes = 2 ** 16;

/**
 * The kernel gives the table in pieces, between which it may change: what two reads agree on was so.
 * @param read default: the mounts of this process
 * @throws Error where it changes all the time: ask again
 */
export async function readMountTable(read?: () => Promise<string>): Promise<MountTable> {
  if (read) return tableOf(await agreedOn(async () => ({ text: await read(), pieces: 2 })));
  const file = openSync('/proc/self/mountinfo', 'r');
  try {
    return tableOf(await agreedOn(() => wholeOf(file)));
  } finally {
    closeSync(file);
  }
}

interface Reading {
  text: string;
  pieces: number;
}

/** A table that came in one piece, or that two reads agree on. */
async function agreedOn(read: () => Reading | Promise<Reading>): Promise<string> {
  let before: string | undefined;
  for (let reads = 0; reads < tableReads; reads += 1) {
    const { text, pieces } = await read();
    if (pieces === 1 || text === before) return text;
    before = text;
  }
  throw new Error(`the mount table changed during each of ${tableReads} reads: ask again`);
}

let bytes = Buffer.allocUnsafeSlow(firstBytes);

/** Reads from the beginning: the kernel makes the table anew then. */
function wholeOf(file: number): Reading {
  let length = 0;
  for (let pieces = 0; ; pieces += 1) {
    const bytesRead = readSync(file, bytes, length, bytes.length - length, length);
    if (bytesRead === 0) return { text: bytes.toString('utf8', 0, length), pieces };
    length += bytesRead;
    if (length < bytes.length) continue;
    const larger = Buffer.allocUnsafeSlow(2 * length);
    bytes.copy(larger);
    bytes = larger;
  }
}

/** Last table: most reads find the same text, and a table is never changed. */
let last: { text: string; table: MountTable } | undefined;

function tableOf(text: string): MountTable {
  if (last?.text !== text) last = { text, table: new MountTable(parseMountInfo(text)) };
  return last.table;
}
