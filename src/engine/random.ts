/** Chance as the engine sees it: one port, so that a run can be repeated from its seed. */
import { randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** An id that was never given out before. */
  id(): string;
}

export const systemRandom: Random = { next: () => Math.random(), id: () => randomUUID() };
