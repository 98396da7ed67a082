/**
 * Spaces the attempts to write while the disk takes nothing: LMDB's C code prints to stderr at each one that fails, past every
 * log. The pauses double up to five minutes. Room ends them if the disk was full; a success ends them in any case.
 * Gives the reason of a failed write in words: LMDB names pages and buffers of its own.
 */
import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { messageOf } from '../../errors.js';

const firstPauseMs = 1_000;
const lastPauseMs = 300_000;

export interface WritePausesOptions {
  /** Directory of the store. */
  path: string;
  monotonicMs(): number;
  /** Room on the disk; 0 if that can't be known. Default: of the file system of `path`. */
  freeBytes?(): Promise<number>;
}

export class WritePauses {
  readonly #path: string;
  readonly #monotonicMs: () => number;
  readonly #freeBytes: () => Promise<number>;
  /** Failure of the last attempt; undefined: it was no failure. */
  #failure: Error | undefined;
  /** Reason of the first failure since the last success. */
  #firstReason: string | undefined;
  #failedAtMs = 0;
  #pauseMs = 0;
  /** Most room that did not do, in bytes. Undefined: the disk was not full. */
  #tooLittle: number | undefined;

  constructor({ path, monotonicMs, freeBytes = () => freeBytesOf(path) }: WritePausesOptions) {
    this.#path = path;
    this.#monotonicMs = monotonicMs;
    this.#freeBytes = freeBytes;
  }

  /** Whether the last attempt failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Notes that an attempt has failed. @returns error for its callers */
  async failed(error: unknown): Promise<Error> {
    const cause = await causeOf(error);
    const room = await this.#freeBytes();
    const { reason, isFull } = writeFailureIn(cause, room);
    this.#firstReason ??= reason;
    const before = reason === this.#firstReason ? '' : ` (at first: ${this.#firstReason})`;
    this.#failure = new Error(`The store in ${this.#path} could not write: ${reason}${before}`, { cause });
    this.#failedAtMs = this.#monotonicMs();
    this.#pauseMs = Math.min(this.#pauseMs * 2 || firstPauseMs, lastPauseMs);
    this.#tooLittle = isFull ? Math.max(this.#tooLittle ?? 0, room) : undefined;
    return this.#failure;
  }

  /** Notes that an attempt has succeeded. */
  written(): void {
    this.#failure = undefined;
    this.#firstReason = undefined;
    this.#pauseMs = 0;
    this.#tooLittle = undefined;
  }

  /** Failure of the last attempt; undefined: the next one may be made. */
  async reason(): Promise<Error | undefined> {
    if (this.#monotonicMs() - this.#failedAtMs >= this.#pauseMs) return undefined;
    const hasRoom = this.#tooLittle !== undefined && (await this.#freeBytes()) >= 2 * this.#tooLittle + roomBytes;
    return hasRoom ? undefined : this.#failure;
  }
}

const freeBytesOf = (path: string): Promise<number> =>
  statfs(path).then(
    // Some blocks are for root only.
    ({ bavail, bfree, bsize }) => (process.getuid?.() === 0 ? bfree : bavail) * bsize,
    () => 0,
  );

/** The write was not tried: nothing of it was written. */
export class NotTried extends Error {}

interface WriteFailure {
  reason: string;
  /** Whether room on the disk ends it. */
  isFull: boolean;
}

/** Least room that may take what a disk did not take. */
const roomBytes = 65_536;

const { ENOSPC, EDQUOT, EIO, EROFS } = constants.errno;
const later = 'it is tried again within five minutes';
const reasons: ReadonlyMap<unknown, string> = new Map([
  [EDQUOT, `the quota of its disk is used up. Raise it, or make room: ${later}`],
  [EIO, `its disk gave an input/output error, or took only a part. See the log of the kernel (dmesg); ${later}`],
  [EROFS, `its file system is read-only. Mount it for writing: ${later}`],
]);

/** @param freeBytes room on the disk after the failure */
function writeFailureIn(cause: unknown, freeBytes: number): WriteFailure {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  // LMDB has one code for a write that was cut short and for a broken disk.
  const isFull = code === ENOSPC || (code === EIO && freeBytes < roomBytes);
  if (isFull) return { reason: 'its disk is full. Make room there: it goes on by itself then', isFull };
  return { reason: reasons.get(code) ?? messageOf(cause), isFull };
}

/** Returns the reason for a failed commit: lmdb-js says "Commit failed" and gives the reason in a promise that rejects. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  return Promise.resolve(error.commitError).catch((reason: unknown) => reason);
}
