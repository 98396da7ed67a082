/** Port for randomness, so that a run can be repeated from its seed. */
import { randomUUID } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Returns an id that was never returned before. */
  id(): string;
}

export const systemRandom: Random = { next: () => Math.random(), id: () => randomUUID() };
