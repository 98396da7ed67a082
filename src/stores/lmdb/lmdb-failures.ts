/** Why LMDB could not write, in words of ours: its own name pages and buffers. */
import { constants } from 'node:os';
import { messageOf } from '../../errors.js';

/** The write was not tried: nothing of it was written. */
export class NotTried extends Error {}

interface WriteFailure {
  reason: string;
  /** Whether room on the disk ends it. */
  isFull: boolean;
}

/** Least room that may take what a disk did not take. */
export const roomBytes = 65_536;

const { ENOSPC, EDQUOT, EIO, EROFS } = constants.errno;
const later = 'it is tried again within five minutes';
const reasons: ReadonlyMap<unknown, string> = new Map([
  [EDQUOT, `the quota of its disk is used up. Raise it, or make room: ${later}`],
  [EIO, `its disk gave an input/output error, or took only a part. See the log of the kernel (dmesg); ${later}`],
  [EROFS, `its file system is read-only. Mount it for writing: ${later}`],
]);

/** @param freeBytes room on the disk after the failure */
export function writeFailureIn(cause: unknown, freeBytes: number): WriteFailure {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  // LMDB has one code for a write that was cut short and for a broken disk.
  const isFull = code === ENOSPC || (code === EIO && freeBytes < roomBytes);
  if (isFull) return { reason: 'its disk is full. Make room there: it goes on by itself then', isFull };
  return { reason: reasons.get(code) ?? messageOf(cause), isFull };
}

/** Returns the reason for a failed commit: lmdb-js says "Commit failed" and gives the reason in a promise that rejects. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  return Promise.resolve(error.commitError).catch((reason: unknown) => reason);
}
