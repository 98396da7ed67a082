/** Looks at files, syncs them, and translates errors of the file system. Knows no paths of the driver. */
import { lstat, open } from 'node:fs/promises';
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import { ToolFailure } from './commands.js';

export type AccessType = 'mount' | 'block';

/**
 * Whether the content of a volume or snapshot is at the path.
 * @throws Error if that can't be told: unreadable is not gone
 */
export async function isContentAt(path: string, accessType: AccessType): Promise<boolean> {
  try {
    const found = await lstat(path);
    return accessType === 'block' ? found.isFile() : found.isDirectory();
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Resolves when it is on disk: the names in a directory, or the bytes and the size of a file. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}

export const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

export const isOutOfRoom = (error: unknown): boolean =>
  isCode(error, 'ENOSPC', 'EDQUOT') || (error instanceof ToolFailure && error.isOutOfRoom);

/** Status for an error of the file system, if CSI has one. */
export function statusFor(error: unknown): unknown {
  const text = messageOf(error);
  if (isOutOfRoom(error)) return new CsiStatus('RESOURCE_EXHAUSTED', `no room for it where the volumes are: ${text}`);
  if (isCode(error, 'EFBIG'))
    return new CsiStatus('OUT_OF_RANGE', `the file system of the volumes takes no file that large: ${text}`);
  if (error instanceof ToolFailure && error.hasLostFiles)
    return new CsiStatus('ABORTED', `it changes while it is copied (${text}): ask again, or stop its writers`);
  return error;
}
