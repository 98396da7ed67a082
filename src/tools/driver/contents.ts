/**
 * Content of volumes and snapshots on disk: a directory, or the image of a block device, named by the driver's own ids.
 * Content has an unfinished name until its record is written, and again before that record goes. So the next driver
 * knows what a killed one left, and never removes content whose record was lost.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, realpath, rename, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import { isWithin } from '../../host/mount-table.js';
import { outputOf, type RunTool, runner, ToolFailure } from './commands.js';
import { type AccessType, isCode, isContentAt, statusFor, syncPath } from './disk.js';
import { currentMounts } from './mounts.js';
import { refuseMountsOf } from './node-access.js';

/** Content of one volume or snapshot. */
export interface Content {
  readonly id: string;
  readonly accessType: AccessType;
}

interface NewContent extends Content {
  /** Exact size of an image, whatever it is copied from. */
  readonly sizeBytes: number;
  readonly copyOf?: Content;
  /** Mode of the root of a directory. Default: 0755, and that of a copy is as in its source. */
  readonly rootMode?: number;
}

interface ContentsOptions {
  directory: string;
  /** Whether a record says that there is such a volume or snapshot. */
  hasRecord: (id: string) => boolean;
  /** Lock of the data directory: see RunOptions. */
  lockFile: number;
}

/** Others may read what is in a volume. Whether they reach it is for whoever mounts it to say. */
const defaultRootMode = 0o755;

const unfinishedPrefix = 'unfinished-';
const imageSuffix = '.img';
const ownName = /^(?:unfinished-)?(?:vol|snap)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.img)?$/;

/** The kernel's timestamps move in steps of at most 10 ms. */
const timestampStepMs = 20;

export class Contents {
  readonly #directory: string;
  readonly #hasRecord: (id: string) => boolean;
  /** Runs tools that end with the driver. */
  readonly #run: RunTool;
  readonly #stopping = new AbortController();
  /** Ids whose content could not be removed. */
  readonly #left = new Set<string>();

  private constructor(directory: string, { hasRecord, lockFile }: ContentsOptions) {
    this.#directory = directory;
    this.#hasRecord = hasRecord;
    this.#run = runner({ diesWithDriver: true, lockFile });
  }

