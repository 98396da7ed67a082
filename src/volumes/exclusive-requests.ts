/**
 * Keeps two requests of this process from giving one unique thing, such as a CSI id, to two actors. Each request first checks
 * the records, then commits: neither of two at once would find the other's commit, so the second is refused.
 * The list is in memory only, and ends with its process, as the requests do: docs/decisions/0016-slots-and-names-of-nodes.md
 */

import type { ActorSystem } from '../engine/actor-system.js';
import { type Clock, pause } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';

export interface Holding {
  address: string;
  things: readonly string[];
  /** Makes the error for a thing that another actor has or is about to get. @param holder address of that actor */
  refusal(thing: string, holder: string): StagecraftError;
}

export class ExclusiveRequests {
  readonly #ports: DecidedPorts;
  /** Actor that is about to get a thing, by thing, with its number of open requests. */
  readonly #coming = new Map<string, { address: string; requests: number }>();

  constructor(ports: DecidedPorts) {
    this.#ports = ports;
  }

  /**
   * Runs a request that gives things to an actor. `work` checks the records, then commits.
   * @throws `refusal`, and the errors of `work`
   */
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

  /** Returns the address of another actor that is about to get the thing. */
  comingTo(thing: string, address: string): string | undefined {
    const holder = this.#coming.get(thing)?.address;
    return holder === address ? undefined : holder;
  }

  /** Reserves things that no other actor is about to get. @returns function that ends the reservation */
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

interface DecidedPorts {
  engine: Pick<ActorSystem, 'ask'>;
  clock: Clock;
}

const retryMs = 1_000;

/** Whether an error leaves the outcome of its request open: the request may still be committed. */
export const isOpen = (error: unknown): boolean => error instanceof StagecraftError && error.outcome === 'unknown';

/**
 * Resolves once earlier requests to an actor are committed or dropped. It sends one more message, as an actor handles its
 * messages in order, and repeats that until the store answers.
 */
export async function decided({ engine, clock }: DecidedPorts, address: string): Promise<void> {
  for (;;) {
    try {
      await engine.ask(address, { type: 'settle' });
      return;
    } catch (error) {
      if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) return;
      await pause(clock, retryMs);
    }
  }
}
