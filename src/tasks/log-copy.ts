/** Copies of logs that are still written. What becomes of them: task-logs.ts */
import type { Stats } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

const copyBytes = 256 * 1_024;
const newline = 0x0a;

/** Holes don't count: a process that keeps an offset of its own leaves them where something was cut off. */
export const usedBytes = ({ size, blocks }: Stats): number => Math.min(size, blocks * 512);

/**
 * Copies the end of a file that is still written, `maxBytes` and what comes meanwhile, from a line's beginning on.
 * The copy is there whole or not at all. @returns where in the file it ends
 */
export async function copyEnd(
  file: FileHandle,
  { sizeBytes, maxBytes, to }: { sizeBytes: number; maxBytes: number; to: string },
): Promise<number> {
  const unfinished = `${to}.part`;
  await rm(unfinished, { force: true });
  try {
    const copy = await open(unfinished, 'wx', 0o600);
    let at = Math.max(0, sizeBytes - maxBytes);
    try {
      const buffer = Buffer.alloc(copyBytes);
      let isWhole = at === 0;
      // Whoever writes faster than we copy is not followed for ever.
      while (at < sizeBytes + maxBytes) {
        const { bytesRead } = await file.read(buffer, 0, copyBytes, at);
        if (bytesRead === 0) break;
        const begin = isWhole ? 0 : buffer.subarray(0, bytesRead).indexOf(newline) + 1;
        await copy.writeFile(buffer.subarray(begin, bytesRead));
        isWhole = true;
        at += bytesRead;
      }
    } finally {
      await copy.close();
    }
    await rename(unfinished, to);
    return at;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
