/**
 * The logs of tasks: kept from growing without end, and read. The processes hold their files open and write them
 * themselves; what is there is copied to one older file, then cut off, and they go on undisturbed.
 * What is written between copy and cut is lost. Killed in between, the same lines stand in both until the next look.
 * Logs are read block by block, backwards from the end or forwards from an offset.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import { InOrder } from './in-order.js';
import { copyEnd, usedBytes } from './log-copy.js';
import { logPathOf, olderLogOf, type TaskPaths } from './paths.js';
import { isAlive } from './processes.js';

interface TaskLogsOptions {
  paths: TaskPaths;
  clock: Clock;
  logger: Logger;
  /** Limit of one log; default 10 MiB. */
  maxBytes?: number | undefined;
}

/** A piece of a log, and the position after it, valid as long as this runtime lives. */
export interface LogPart {
  text: string;
  next: number;
}

const defaultMaxBytes = 10 * 1_024 * 1_024;
const maxLines = 10_000;
const lookEveryMs = 2_000;

export class TaskLogs {
  readonly #paths: TaskPaths;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #maxBytes: number;
  /** Work under way on the log of each task: one piece at a time. */
  readonly #work = new InOrder();
  /** Bytes that were cut off each log since this runtime began. */
  readonly #cutBytes = new Map<string, number>();
  /** Last fault of each task's log: logged once, not at each look. */
  readonly #faults = new Map<string, string>();

  constructor({ paths, clock, logger, maxBytes = defaultMaxBytes }: TaskLogsOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#logger = logger;
    this.#maxBytes = maxBytes;
  }

  pathOf(id: string): string {
    return logPathOf(this.#paths, id);
  }

  /** Looks at the log of a process every few seconds until the signal is aborted. Never rejects. */
  async watch(id: string, writer: ProcessIdentity, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.bound(id, writer);
      await pause(this.#clock, lookEveryMs, signal);
    }
  }

  /** Cuts off a log that is too large. Never rejects: faults are logged. */
  bound(id: string, writer?: ProcessIdentity): Promise<void> {
    return this.#work.run(id, async () => {
      try {
        this.#tellOnce(id, await this.#bound(id, writer));
      } catch (error) {
        this.#tellOnce(id, `its log is not kept below ${this.#maxBytes} bytes: ${whyNotCut(error)}`);
      }
    });
  }

  /**
   * Last lines of all runs that are kept; or whole lines after a position, if there are any.
   * @throws StagecraftError INVALID_ARGUMENT, LOG_UNREADABLE
   */
  async read(id: string, { lines = 100, after }: { lines?: number; after?: number }): Promise<LogPart> {
    const refuse = (fault: string): never => {
      throw new StagecraftError('INVALID_ARGUMENT', fault);
    };
    if (!(Number.isSafeInteger(lines) && lines > 0 && lines <= maxLines))
      refuse(`lines is a whole number from 1 to ${maxLines}, not ${lines}`);
    if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0))
      refuse(`after is the 'next' of what was read before, not ${after}`);
    return this.#work.run(id, async () => {
      try {
        return await (after === undefined ? this.#last(id, lines) : this.#after(id, after));
      } catch (cause) {
        const message = `the log of task ${id} can't be read: ${messageOf(cause)}`;
        throw new StagecraftError('LOG_UNREADABLE', message, { cause });
      }
    });
  }

  async #last(id: string, lines: number): Promise<LogPart> {
    const path = this.pathOf(id);
    const { text, sizeBytes } = await lastLogLines([path, olderLogOf(path)], lines);
    return { text, next: (this.#cutBytes.get(id) ?? 0) + sizeBytes };
  }

  async #after(id: string, position: number): Promise<LogPart> {
    const path = this.pathOf(id);
    const cutBytes = this.#cutBytes.get(id) ?? 0;
    if (position < cutBytes) {
      const older = olderLogOf(path);
      const beginsAt = cutBytes - (await logBytes(older));
      const from = Math.max(beginsAt, position);
      const rest = await linesFrom(older, from - beginsAt, { closed: true });
      if (rest.length > 0) return { text: rest.toString('utf8'), next: from + rest.length };
    }
    const reached = position - cutBytes;
    const offset = reached <= (await logBytes(path)) ? Math.max(0, reached) : 0; // the log may have been emptied by somebody
    const found = await linesFrom(path, offset);
    return { text: found.toString('utf8'), next: cutBytes + offset + found.length };
  }

  /** Cuts the log to its size limit. @returns fault that an operator has to fix: the process writes to another file */
  async #bound(id: string, writer?: ProcessIdentity): Promise<string | undefined> {
    const path = this.pathOf(id);
    const copiedTo = await this.#cut(id, path, constants.O_NOFOLLOW);
    if (copiedTo !== undefined) this.#cutBytes.set(id, (this.#cutBytes.get(id) ?? 0) + copiedTo);
    const instead = writer && isAlive(writer) ? await writtenInstead(path, writer) : undefined;
    if (!instead) return undefined;
    await this.#cut(id, instead.handle);
    return `its log was removed or renamed, and it still writes ${instead.name}: a new one begins when it is restarted`;
  }

  /** @returns end of the copy in the file; undefined without a copy */
  async #cut(id: string, path: string, flags = 0): Promise<number | undefined> {
    const file = await openThere(path, constants.O_RDWR | constants.O_NONBLOCK | flags);
    try {
      const stat = await file?.stat();
      if (!file || !stat) return undefined;
      if (!stat.isFile()) throw new Error(`${path} is no plain file`);
      if (usedBytes(stat) <= this.#maxBytes) return undefined;
      const copiedTo = await this.#copied(id, file, stat.size);
      await file.truncate(0);
      return copiedTo;
    } finally {
      await file?.close();
    }
  }

  /**
   * @returns end of the copy in the file; undefined without a copy: the disk, which holds the store too, must not
   *   fill
   */
  async #copied(id: string, file: FileHandle, sizeBytes: number): Promise<number | undefined> {
    const older = olderLogOf(this.pathOf(id));
    try {
      return await copyEnd(file, { sizeBytes, maxBytes: this.#maxBytes, to: older });
    } catch (error) {
      this.#logger.error(
        { task: id },
        `the log of task ${id} was emptied, ${sizeBytes} bytes, without a whole copy in ${older}: ${messageOf(error)}`,
      );
      return undefined;
    }
  }

  #tellOnce(id: string, fault: string | undefined): void {
    if (fault !== undefined && fault !== this.#faults.get(id)) this.#logger.warn({ task: id }, `task ${id}: ${fault}`);
    if (fault === undefined) this.#faults.delete(id);
    else this.#faults.set(id, fault);
  }
}

