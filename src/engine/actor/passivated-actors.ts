/**
 * Facts about actors that have left memory: enough to notice that the store has lost their commits, and to write a lost
 * deletion again. Keeps all living actors, but only the latest deleted ones.
 */
import { OldestFirst } from '../delivery/oldest-first.js';
import type { ActorState } from './step-result.js';

export interface Departed {
  address: string;
  commitId: string;
  seq: number;
  /** State of a deleted actor; absent for an actor that lives in the store. */
  tombstone?: ActorState;
}

const mostDeleted = 10_000;

export class PassivatedActors {
  readonly #living = new Map<string, Departed>();
  readonly #deleted = new OldestFirst<string, Departed>();

  add(departed: Departed): void {
    const { address, tombstone, seq } = departed;
    if (seq === 0) return; // the actor never existed
    if (!tombstone) {
      this.#living.set(address, departed);
      return;
    }
    this.#deleted.add(address, departed);
    const { oldest } = this.#deleted;
    if (this.#deleted.size > mostDeleted && oldest !== undefined) this.#deleted.delete(oldest);
  }

  /** Removes and returns the facts about an actor that is back in memory. */
  take(address: string): Departed | undefined {
    const departed = this.#living.get(address) ?? this.#deleted.get(address);
    this.#living.delete(address);
    this.#deleted.delete(address);
    return departed;
  }

  addresses(): string[] {
    return [...this.#living.keys(), ...this.#deleted.keys()];
  }
}
