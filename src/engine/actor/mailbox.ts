/** Queue of one actor: changes by the engine first, then messages in the order of their arrival. */
import type { Change } from './actor-record.js';
import type { Mail, Request } from './message.js';

/** Shared by all actors without queued changes, which are most. */
const none: readonly never[] = Object.freeze([]);

export class Mailbox {
  readonly #mail: Mail[] = [];
  /** Changes that the engine makes before the actor handles its next message. */
  changes: readonly Change[] = none;

  get isEmpty(): boolean {
    return this.#mail.length + this.changes.length === 0;
  }

  /** All queued messages, oldest first, without the engine's changes. */
  get mail(): readonly Mail[] {
    return this.#mail;
  }

  post(mail: Mail): void {
    this.#mail.push(mail);
  }

  /**
   * Removes and returns the next entry.
   * @param seq of the actor: skips a change that forgets a deleted actor if the actor was created again since
   */
  next(seq: number): Mail | undefined {
    while (this.changes.length > 0) {
      const [change, ...others] = this.changes;
      this.changes = others;
      if (change && (change.kind !== 'forgotten' || change.seq === seq)) return { kind: 'engine', change };
    }
    return this.#mail.shift();
  }

  /** Puts back the entry that was removed last, as the next one. */
  putBack(mail: Mail): void {
    if (mail.kind === 'engine') this.changes = [mail.change, ...this.changes];
    else this.#mail.unshift(mail);
  }

  /** @returns whether the request was still queued */
  remove(request: Request): boolean {
    const at = this.#mail.indexOf(request);
    if (at >= 0) this.#mail.splice(at, 1);
    return at >= 0;
  }

  takeAll(): Mail[];
  takeAll(kind: 'request'): Request[];
  takeAll(kind?: 'request'): Mail[] {
    const all = this.#mail.splice(0);
    if (kind === undefined) return all;
    this.#mail.push(...all.filter((mail) => mail.kind !== kind));
    return all.filter((mail) => mail.kind === kind);
  }
}
