/**
 * What volumes and snapshots hold, on disk: a directory, or the image of a block device, named by the driver's own ids.
 * Everything is made and taken apart in a directory of this run, so that what has its final name is whole, and what a
 * killed driver left is known. Knows no records; who wants what removed says so.
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, realpath, rename, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CsiStatus } from '../csi/server.js';
import { messageOf } from '../errors.js';
import { outputOf, runner, ToolFailure } from './commands.js';
import { isWithin } from './mount-table.js';
import { readMountTable } from './mounts.js';
import { refuseMountsOf } from './node-access.js';
import type { AccessType } from './state.js';
import { usedBytesOf } from './usage.js';

/** One volume's or snapshot's. */
export interface Content {
  readonly id: string;
  readonly accessType: AccessType;
}

export interface NewContent extends Content {
  /** Of an image: exactly this, whatever it is copied from. */
  readonly sizeBytes: number;
  readonly copyOf?: Content;
}

/** A volume belongs to whoever it is mounted for; what is above it is closed to all but the driver's user. */
const volumeRootMode = 0o777;

const workPrefix = 'unfinished-';
const imageSuffix = '.img';
const ownName = /^(?:unfinished-|(?:vol|snap)-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.img)?$/;

/** Nothing goes on writing after a driver that was killed. */
const run = runner({ diesWithDriver: true });

/** The kernel's timestamps move in steps; the coarsest are of 10 ms. */
const timestampStepMs = 20;

export class Contents {
  readonly #directory: string;
  readonly #workDir: string;
  readonly #stopping = new AbortController();
  /** What could not be removed. */
  readonly #left = new Set<string>();

  private constructor(directory: string) {
    this.#directory = directory;
    this.#workDir = join(directory, workPrefix + randomUUID());
  }

