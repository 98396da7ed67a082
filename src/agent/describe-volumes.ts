/** What becomes of volumes, in words for a person. */
import { describeLeftover } from '../../machines/volume-requests.js';
import type { Leftover } from '../../machines/volume-types.js';

/** What may be left of a deleted volume, each with what its plugin knows it by. */
export const describeLeftovers = (leftovers: Leftover[]): string[] => leftovers.map(describeLeftover);
