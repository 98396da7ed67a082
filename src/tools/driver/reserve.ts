/**
 * Reserve file for a full file system: without it an unmounted volume could not be forgotten, and so never be
 * deleted, which would make room.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { isCode, isOutOfRoom } from './disk.js';

/** Room for some records and their blocks. */
const reserveBytes = 64 * 1024;

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
