/** What must hold of nodes: once one counts as fenced, or as back from that, every volume that was there knows. */
import type { StateValue } from 'xstate';
import type { VolumeContext } from '../../machines/volume/types.js';

const fencing = ['{"down":"fencing"}', '{"gone":"releasing"}'];

/** @param volumes as committed last */
export function fenceFaults(
  id: string,
  { before, event = '' }: { before: StateValue; event?: string | undefined },
  volumes: Iterable<VolumeContext>,
): string[] {
  const isOver = fencing.includes(JSON.stringify(before)) && event.startsWith('xstate.done.actor.release');
  if (!isOver) return [];
  return [...volumes].flatMap(({ key, publications, claims, waiting }) => {
    const publication = publications[id];
    const held = claims.filter(({ nodeId, state }) => nodeId === id && state !== 'node-detached');
    const waits = waiting.filter(({ nodeId }) => nodeId === id);
    const isKept = publication !== undefined && publication.fenced === undefined;
    if (!isKept && held.length + waits.length === 0) return [];
    return [`node ${id} is fenced, and ${key.id} has not heard: ${JSON.stringify({ publication, held, waits })}`];
  });
}
