/** Handles requests with an unknown outcome: the store did not answer, so the commit may still happen. */

import type { ActorSystem } from '../engine/actor-system.js';
import { type Clock, pause } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';

export interface DecidedPorts {
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
