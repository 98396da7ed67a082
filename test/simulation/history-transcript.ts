/** Transcript of a history: its calls and answers, the states that were committed, and the moment of each. */
import type { Timeline } from './timeline.js';

/** A line of a transcript that says nothing of states. */
export interface Happening {
  /** Since the beginning of the history. */
  atMs: number;
  /** `calls`: calls of the plugin and of claims, and events around the runtimes; `answers`: requests, answers, broadcasts. */
  of: 'calls' | 'answers';
  text: string;
  /** Sent with a call. */
  request?: object | undefined;
}

export interface TranscriptOptions {
  /** Keeps the lines. */
  isTold?: boolean;
  /** Called with each call and each answer, in order. */
  happened?(happening: Happening): void;
}

export class HistoryTranscript {
  readonly lines: string[] = [];
  readonly #timeline: Timeline;
  readonly #options: TranscriptOptions;

  constructor(timeline: Timeline, options: TranscriptOptions) {
    this.#timeline = timeline;
    this.#options = options;
  }

  call(text: string, request?: object): void {
    this.#happen({ of: 'calls', text, request });
  }

  answer(text: string): void {
    this.#happen({ of: 'answers', text });
  }

  state(text: () => string): void {
    if (this.#options.isTold) this.#keep(text());
  }

  #happen(what: Omit<Happening, 'atMs'>): void {
    this.#options.happened?.({ atMs: this.#timeline.monotonicMs, ...what });
    if (this.#options.isTold) this.#keep(what.text);
  }

  #keep(text: string): void {
    this.lines.push(`${String(this.#timeline.monotonicMs).padStart(8)} ms  ${text}`);
  }
}
