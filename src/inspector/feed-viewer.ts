/**
 * Place of one viewer in the live feed: keeps the newest records until the viewer reads them. A viewer that does not keep
 * up loses the oldest records, and is told how many. One that does not read at all stops listening, until it reads again:
 * records that are kept for long cost the runtime more than those that are read at once.
 */
import type { FeedRecord } from '../engine/feed.js';
import type { FeedListener, Shown } from '../runtime/runtime.js';

/** Source of records: `runtime.inspect`. */
export type Inspectable = { inspect(listener: FeedListener): () => void };

export interface ViewerOptions {
  /** Records kept for this viewer, at most; default 10,000. */
  most?: number;
  /** Which records it wants; default: all. A record that it does not want is not counted as dropped. */
  wants?(record: FeedRecord): boolean;
}

/** Records in their order, and how many were dropped before the first of them. */
export interface FeedBatch {
  records: Shown<FeedRecord>[];
  dropped: number;
  /** More than `dropped` were lost: the viewer had stopped listening. What it knows of actors may be out of date. */
  stopped?: true;
}

export class FeedViewer {
  readonly #most: number;
  readonly #wants: (record: FeedRecord) => boolean;
  readonly #source: Inspectable;
  /** Ends the listening; undefined: it has stopped, until the next read. */
  #unwatch: (() => void) | undefined;
  /** Ring of the newest records; `#next` is where the next one goes, and once it is full also the oldest. */
  #ring: Shown<FeedRecord>[] = [];
  #next = 0;
  #dropped = 0;
  #wake: (() => void) | undefined;
  #isClosed = false;

  constructor(source: Inspectable, { most = 10_000, wants = () => true }: ViewerOptions = {}) {
    this.#most = most;
    this.#wants = wants;
    this.#source = source;
    this.#listen();
  }

  /** Resolves with the records since the last call, once there is one; undefined: the viewer was closed. */
  async read(): Promise<FeedBatch | undefined> {
    if (!this.#unwatch && !this.#isClosed) {
      this.#listen();
      return { ...this.#take(), stopped: true };
    }
    while (this.#ring.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#isClosed ? undefined : this.#take();
  }

  /** Safe to repeat. */
  close(): void {
    this.#isClosed = true;
    this.#unwatch?.();
    this.#ring = [];
    this.#wake?.();
  }

  #listen(): void {
    this.#unwatch = this.#source.inspect((record) => this.#keep(record));
  }

  #keep(record: Shown<FeedRecord>): void {
    if (!this.#wants(record)) return;
    if (this.#ring.length < this.#most) {
      this.#ring.push(record);
    } else {
      this.#ring[this.#next] = record;
      this.#dropped += 1;
      this.#next = (this.#next + 1) % this.#most;
      if (this.#dropped === this.#most) this.#stop();
    }
    if (this.#wake) {
      this.#wake();
      this.#wake = undefined;
    }
  }

  /** Lets all records go: a whole ring of them was lost, and nobody has read. */
  #stop(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#dropped += this.#ring.length;
    this.#ring = [];
    this.#next = 0;
  }

  #take(): FeedBatch {
    const records =
      this.#next === 0 ? this.#ring : [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    const batch = { records, dropped: this.#dropped };
    this.#ring = [];
    this.#next = 0;
    this.#dropped = 0;
    return batch;
  }
}