  /**
   * Ends what a killed driver left unfinished: content with a record is kept, other content is removed. Keeps, with a
   * warning, what has a mount below it, and finished content without a record.
   */
  static async open(options: ContentsOptions): Promise<Contents> {
    const contents = new Contents(await realpath(options.directory), options);
    for (const name of await readdir(contents.#directory)) await contents.#takeUp(name).catch(warn);
    return contents;
  }

  /** Ends copies under way. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Path where the content is, or would be. */
  pathOf(content: Content): string {
    return join(this.#directory, nameOf(content));
  }

  /**
   * Whether the content is there, finished or not.
   * @throws Error if that can't be told
   */
  async exists(content: Content): Promise<boolean> {
    const { accessType } = content;
    return (
      (await isContentAt(this.#unfinishedPathOf(content), accessType)) ||
      (await isContentAt(this.pathOf(content), accessType))
    );
  }

  /**
   * Resolves when it is whole, and on disk, but unfinished: `keep` makes it count, `remove` takes it away.
   * @throws {CsiStatus} RESOURCE_EXHAUSTED: no room; OUT_OF_RANGE: no file may be that large; ABORTED: what is copied
   *   changes meanwhile; DATA_LOSS: it is missing; UNAVAILABLE: the driver is stopped, and nothing of it is left
   */
  async make(content: NewContent): Promise<void> {
    const { signal } = this.#stopping;
    const unfinished = this.#unfinishedPathOf(content);
    try {
      if (content.copyOf) await this.#copy(content.copyOf, unfinished);
      else await makeEmpty(content, unfinished);
      if (content.accessType === 'block') await setSize(unfinished, content.sizeBytes);
      else await setRootMode(content, unfinished);
      await syncPath(this.#directory);
      signal.throwIfAborted();
    } catch (error) {
      await this.#removeTree(unfinished).catch(warn); // the next driver tries again
      throw signal.aborted ? stopped() : statusFor(error);
    }
  }

  /**
   * Makes these count by writing the record. If that fails but the record is there, they count all the same.
   * @throws what `record` throws; then nothing without a record is left
   */
  async keep(contents: readonly Content[], record: () => Promise<void>): Promise<void> {
    await this.#settling(contents, record);
  }

  /**
   * Grows an image.
   * @throws {CsiStatus} as `make`
   */
  async grow(content: Content, sizeBytes: number): Promise<void> {
    try {
      await setSize(this.pathOf(content), sizeBytes);
    } catch (error) {
      throw statusFor(error);
    }
  }

  /**
   * Removes these once the record has gone. What can't be removed then is tried again by `removeLeft`, and by the
   * next driver.
   * @throws {CsiStatus} FAILED_PRECONDITION: something is mounted below one, and nothing has changed; what `unrecord`
   *   throws
   */
  async drop(contents: readonly Content[], unrecord: () => Promise<void>): Promise<void> {
    for (const content of contents) await refuseMountsBelow(this.pathOf(content));
    await this.#settling(contents, async () => {
      for (const content of contents) await this.#putAside(content);
      await unrecord();
    });
  }

  /** Removes unfinished content; absent content counts as removed. */
  async remove(content: Content): Promise<void> {
    const name = nameOf(content);
    this.#left.add(name);
    await this.#removeUnfinished(name);
    this.#left.delete(name);
  }

  /**
   * Tries again to remove what could not be removed.
   * @param id as a caller gave it: used only for a look-up
   */
  async removeLeft(id: string): Promise<void> {
    for (const name of [id, id + imageSuffix]) {
      if (!this.#left.has(name)) continue;
      await this.#removeUnfinished(name);
      this.#left.delete(name);
    }
  }

  /**
   * @returns whether none of these has changed during the work, by the times of their file system. A change just
   *   before may count.
   */
  async unchangedDuring(contents: readonly Content[], work: () => Promise<void>): Promise<boolean> {
    const mark = join(this.#directory, `${unfinishedPrefix}${randomUUID()}`);
    await (await open(mark, 'wx', 0o600)).close();
    try {
      await setTimeout(timestampStepMs); // later changes are newer than the mark
      await work();
      const paths = contents.map((content) => this.pathOf(content));
      return (await outputOf(this.#run, ['find', ...paths, '-newercm', mark, '-print', '-quit'])) === '';
    } catch (error) {
      if (error instanceof ToolFailure && error.hasLostFiles) return false;
      if (error instanceof CsiStatus && error.code === 'ABORTED') return false; // a copy met a change
      throw error;
    } finally {
      await unlink(mark);
    }
  }

  async #copy(from: Content, to: string): Promise<void> {
    const { signal } = this.#stopping;
    if (!(await this.exists(from))) {
      const message = `the content of ${from.id} is missing: nothing is at ${this.pathOf(from)}; put it back`;
      throw new CsiStatus('DATA_LOSS', message);
    }
    await copyTree({ run: this.#run, directory: this.#directory, signal }, this.pathOf(from), to);
    await outputOf(this.#run, ['sync', ...(from.accessType === 'block' ? [] : ['-f']), '--', to], signal);
  }

  #unfinishedPathOf(content: Content): string {
    return join(this.#directory, unfinishedPrefix + nameOf(content));
  }

  async #takeUp(entry: string): Promise<void> {
    if (entry.startsWith(unfinishedPrefix)) {
      const name = entry.slice(unfinishedPrefix.length);
      if (ownName.test(name) && this.#hasRecord(idIn(name))) await this.#finish(name);
      else await this.#removeUnfinished(name);
    } else if (ownName.test(entry) && !this.#hasRecord(idIn(entry))) {
      const path = join(this.#directory, entry);
      process.emitWarning(
        `${path} has no record, and is kept: put that back where it was, or remove it, when no driver runs`,
      );
    }
  }

  /**
   * Settles the contents after failed work. The reason of the failure counts; what stays unfinished, the next driver
   * ends.
   */
  async #settling(contents: readonly Content[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.#settle(contents).catch(warn);
      throw statusFor(error);
    }
    await this.#settle(contents);
  }

  /** Finishes content with a record, and removes content without one. */
  async #settle(contents: readonly Content[]): Promise<void> {
    for (const content of contents) {
      if (this.#hasRecord(content.id)) await this.#finish(nameOf(content));
      else await this.remove(content);
    }
  }

  async #finish(name: string): Promise<void> {
    await renameWhereThere(join(this.#directory, unfinishedPrefix + name), join(this.#directory, name));
    await syncPath(this.#directory);
  }

  /** Takes the content out of its name in one step: if nothing is mounted below it after that, nothing will be. */
  async #putAside(content: Content): Promise<void> {
    await renameWhereThere(this.pathOf(content), this.#unfinishedPathOf(content));
    await refuseMountsBelow(this.#unfinishedPathOf(content));
    await syncPath(this.#directory);
  }

  async #removeUnfinished(name: string): Promise<void> {
    const path = join(this.#directory, unfinishedPrefix + name);
    await refuseMountsBelow(path);
    await this.#removeTree(path);
    await syncPath(this.#directory);
  }

  #removeTree(path: string): Promise<string> {
    return outputOf(this.#run, ['rm', '-rf', '--one-file-system', '--', path]);
  }
}

const stopped = (): CsiStatus => new CsiStatus('UNAVAILABLE', 'the driver is stopped: nothing of it is left');

const warn = (error: unknown): void =>
  process.emitWarning(`content that is unfinished could not be finished or removed: ${messageOf(error)}`);

const nameOf = ({ id, accessType }: Content): string => (accessType === 'block' ? id + imageSuffix : id);
const idIn = (name: string): string => (name.endsWith(imageSuffix) ? name.slice(0, -imageSuffix.length) : name);

async function makeEmpty({ accessType }: NewContent, path: string): Promise<void> {
  if (accessType === 'block') return (await open(path, 'wx', 0o600)).close();
  await mkdir(path);
}

async function setRootMode({ copyOf, rootMode }: NewContent, path: string): Promise<void> {
  const mode = rootMode ?? (copyOf ? undefined : defaultRootMode);
  if (mode !== undefined) await chmod(path, mode);
  await syncPath(path);
}

async function setSize(path: string, sizeBytes: number): Promise<void> {
  await truncate(path, sizeBytes);
  await syncPath(path);
}

async function renameWhereThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}

/** Bind mounts within one file system have its device number, too: only the mount table tells them. */
async function refuseMountsBelow(path: string): Promise<void> {
  const table = await currentMounts();
  refuseMountsOf(table, [table.sourceOf(path)]);
  const below = table.entries.find((entry) => isWithin(entry.path, path));
  if (below === undefined) return;
  throw new CsiStatus('FAILED_PRECONDITION', `something is mounted at ${below.path}: unmount it first`);
}

interface Copying {
  run: RunTool;
  /** Directory with both ends, and no symlink on the way. */
  directory: string;
  signal: AbortSignal;
}

/** Keeps holes, hard links, owners and attributes; shares blocks if the file system can. */
const copyCommand = ['cp', '-a', '-x', '-T', '--reflink=auto', '--'] as const;

/** A mount namespace of its own, in which unmounts from outside take effect. */
const apart = ['unshare', '--mount', '--propagation', 'slave'] as const;

/** A mount with both ends: between two mounts, older kernels share no blocks. */
const withoutFollowing = 'mount --bind -- "$1" "$1" && mount -o remount,bind,nosymfollow -- "$1" && shift && exec "$@"';

/**
 * Copies a volume or snapshot with cp(1), while its user may change it: whoever swaps a directory for a symlink meanwhile must
 * not get the content behind that. Where the driver may mount, cp runs in a mount namespace of its own in which no symlink
 * below the content directory is followed.
 * @throws {ToolFailure} with `hasLostFiles` if a symlink came in the way; {CsiStatus} FAILED_PRECONDITION
 */
async function copyTree({ run, directory, signal }: Copying, from: string, to: string): Promise<void> {
  const copy = [...copyCommand, from, to] as const;
  const shielded = [...apart, 'sh', '-c', withoutFollowing, 'sh', directory, ...copy] as const;
  try {
    await outputOf(run, (await mayMount()) ? shielded : copy, signal);
  } catch (error) {
    throw error instanceof ToolFailure && /^(?:unshare|mount): /.test(error.message) ? unshielded(error) : error;
  }
}

/** The copy could contain the host's files: none is made. */
const unshielded = ({ message }: ToolFailure): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `can't copy without following symlinks (${message}): that takes Linux 5.10, a mount(8) that knows nosymfollow, and mount namespaces; or run the driver without CAP_SYS_ADMIN`,
  );

const adminBit = 21n; // CAP_SYS_ADMIN

async function mayMount(): Promise<boolean> {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> adminBit) & 1n) === 1n;
}
