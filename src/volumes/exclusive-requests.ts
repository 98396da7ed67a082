/**
 * Requests of this process that would give an actor something that only one actor may have. Each looks first whether another
 * has it, then commits: of two such requests at once the second is refused, as neither finds what the other commits. The
 * records are the truth; this list ends with its process, as its requests do: docs/decisions/0016-slots-and-names-of-nodes.md
 */
import type { StagecraftError } from '../errors.js';
import { type DecidedPorts, decided, isOpen } from './decided.js';

export interface Holding {
  /** Of the actor that is to have them. */
  address: string;
  things: readonly string[];
  /** Why it can't have one that another has, or is about to have. @param holder the address of that */
  refusal(thing: string, holder: string): StagecraftError;
}

export class ExclusiveRequests {
  readonly #ports: DecidedPorts;
  /** By thing: who is about to have it, and in how many requests. */
  readonly #coming = new Map<string, { address: string; requests: number }>();

  constructor(ports: DecidedPorts) {
    this.#ports = ports;
  }

  /** Does what gives things to one: `work` looks who has them, and commits. @throws `refusal`, and what the work throws */
  async within<T>({ address, things, refusal }: Holding, work: () => Promise<T>): Promise<T> {
    for (const thing of things) {
      const holder = this.comingTo(thing, address);
      if (holder !== undefined) throw refusal(thing, holder);
    }
    const leave = this.enter(address, things);
    try {
      const done = await work();
      leave();
      return done;
    } catch (error) {
      if (isOpen(error)) void decided(this.#ports, address).then(leave);
      else leave();
      throw error;
    }
  }

  /** The address of another one that is about to have it. */
  comingTo(thing: string, address: string): string | undefined {
    const holder = this.#coming.get(thing)?.address;
    return holder === address ? undefined : holder;
  }

  /** Reserves things that no other one is about to have, until the answer is called. */
  enter(address: string, things: readonly string[]): () => void {
    for (const thing of things) this.#count(thing, address, 1);
    return () => {
      for (const thing of things) this.#count(thing, address, -1);
    };
  }

  #count(thing: string, address: string, change: 1 | -1): void {
    const requests = (this.#coming.get(thing)?.requests ?? 0) + change;
    if (requests > 0) this.#coming.set(thing, { address, requests });
    else this.#coming.delete(thing);
  }
}
