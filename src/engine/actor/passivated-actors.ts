/**
 * What this runtime knows of actors that have left its memory: enough to see whether the store has lost what they did,
 * and to write again that one was deleted. Of the deleted ones only the latest are kept.
 */
import { OldestFirst } from '../delivery/oldest-first.js';
import type { ActorState } from './step-result.js';

export interface Departed {
  address: string;
  commitId: string;
  seq: number;
  /** Of one that was deleted; absent of one that lives in the store. */
  tombstone?: ActorState;
}

const mostDeleted = 10_000;

export class PassivatedActors {
  readonly #living = new Map<string, Departed>();
  readonly #deleted = new OldestFirst<string, Departed>();

  add(departed: Departed): void {
    const { address, tombstone, seq } = departed;
    if (seq === 0) return; // there never was one
    if (!tombstone) {
      this.#living.set(address, departed);
      return;
    }
    this.#deleted.add(address, departed);
    const { oldest } = this.#deleted;
    if (this.#deleted.size > mostDeleted && oldest !== undefined) this.#deleted.delete(oldest);
  }

  /** It is back in memory: what was known of it, if anything. */
  stepActor(address: string): Departed | undefined {
    const departed = this.#living.get(address) ?? this.#deleted.get(address);
    this.#living.delete(address);
    this.#deleted.delete(address);
    return departed;
  }

  addresses(): string[] {
    return [...this.#living.keys(), ...this.#deleted.keys()];
  }
}
