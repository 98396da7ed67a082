/** Embedded store of a runtime that has been given another one: what is in it is not known any more, so the runtime says so. */
import { join } from 'node:path';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import { countRecords } from '../stores/lmdb/lmdb-check.js';
import { isOpenHere } from '../stores/lmdb/open-paths.js';

/** Reads the embedded store of a runtime that has been given another one, beside its work. */
export class LeftStore {
  readonly #dataDir: string;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #stop = new AbortController();
  #reading: Promise<void> | undefined;

  /** @param dataDir locked by this process */
  constructor(dataDir: string, logger: Pick<Logger, 'warn'>) {
    this.#dataDir = dataDir;
    this.#logger = logger;
  }

  start(): void {
    const dataDir = this.#dataDir;
    const warn = (line: string): void => this.#logger.warn({ dataDir }, line);
    this.#reading = warnOfLeftStore(dataDir, { warn, signal: this.#stop.signal });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }
}

/**
 * Warns of an embedded store with volumes in it, or of one that can't be read. Changes nothing in that store. Resolves once
 * nothing reads there any more.
 * @param dataDir locked by this process
 * @param signal ends the reading, without a word
 */
export async function warnOfLeftStore(
  dataDir: string,
  { warn, signal }: { warn(line: string): void; signal: AbortSignal },
): Promise<void> {
  const path = join(dataDir, 'state');
  // The store that is configured may be just that one, or one around it.
  if (isOpenHere(path)) return;
  try {
    const volumes = await countRecords(path, { prefix: volumesPrefix, signal });
    if (volumes === 0) return;
    const kept = `${path} has ${volumes} volumes of the embedded store, which the store that is configured does not know`;
    warn(`${kept}: to go on with them, take store.redis out of the configuration; else move that directory away`);
  } catch (error) {
    if (signal.aborted) return;
    warn(`${path} is not used any more, as another store is configured, and can't be read: ${messageOf(error)}`);
  }
}
