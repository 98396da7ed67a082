/** Actors that could leave memory, the one that rested longest first: they stay as long as there is room. */

import { OldestFirst } from '../delivery/oldest-first.js';
import type { Actor } from './actor.js';

export class IdleActors {
  readonly #limitBytes: number;
  readonly #leave: (actor: Actor) => void;
  /** In the order in which they came to rest, each with the bytes of its record. */
  readonly #bytes = new OldestFirst<Actor, number>();
  #total = 0;

  /**
   * @param limitBytes what the records of those that stay may stepActor as text
   * @param leave called for those that there is no room for
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
