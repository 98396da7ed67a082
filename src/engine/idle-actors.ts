/** Actors that could leave memory, the one that rested longest first: they stay as long as there is room. */

import type { Actor } from './actor.js';
import { Line } from './line.js';

export class IdleActors {
  readonly #limitBytes: number;
  readonly #leave: (actor: Actor) => void;
  readonly #line = new Line<Actor>();
  /** What each of them takes. */
  readonly #bytes = new Map<Actor, number>();
  #total = 0;

  /**
   * @param limitBytes what the records of those that stay may take as text
   * @param leave called for those that there is no room for
   */
  constructor(limitBytes: number, leave: (actor: Actor) => void) {
    this.#limitBytes = limitBytes;
    this.#leave = leave;
  }

  add(actor: Actor): void {
    this.delete(actor);
    this.#line.join(actor);
    this.#bytes.set(actor, actor.bytes);
    this.#total += actor.bytes;
    if (this.#total > this.#limitBytes) this.#makeRoom();
  }

  delete(actor: Actor): void {
    if (!this.#line.leave(actor)) return;
    this.#total -= this.#bytes.get(actor) ?? 0;
    this.#bytes.delete(actor);
  }

  #makeRoom(): void {
    for (let { first } = this.#line; first && this.#total > this.#limitBytes; { first } = this.#line) {
      this.delete(first);
      this.#leave(first);
    }
  }
}
