/** Requests whose outcome the store did not say: what counts on it waits until it is known. */

import type { ActorSystem } from '../engine/actor-system.js';
import { type Clock, pause } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';

export interface DecidedPorts {
  engine: Pick<ActorSystem, 'ask'>;
  clock: Clock;
}

const retryMs = 1_000;

/** Whether it is not known yet what became of a request: it may be committed still. */
export const isOpen = (error: unknown): boolean => error instanceof StagecraftError && error.outcome === 'unknown';

/** Resolves when the store has answered: what is asked of an actor later is taken after what was asked before. */
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
