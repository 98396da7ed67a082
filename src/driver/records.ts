/**
 * What the driver remembers: one JSON file per record, all of them in memory too. A record is on disk, whole, before
 * `put` resolves: killed at any moment, the next driver finds either the one before or the one after.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, StagecraftError } from '../errors.js';

const extension = '.json';
const unfinished = '.tmp';

/** Ids become file names: they must be the driver's own. */
export class Records<T extends { readonly id: string }> {
  readonly #directory: string;
  readonly #records = new Map<string, T>();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws {StagecraftError} DRIVER_STATE_BROKEN: a file that is no record; nothing is dropped */
  static async open<T extends { readonly id: string }>(directory: string): Promise<Records<T>> {
    const records = new Records<T>(directory);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const file of await readdir(directory)) {
      const path = join(directory, file);
      if (file.endsWith(unfinished)) await rm(path);
      else if (file.endsWith(extension)) records.#records.set(file.slice(0, -extension.length), await read<T>(path));
    }
    return records;
  }

  get(id: string): T | undefined {
    return this.#records.get(id);
  }

  /** In the order of their ids. */
  all(): T[] {
    return [...this.#records.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  find(matches: (record: T) => boolean): T | undefined {
    for (const record of this.#records.values()) if (matches(record)) return record;
    return undefined;
  }

  /** In place of what has the same id. Not two at a time for one id. */
  async put(record: T): Promise<void> {
    const path = this.#pathOf(record.id);
    const file = await open(path + unfinished, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(record, null, 2));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(path + unfinished, path);
    this.#records.set(record.id, record); // it counts from here on, also where it is not known to outlive a power cut
    await this.#sync();
  }

  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true });
    this.#records.delete(id);
    await this.#sync();
  }

  #pathOf(id: string): string {
    return join(this.#directory, id + extension);
  }

  /** Names are in the directory: they are on disk once that is. */
  async #sync(): Promise<void> {
    const directory = await open(this.#directory);
    await directory.sync().finally(() => directory.close());
  }
}

async function read<T>(path: string): Promise<T> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const message = `${path} can't be read (${messageOf(cause)}): mend it, or move it away to go on without what it stands for`;
    throw new StagecraftError('DRIVER_STATE_BROKEN', message, { cause });
  }
}
