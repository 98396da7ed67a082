/**
 * Records of the driver: one JSON file each, all of them in memory too. A record is on disk, whole, before `put` resolves:
 * after a kill at any moment, the next driver finds either the one before or the one after.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, StagecraftError } from '../../errors.js';
import { isCode, isOutOfRoom, statusFor, syncPath } from './disk.js';

const extension = '.json';
const unfinished = '.tmp';

/** Type of each field of a record; optional fields are not checked. */
export type Shape<T> = {
  readonly [Field in keyof T as undefined extends T[Field] ? never : Field]-?:
    | 'string'
    | 'number'
    | 'array'
    | 'object'
    | readonly string[];
};

interface RecordsOptions<T> {
  directory: string;
  shape: Shape<T>;
  reserve: Reserve;
}

/** Records by id. Ids become file names, so they must be the driver's own. */
export class Records<T extends { readonly id: string }> {
  readonly #directory: string;
  readonly #reserve: Reserve;
  readonly #records = new Map<string, T>();

  private constructor({ directory, reserve }: RecordsOptions<T>) {
    this.#directory = directory;
    this.#reserve = reserve;
  }

  /** @throws {StagecraftError} DRIVER_STATE_BROKEN: a file is no such record; nothing is dropped */
  static async open<T extends { readonly id: string }>(options: RecordsOptions<T>): Promise<Records<T>> {
    const { directory, shape } = options;
    const records = new Records<T>(options);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await syncPath(dirname(directory));
    for (const file of await readdir(directory)) {
      const path = join(directory, file);
      if (file.endsWith(unfinished)) await rm(path);
      else if (file.endsWith(extension)) {
        const record = await read(path, shape);
        records.#records.set(record.id, record);
      }
    }
    return records;
  }

  get(id: string): T | undefined {
    return this.#records.get(id);
  }

  /** All records in the order of their ids. */
  all(): T[] {
    return [...this.#records.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  find(matches: (record: T) => boolean): T | undefined {
    for (const record of this.#records.values()) if (matches(record)) return record;
    return undefined;
  }

  /**
   * In place of what has the same id. Not two at a time for one id. It may fail though the record counts: `get` tells.
   * @throws {CsiStatus} RESOURCE_EXHAUSTED: no room; for a record that gets no longer there is the reserve
   */
  async put(record: T): Promise<void> {
    const text = textOf(record);
    const before = this.#records.get(record.id);
    const write = (): Promise<void> => this.#write(record, text);
    try {
      await (before && text.length <= textOf(before).length ? this.#reserve.useFor(write) : write());
    } catch (error) {
      throw statusFor(error);
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
    this.#records.delete(id);
    await syncPath(this.#directory);
    await this.#reserve.refill();
  }

  async #write(record: T, text: string): Promise<void> {
    const path = this.#pathOf(record.id);
    try {
      const file = await open(path + unfinished, 'w', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + unfinished, path);
    } catch (error) {
      await rm(path + unfinished, { force: true });
      throw error;
    }
    this.#records.set(record.id, record); // counts from here on, even if it is not certain to outlive a power cut
    await syncPath(this.#directory); // a directory holds the names: they are on disk once the directory is
  }

  #pathOf(id: string): string {
    return join(this.#directory, id + extension);
  }
}

const textOf = (record: object): string => JSON.stringify(record, null, 2);

async function read<T extends { readonly id: string }>(path: string, shape: Shape<T>): Promise<T> {
  try {
    const record: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isShaped(record, shape)) throw new Error('a field is missing, or none of its kind');
    if (record.id + extension !== basename(path)) throw new Error(`it is that of ${JSON.stringify(record.id)}`);
    return record;
  } catch (cause) {
    const message = `${path} can't be taken (${messageOf(cause)}): repair it, or move it away to continue without its object, whose content stays in the data directory`;
    throw new StagecraftError('DRIVER_STATE_BROKEN', message, { cause });
  }
}

function isShaped<T>(record: unknown, shape: Shape<T>): record is T {
  if (typeof record !== 'object' || record === null) return false;
  const fields = new Map<string, unknown>(Object.entries(record));
  return Object.entries<Shape<T>[keyof Shape<T>]>(shape).every(([field, kind]) => isOf(kind, fields.get(field)));
}

function isOf(kind: unknown, value: unknown): boolean {
  if (Array.isArray(kind)) return kind.includes(value);
  if (Array.isArray(value)) return kind === 'array';
  return value !== null && typeof value === kind;
}

/** Room for some records and their blocks. */
const reserveBytes = 64 * 1024;

/**
 * Reserve file for a full file system: without it an unmounted volume could not be forgotten, and so never be
 * deleted, which would make room.
 */
export class Reserve {
  readonly #path: string;
  #isThere = false;

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(path: string): Promise<Reserve> {
    const reserve = new Reserve(path);
    await reserve.refill();
    return reserve;
  }

  /** Does the work, and again without the reserve if there was no room. */
  async useFor(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
      await rm(this.#path, { force: true });
      this.#isThere = false;
      await work();
    }
    await this.refill();
  }

  /** Makes the reserve again once there is room. */
  async refill(): Promise<void> {
    if (this.#isThere) return;
    this.#isThere = true; // one at a time
    try {
      const file = await open(this.#path, 'r+').catch(async (error: unknown): Promise<FileHandle> => {
        if (isCode(error, 'ENOENT')) return open(this.#path, 'wx', 0o600);
        throw error;
      });
      try {
        const { size } = await file.stat();
        if (size < reserveBytes) await file.write(randomBytes(reserveBytes), 0, reserveBytes, 0);
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#isThere = false;
      if (!isOutOfRoom(error)) throw error;
      await rm(this.#path, { force: true });
    }
  }
}
