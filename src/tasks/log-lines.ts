/** Reads logs block by block, backwards from the end or forwards from an offset: never the whole log. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const blockBytes = 64 * 1_024;
/** Limit for what is read at a time: lines may be long. */
const maxReadBytes = 8 * 1_024 * 1_024;
const newline = 0x0a;

/**
 * Last lines of files, of which each continues at the beginning of the one before it; a missing file is empty.
 * @param paths newest first
 * @returns text, and length of the newest file
 * @throws Error for a file that can't be read or is no plain file
 */
export async function lastLogLines(paths: string[], count: number): Promise<{ text: string; sizeBytes: number }> {
  const blocks: Buffer[] = [];
  const sizes: number[] = [];
  let newlines = 0;
  let leftBytes = maxReadBytes;
  for (const path of paths) {
    const size = await reading(path, 0, async (file, sizeBytes) => {
      // One newline more than the wanted lines proves that the first line is whole.
      for (let end = sizeBytes; end > 0 && newlines <= count && leftBytes > 0; end -= blockBytes) {
        const block = await readAt(file, Math.max(0, end - blockBytes), Math.min(end, blockBytes));
        blocks.unshift(block);
        newlines += block.filter((byte) => byte === newline).length;
        leftBytes -= block.length;
      }
      return sizeBytes;
    });
    sizes.push(size);
  }
  const lines = Buffer.concat(blocks).toString('utf8').split('\n');
  const isEnded = lines.at(-1) === '';
  return { text: lines.slice(isEnded ? -count - 1 : -count).join('\n'), sizeBytes: sizes[0] ?? 0 };
}

/**
 * Lines of a file from an offset on, some 64 KiB at most. Leaves out a line that is not ended, unless it is longer
 * than that or the file is `closed`, i.e. not written any more.
 */
export const linesFrom = (path: string, offset: number, { closed = false } = {}): Promise<Buffer> =>
  reading<Buffer>(path, Buffer.alloc(0), async (file, sizeBytes) => {
    const block = await readAt(file, offset, Math.min(blockBytes, Math.max(0, sizeBytes - offset)));
    const isLast = offset + block.length >= sizeBytes;
    const wholeBytes = block.lastIndexOf(newline) + 1;
    const takesAll = isLast ? closed : wholeBytes === 0;
    return takesAll ? block : block.subarray(0, wholeBytes);
  });

/** Length of a log; 0 if there is none. */
export const logBytes = (path: string): Promise<number> => reading(path, 0, async (_, sizeBytes) => sizeBytes);

async function reading<T>(
  path: string,
  absent: T,
  read: (file: FileHandle, sizeBytes: number) => Promise<T>,
): Promise<T> {
  // Without O_NONBLOCK this would wait for a pipe of that name.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await openThere(path, flags).catch((error: unknown) => {
    throw isLink(error) ? new Error(`${path} is no plain file`, { cause: error }) : error;
  });
  if (!file) return absent;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${path} is no plain file`);
    return await read(file, stat.size);
  } finally {
    await file.close();
  }
}

/** Whether a file was not opened because it is a symbolic link. */
export const isLink = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ELOOP';

/** Undefined if there is no such file. */
export async function openThere(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Shorter if the file was cut off meanwhile. */
async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
