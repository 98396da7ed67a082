/** The kernel's mount table for many who ask at once: one reading serves all who asked before it began. */
import { readMountTable } from '../host/mount-info.js';
import type { MountEntry, MountTable } from '../host/mount-table.js';

export class MountTables {
  readonly #read: () => Promise<MountTable>;
  #present: Promise<unknown> | undefined;
  #next: Promise<MountTable> | undefined;
  #last: MountTable | undefined;

  /** @param read default: the mounts of this process */
  constructor(read: () => Promise<MountTable> = () => readMountTable()) {
    this.#read = read;
  }

  /**
   * Reads the table after this call.
   * @throws Error if it can't be read
   */
  table(): Promise<MountTable> {
    this.#next ??= this.#after(this.#present);
    return this.#next;
  }

  /** Returns the mount last observed at a path: for properties that do not change while it is mounted. */
  async known(path: string): Promise<MountEntry | undefined> {
    return this.#last?.at(path).at(-1) ?? (await this.table()).at(path).at(-1);
  }

  async #after(present: Promise<unknown> | undefined): Promise<MountTable> {
    // Callers in the same turn share one read.
    await Promise.allSettled([present]);
    const reading = this.#read();
    this.#present = reading;
    this.#next = undefined;
    this.#last = await reading;
    return this.#last;
  }
}
