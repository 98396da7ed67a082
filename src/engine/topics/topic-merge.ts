/**
 * Follows several topics at once. Rows that are there at the beginning come in the order of their times, later ones as they
 * are appended. One topic: topic-reader.ts
 */
import { onAbort } from '../../abort.js';
import type { Cursor } from '../store.js';
import type { FollowedRow } from './event-ids.js';
import type { TopicReader } from './topic-reader.js';
import { eventOf, type Topics } from './topics.js';

/** Cursors by the names of topics. */
export type Cursors = ReadonlyMap<string, Cursor>;

interface MergeOptions {
  topics: Pick<Topics, 'range' | 'follow'>;
  names: readonly string[];
  /** Last rows that were read; `now` is the moment of this call. */
  from: Cursors | 'now' | 'oldest';
  /** Last rows to read; default: no end. */
  until?: Cursors | 'now' | undefined;
  signal?: AbortSignal | undefined;
}

/** A row, and the cursors of all topics after it. */
export interface MergedRow {
  topic: string;
  row: FollowedRow;
  cursors: Cursors;
}

/** A topic that can't be followed further, and the cursors until then. */
export class TopicFault extends Error {
  constructor(
    readonly topic: string,
    readonly cursors: Cursors,
    override readonly cause: unknown,
  ) {
    super(`${topic} can't be followed`);
  }
}

interface Track {
  reader: TopicReader<FollowedRow>;
  cursor: Cursor;
  /** Newest row at the beginning. */
  newest: Cursor;
  last: Cursor;
  head: FollowedRow | undefined;
}

export class TopicMerge implements AsyncIterableIterator<MergedRow, void> {
  readonly #options: MergeOptions;
  readonly #stop = new AbortController();
  readonly #tracks = new Map<string, Track>();
  readonly #rows: AsyncGenerator<MergedRow, void>;
  readonly #begun: Promise<void>;
  #fault: TopicFault | undefined;
  #isOver = false;
  #wake = (): void => {};

  constructor(options: MergeOptions) {
    this.#options = options;
    this.#begun = this.#begin();
    // A merge that is never read must not crash the process.
    this.#begun.catch(() => {});
    if (options.signal) onAbort(options.signal, this.#end);
    this.#rows = this.#run();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<MergedRow, void>> {
    return this.#rows.next();
  }

  return(): Promise<IteratorResult<MergedRow, void>> {
    this.#end();
    return this.#rows.return();
  }

  readonly #end = (): void => {
    this.#isOver = true;
    this.#stop.abort();
    this.#wake();
  };

  async #begin(): Promise<void> {
    const { topics, names, from, until } = this.#options;
    const ranges = await Promise.all(names.map((name) => topics.range(name)));
    for (const [index, name] of names.entries()) {
      const { oldest = 1, newest = 0 } = ranges[index] ?? {};
      const cursor = from === 'now' ? newest : from === 'oldest' ? Math.max(oldest - 1, 0) : (from.get(name) ?? newest);
      const end = until === 'now' ? newest : until?.get(name);
      const reader = topics.follow(name, cursor, this.#stop.signal);
      const last = until === undefined ? Number.POSITIVE_INFINITY : (end ?? newest);
      this.#tracks.set(name, { reader, cursor, newest: Math.min(newest, last), last, head: undefined });
    }
    for (const name of names) this.#pull(name);
  }

  /** Asks for the next row of a topic, which becomes its head. */
  #pull(topic: string): void {
    const track = this.#tracks.get(topic);
    if (!track || track.cursor >= track.last) return;
    track.reader.next().then(
      ({ value }) => {
        if (value) track.head = value;
        else this.#isOver = true;
        this.#wake();
      },
      (cause: unknown) => {
        this.#fault ??= new TopicFault(topic, this.#cursors(), cause);
        this.#wake();
      },
    );
  }

  async *#run(): AsyncGenerator<MergedRow, void> {
    try {
      await this.#begun;
      while (!this.#isOver) {
        const topic = this.#oldest();
        const track = topic === undefined ? undefined : this.#tracks.get(topic);
        const row = track?.head;
        if (topic !== undefined && track && row) {
          track.head = undefined;
          track.cursor = row.cursor;
          this.#pull(topic);
          yield { topic, row, cursors: this.#cursors() };
        } else if (this.#fault) throw this.#fault;
        else if ([...this.#tracks.values()].every(({ cursor, last }) => cursor >= last)) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.#end();
    }
  }

  /** Topic of the oldest head; undefined while an older row may still come. */
  #oldest(): string | undefined {
    let oldest: { topic: string; at: number } | undefined;
    for (const [topic, { cursor, newest, head }] of this.#tracks) {
      if (head) {
        const at = this.#timeOf(topic, head);
        if (!oldest || at < oldest.at) oldest = { topic, at };
      } else if (cursor < newest) return undefined;
    }
    return oldest?.topic;
  }

  #timeOf(topic: string, row: FollowedRow): number {
    try {
      return eventOf<{ at: number }>(row).at;
    } catch (cause) {
      throw new TopicFault(topic, this.#cursors(), cause);
    }
  }

  #cursors(): Cursors {
    return new Map([...this.#tracks].map(([topic, { cursor }]) => [topic, cursor]));
  }
}
