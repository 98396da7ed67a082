/**
 * Idle actors in memory, in the order in which they came to rest. Removes the oldest ones when their records need too
 * much room.
 */

import { OldestFirst } from '../delivery/oldest-first.js';
import type { Actor } from './actor.js';

export class IdleActors {
  readonly #limitBytes: number;
  readonly #leave: (actor: Actor) => void;
  /** Size of each actor's record in bytes, oldest first. */
  readonly #bytes = new OldestFirst<Actor, number>();
  #total = 0;

  /**
   * @param limitBytes limit for the total size of the records, as text
   * @param leave called for each actor that must leave
   */
  constructor(limitBytes: number, leave: (actor: Actor) => void) {
    this.#limitBytes = limitBytes;
    this.#leave = leave;
  }

  add(actor: Actor): void {
    this.delete(actor);
    this.#bytes.add(actor, actor.bytes);
    this.#total += actor.bytes;
    if (this.#total > this.#limitBytes) this.#makeRoom();
  }

  delete(actor: Actor): void {
    this.#total -= this.#bytes.get(actor) ?? 0;
    this.#bytes.delete(actor);
  }

  #makeRoom(): void {
    for (let actor = this.#bytes.oldest; actor && this.#total > this.#limitBytes; actor = this.#bytes.oldest) {
      this.delete(actor);
      this.#leave(actor);
    }
  }
}