const whyNotCut = (error: unknown): string =>
  isLink(error) ? 'it is a symbolic link, and what that leads to is not ours to cut off' : messageOf(error);

/** Finds the log that a process still writes after its file was removed or renamed. */
async function writtenInstead(
  path: string,
  { pid }: ProcessIdentity,
): Promise<{ handle: string; name: string } | undefined> {
  for (const number of [1, 2]) {
    const handle = `/proc/${pid}/fd/${number}`;
    const name = await readlink(handle).catch(() => ''); // gone, or not readable for us
    if (dirname(name) === dirname(path) && name !== path) return { handle, name };
  }
  return undefined;
}

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
async function lastLogLines(paths: string[], count: number): Promise<{ text: string; sizeBytes: number }> {
  const blocks: Buffer[] = [];
  const sizes: number[] = [];
  let newlines = 0;
  let leftBytes = maxReadBytes;
  for (const path of paths) {
    const size = await reading(path, 0, async (file, sizeBytes) => {
      // A newline more than the wanted lines proves that the first line is whole.
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
const linesFrom = (path: string, offset: number, { closed = false } = {}): Promise<Buffer> =>
  reading<Buffer>(path, Buffer.alloc(0), async (file, sizeBytes) => {
    const block = await readAt(file, offset, Math.min(blockBytes, Math.max(0, sizeBytes - offset)));
    const isLast = offset + block.length >= sizeBytes;
    const wholeBytes = block.lastIndexOf(newline) + 1;
    const takesAll = isLast ? closed : wholeBytes === 0;
    return takesAll ? block : block.subarray(0, wholeBytes);
  });

/** Length of a log; 0 if there is none. */
const logBytes = (path: string): Promise<number> => reading(path, 0, async (_, sizeBytes) => sizeBytes);

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
const isLink = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ELOOP';

/** Undefined if there is no such file. */
async function openThere(path: string, flags: number): Promise<FileHandle | undefined> {
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
