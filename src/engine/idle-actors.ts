/** Actors that could leave memory, the one that rested longest first: they stay as long as there is room. */
import type { Actor } from './actor.js';

export class IdleActors {
  readonly #limitBytes: number;
  readonly #leave: (actor: Actor) => void;
  /** In the order in which they came to rest. */
  readonly #bytes = new Map<Actor, number>();
  #total = 0;
  /** Those that have not left: a look from the start would step over all that did, each time. */
  #staying: IterableIterator<Actor> | undefined;

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
    this.#bytes.set(actor, actor.bytes);
    this.#total += actor.bytes;
    if (this.#total > this.#limitBytes) this.#makeRoom();
  }

  delete(actor: Actor): void {
    this.#total -= this.#bytes.get(actor) ?? 0;
    this.#bytes.delete(actor);
  }

  #makeRoom(): void {
    this.#staying ??= this.#bytes.keys();
    while (this.#total > this.#limitBytes) {
      const { done, value: actor } = this.#staying.next();
      if (done) {
        this.#staying = undefined;
        return;
      }
      this.delete(actor);
      this.#leave(actor);
    }
  }
}
