/** The output of a transcript: lines in the order in which things happen, with the time where it has moved on. */
import type { Timeline } from '../simulation/timeline.js';

/** Turns of the event loop without news, after which all present work has come to rest. */
const quietTurns = 10;

export class Output {
  readonly #timeline: () => Timeline;
  /** By the plugin's name of a volume: the name that its users know. */
  readonly #names = new Map<string, string>();
  #lines: string[] = [];
  #replies: string[] = [];
  /** Time of the last line. */
  #saidAtMs = 0;
  #quietFor = 0;

  constructor(timeline: () => Timeline) {
    this.#timeline = timeline;
  }

  /** The lines since the last time. */
  taken(): string[] {
    this.#flush();
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  /** Whether something was said lately; counts turns of the event loop. */
  isBusy(): boolean {
    this.#quietFor += 1;
    if (this.#quietFor < quietTurns) return true;
    this.#quietFor = 0;
    return false;
  }

  stir(): void {
    this.#quietFor = 0;
  }

  line(text: string): void {
    this.stir();
    const { monotonicMs } = this.#timeline();
    if (monotonicMs !== this.#saidAtMs) {
      this.#flush();
      this.#lines.push(`at ${(monotonicMs / 1_000).toFixed(3)} s`);
    }
    this.#saidAtMs = monotonicMs;
    this.#lines.push(text);
  }

  /** Comes last of all that happens at a time, so that its place says nothing of promises in this process. */
  reply(text: string): void {
    this.stir();
    this.#replies.push(`reply  ${text}`);
  }

  callBegun(call: string): void {
    this.line(this.#named(call));
  }

  /** A call that ends when it has begun is one line. */
  callEnded(call: string, outcome: string): void {
    const text = this.#named(call);
    const isNow = this.#saidAtMs === this.#timeline().monotonicMs;
    const begun = this.#lines.indexOf(text, isNow ? this.#lines.findLastIndex(isTime) + 1 : this.#lines.length);
    if (begun >= 0) this.#lines.splice(begun, 1);
    this.line(`${text} → ${outcome}`);
  }

  /** From now on calls about this volume of the plugin say the name that its users know. */
  name(pluginName: string, volume: string): void {
    this.#names.set(pluginName, volume);
  }

  #named(call: string): string {
    const words = call.split(' ').map((word) => this.#names.get(word) ?? word);
    return `csi  ${words.join(' ')}`;
  }

  #flush(): void {
    if (this.#replies.length === 0) return;
    this.#lines.push(...this.#replies);
    this.#replies = [];
  }
}

const isTime = (line: string): boolean => line.startsWith('at ');
