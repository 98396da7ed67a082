/** Follows a topic in the background and keeps its rows. */
import type { TopicRow } from '../../src/engine/store.js';

export class Reader {
  readonly rows: TopicRow[] = [];
  readonly said: string[] = [];
  state: 'reading' | 'ended' | 'failed' = 'reading';
  error: unknown;

  /** @param pace awaited after each row: sets the speed of this reader */
  constructor(events: AsyncIterable<TopicRow>, pace: () => Promise<void>) {
    this.#read(events, pace).then(
      () => {
        this.state = 'ended';
      },
      (error) => {
        this.state = 'failed';
        this.error = error;
      },
    );
  }

  async #read(events: AsyncIterable<TopicRow>, pace: () => Promise<void>): Promise<void> {
    for await (const row of events) {
      this.rows.push(row);
      this.said.push(JSON.parse(row.text).text);
      await pace();
    }
  }
}

export const reader = (events: AsyncIterable<TopicRow>, pace: () => Promise<void> = async () => {}): Reader =>
  new Reader(events, pace);
