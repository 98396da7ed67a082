/** Queue of one actor: changes by the engine first, then messages in the order of their arrival. */
import type { EngineChange } from './actor-record.js';
import type { Message, Request } from './message.js';

/** Shared by all actors without queued changes, which are most. */
const none: readonly never[] = Object.freeze([]);

export class Mailbox {
  readonly #messages: Message[] = [];
  /** Changes that the engine makes before the actor handles its next message. */
  changes: readonly EngineChange[] = none;

  get isEmpty(): boolean {
    return this.#messages.length + this.changes.length === 0;
  }

  /** All queued messages, oldest first, without the engine's changes. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  post(message: Message): void {
    this.#messages.push(message);
  }

  /**
   * Removes and returns the next entry.
   * @param seq of the actor: skips a change that forgets a deleted actor if the actor was created again since
   */
  next(seq: number): Message | undefined {
    while (this.changes.length > 0) {
      const [change, ...others] = this.changes;
      this.changes = others;
      if (change && (change.kind !== 'forgotten' || change.seq === seq)) return { kind: 'engine', change };
    }
    return this.#messages.shift();
  }

  /** Next message, if no change by the engine comes before it. */
  get first(): Message | undefined {
    return this.changes.length === 0 ? this.#messages[0] : undefined;
  }

  /** Removes the first message. */
  take(): void {
    this.#messages.shift();
  }

  /** Makes an entry that was removed the next one again. */
  putBack(message: Message): void {
    if (message.kind === 'engine') this.changes = [message.change, ...this.changes];
    else this.#messages.unshift(message);
  }

  /** @returns whether the message was still queued */
  remove(message: Message): boolean {
    const at = this.#messages.indexOf(message);
    if (at >= 0) this.#messages.splice(at, 1);
    return at >= 0;
  }

  takeAll(): Message[];
  takeAll(kind: 'request'): Request[];
  takeAll(kind?: 'request'): Message[] {
    const all = this.#messages.splice(0);
    if (kind === undefined) return all;
    this.#messages.push(...all.filter((message) => message.kind !== kind));
    return all.filter((message) => message.kind === kind);
  }
}
