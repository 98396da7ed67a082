/** Copies logs while they are written. Use: task-logs.ts */
import type { Stats } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

const blockBytes = 256 * 1_024;
const newline = 0x0a;

/** Size without holes: a process that keeps an offset of its own leaves holes where the log was cut off. */
export const usedBytes = ({ size, blocks }: Stats): number => Math.min(size, blocks * 512);

/**
 * Copies the end of a file that is still written, `maxBytes` and what comes meanwhile, from the beginning of a line.
 * The copy gets its name once it is whole; what came since is appended last, so that little is lost.
 * @returns offset in the file where the copy ends
 */
export async function copyEnd(
  file: FileHandle,
  { sizeBytes, maxBytes, to }: { sizeBytes: number; maxBytes: number; to: string },
): Promise<number> {
  const unfinished = `${to}.part`;
  await rm(unfinished, { force: true });
  try {
    const copy = await open(unfinished, 'wx', 0o600);
    try {
      // A process that writes faster than the copy is not followed for ever.
      const untilAt = sizeBytes + maxBytes;
      const from = sizeBytes <= maxBytes ? 0 : await lineAfter(file, sizeBytes - maxBytes);
      const nearEnd = await copyOn(file, copy, from, untilAt);
      await rename(unfinished, to);
      return await copyOn(file, copy, nearEnd, untilAt);
    } finally {
      await copy.close();
    }
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** @returns offset reached: the end of the file, or beyond `untilAt` */
async function copyOn(file: FileHandle, copy: FileHandle, from: number, untilAt: number): Promise<number> {
  const buffer = Buffer.alloc(blockBytes);
  let at = from;
  while (at < untilAt) {
    const { bytesRead } = await file.read(buffer, 0, blockBytes, at);
    if (bytesRead === 0) break;
    await copy.writeFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return at;
}

/** Offset of the first line after an offset; the offset itself if that line is too far away. */
async function lineAfter(file: FileHandle, offset: number): Promise<number> {
  const buffer = Buffer.alloc(blockBytes);
  const { bytesRead } = await file.read(buffer, 0, blockBytes, offset);
  return offset + buffer.subarray(0, bytesRead).indexOf(newline) + 1;
}