  /**
   * Removes what a killed driver left unfinished, and what nothing stands for any more. What something is mounted below
   * stays, with a warning.
   * @param kept all that there is
   */
  static async open(directory: string, kept: Iterable<Content>): Promise<Contents> {
    const contents = new Contents(await realpath(directory));
    await mkdir(contents.#workDir, { mode: 0o700 });
    const names = new Set([...kept].map(nameOf));
    for (const name of await readdir(directory)) {
      if (!ownName.test(name) || names.has(name) || name === contents.#workName) continue;
      await contents.#removeEntry(name).catch(warn);
    }
    return contents;
  }

  /** Ends what is being made. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Where it is, or would be. */
  pathOf(content: Content): string {
    return join(this.#directory, nameOf(content));
  }

  async exists(content: Content): Promise<boolean> {
    const found = await lstat(this.pathOf(content)).catch(() => undefined);
    return (content.accessType === 'block' ? found?.isFile() : found?.isDirectory()) ?? false;
  }

  /**
   * Resolves when it is there, and on disk.
   * @throws {CsiStatus} RESOURCE_EXHAUSTED: no room; OUT_OF_RANGE: no file may be that large; ABORTED: what is copied
   *   changes meanwhile; DATA_LOSS: it is missing; UNAVAILABLE: the driver is stopped, and nothing of it is left
   */
  async make(content: NewContent): Promise<void> {
    const { signal } = this.#stopping;
    const unfinished = join(this.#workDir, nameOf(content));
    try {
      if (content.copyOf) await this.#copy(content.copyOf, unfinished);
      else await makeEmpty(content, unfinished);
      if (content.accessType === 'block') await setSize(unfinished, content.sizeBytes);
      signal.throwIfAborted();
      await rename(unfinished, this.pathOf(content));
      await syncPath(this.#directory);
    } catch (error) {
      await removeTree(unfinished).catch(warn); // the next driver tries again
      throw signal.aborted ? stopped() : statusFor(error);
    }
  }

  /** Lets an image grow. @throws {CsiStatus} as `make` */
  async grow(content: Content, sizeBytes: number): Promise<void> {
    try {
      await setSize(this.pathOf(content), sizeBytes);
    } catch (error) {
      throw statusFor(error);
    }
  }

  /** @throws {CsiStatus} FAILED_PRECONDITION: something is mounted below it, or it is mounted elsewhere */
  async checkRemovable(content: Content): Promise<void> {
    await refuseMountsBelow(this.pathOf(content));
  }

  /** What is not there is removed. What fails is tried again when `removeLeft` is called, and by the next driver. */
  async remove(content: Content): Promise<void> {
    const name = nameOf(content);
    this.#left.add(name);
    await this.#removeEntry(name);
    this.#left.delete(name);
  }

  /** Tries again what could not be removed. @param id as a caller gave it: it only finds what is remembered */
  async removeLeft(id: string): Promise<void> {
    for (const name of [id, id + imageSuffix]) {
      if (!this.#left.has(name)) continue;
      await this.#removeEntry(name);
      this.#left.delete(name);
    }
  }

  /** The bytes that it takes up. */
  usedBytes(content: Content): Promise<number> {
    return usedBytesOf(run, this.pathOf(content));
  }

  /**
   * @returns whether none of these has changed during the work, by the times that their file system keeps. A change just
   *   before may count.
   */
  async unchangedDuring(contents: readonly Content[], work: () => Promise<void>): Promise<boolean> {
    const mark = join(this.#workDir, `mark-${randomUUID()}`);
    await (await open(mark, 'wx', 0o600)).close();
    try {
      await setTimeout(timestampStepMs); // what changes from now on is newer than the mark
      await work();
      const paths = contents.map((content) => this.pathOf(content));
      return (await outputOf(run, ['find', ...paths, '-newercm', mark, '-print', '-quit'])) === '';
    } catch (error) {
      if (error instanceof ToolFailure && error.hasLostFiles) return false;
      throw error;
    } finally {
      await unlink(mark);
    }
  }

  async #copy(from: Content, to: string): Promise<void> {
    const { signal } = this.#stopping;
    if (!(await this.exists(from))) throw new CsiStatus('DATA_LOSS', `the content of ${from.id} is missing: delete it`);
    // Holes stay holes, hard links stay links, owners and attributes stay; blocks are shared where the file system can.
    await outputOf(run, ['cp', '-a', '-x', '-T', '--reflink=auto', '--', this.pathOf(from), to], signal);
    await outputOf(run, ['sync', ...(from.accessType === 'block' ? [] : ['-f']), '--', to], signal);
  }

  get #workName(): string {
    return this.#workDir.slice(this.#directory.length + 1);
  }

  /** First out of its name, in one step, then piece by piece. */
  async #removeEntry(name: string): Promise<void> {
    const path = join(this.#directory, name);
    const doomed = join(this.#workDir, `${name}.${randomUUID()}`);
    await refuseMountsBelow(path);
    try {
      await rename(path, doomed);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return;
      throw error;
    }
    try {
      await removeTree(doomed);
    } catch (error) {
      await rename(doomed, path); // so that it can be tried again
      throw error;
    }
    await syncPath(this.#directory);
  }
}

const stopped = (): CsiStatus => new CsiStatus('UNAVAILABLE', 'the driver is stopped: nothing of it is left');

const warn = (error: unknown): void =>
  process.emitWarning(`content that belongs to nothing could not be removed: ${messageOf(error)}`);

const removeTree = (path: string): Promise<string> => outputOf(run, ['rm', '-rf', '--one-file-system', '--', path]);

const nameOf = ({ id, accessType }: Content): string => (accessType === 'block' ? id + imageSuffix : id);

async function makeEmpty({ accessType }: NewContent, path: string): Promise<void> {
  if (accessType === 'block') return (await open(path, 'wx', 0o600)).close();
  await mkdir(path);
  await chmod(path, volumeRootMode); // mkdir's own mode is less the umask
  await syncPath(path);
}

async function setSize(path: string, sizeBytes: number): Promise<void> {
  await truncate(path, sizeBytes);
  await syncPath(path);
}

/** What is in a directory, or the bytes and the size of a file. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}

/** Bind mounts of one file system have its device number too: only the mount table tells them. */
async function refuseMountsBelow(path: string): Promise<void> {
  const table = await readMountTable();
  refuseMountsOf(table, [table.sourceOf(path)]);
  const below = table.entries.find((entry) => isWithin(entry.path, path));
  if (below === undefined) return;
  throw new CsiStatus('FAILED_PRECONDITION', `something is mounted at ${below.path}: unmount it first`);
}

const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** What a failure on disk is to the caller, where CSI has a word for it. */
export function statusFor(error: unknown): unknown {
  const text = messageOf(error);
  if (isCode(error, 'ENOSPC', 'EDQUOT') || (error instanceof ToolFailure && /No space left|quota exceeded/i.test(text)))
    return new CsiStatus('RESOURCE_EXHAUSTED', `no room for it where the volumes are: ${text}`);
  if (isCode(error, 'EFBIG'))
    return new CsiStatus('OUT_OF_RANGE', `the file system of the volumes takes no file that large: ${text}`);
  if (error instanceof ToolFailure && error.hasLostFiles)
    return new CsiStatus('ABORTED', `it changes while it is copied (${text}): ask again, or stop who writes to it`);
  return error;
}
