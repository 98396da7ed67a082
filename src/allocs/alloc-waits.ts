/** Words on what an alloc waits for. Imports only types: the command line loads this file, and no machine. */
import type { AllocVolumeStatus } from './alloc-view.js';

/** Parts of a status that say what the alloc waits for. */
export interface Waiting {
  waits: Record<string, string>;
  volumes?: readonly Pick<AllocVolumeStatus, 'name' | 'underWay'>[];
}

/** Returns the reasons why volumes wait, by the volume's name, with calls in flight. */
export function allWaitsOf({ waits, volumes = [] }: Waiting): Record<string, string> {
  const calls = volumes.flatMap(({ name, underWay }) =>
    underWay === undefined || name in waits ? [] : [[name, underWay]],
  );
  return { ...waits, ...Object.fromEntries(calls) };
}

/** In words: `name: why`. */
export const waitReasonsOf = (alloc: Waiting): string[] =>
  Object.entries(allWaitsOf(alloc)).map(([name, reason]) => `${name}: ${reason}`);
