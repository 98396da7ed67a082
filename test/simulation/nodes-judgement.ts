/**
 * What must hold of nodes: once one counts as fenced, or as back from that, every volume that was there knows; and none has
 * more volumes than it takes.
 */
import type { StateValue } from 'xstate';
import type { NodeContext } from '../../machines/node/node.js';
import { countOf, slotsOf } from '../../machines/node/node-slots.js';
import { publicStateOf } from '../../machines/volume/publication.js';
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

const limitOf = ({ plugins }: NodeContext, plugin: string): number | undefined =>
  plugins.find(({ name }) => name === plugin)?.maxVolumes;

/**
 * A slot was given out beyond the limit, or a count has left out a volume.
 * @param before as committed before; absent: there was none
 * @param volumes as committed last
 */
export function roomFaults(
  before: NodeContext | undefined,
  after: NodeContext,
  { event, volumes }: { event: string; volumes: Iterable<VolumeContext> },
): string[] {
  if (event === 'node.slots-counted') return [...volumes].filter((volume) => isLeftOut(volume, after)).map(leftOut);
  if (event !== 'node.reserve-slot') return [];
  return after.plugins.flatMap(({ name, maxVolumes = Number.POSITIVE_INFINITY }) => {
    const count = countOf(slotsOf(after.slots, name));
    const hasGrown = count > (before ? countOf(slotsOf(before.slots, name)) : 0);
    return hasGrown && count > maxVolumes
      ? [`node ${after.id} takes ${maxVolumes} volumes, and has ${count} slots`]
      : [];
  });
}

/** What goes anyway may have come while the others were counted. */
const isLeftOut = ({ spec, publications, slots = {} }: VolumeContext, { id, slots: known }: NodeContext): boolean => {
  const publication = publications[id];
  if (
    !publication ||
    publicStateOf(publication) === 'pending-unpublish' ||
    !slotsOf(known, spec?.plugin ?? '').isCounted
  )
    return false;
  return slots[id] === undefined;
};

const leftOut = ({ key, publications }: VolumeContext): string =>
  `${key.id} was not counted: ${JSON.stringify(publications)}`;

const publishing = ['volume.publish', 'volume.claim-and-publish'];

/** A volume came to a node with a limit without a slot, or has one that the node does not know. */
export function slotFaults(
  before: VolumeContext | undefined,
  { key, uid, spec, publications, slots = {} }: VolumeContext,
  { event, nodes }: { event: string; nodes: ReadonlyMap<string, NodeContext> },
): string[] {
  const faults: string[] = Object.keys(slots)
    .filter((nodeId) => !publications[nodeId])
    .map((nodeId) => `${key.id} has a slot on ${nodeId}, and is not there`);
  for (const nodeId of Object.keys(publications)) {
    const node = nodes.get(nodeId);
    const known = node && slotsOf(node.slots, spec?.plugin ?? '');
    if (!node || !known?.isCounted || limitOf(node, spec?.plugin ?? '') === undefined) continue;
    const own = slots[nodeId];
    const isNew = publishing.includes(event) && (before?.uid !== uid || !before.publications[nodeId]);
    if (isNew && own === undefined) faults.push(`${key.id} came to ${nodeId} without a slot`);
    if (own !== undefined && known.reserved.every(({ reservation }) => reservation !== own))
      faults.push(`${key.id} has slot ${own} on ${nodeId}, which has ${JSON.stringify(known)}`);
  }
  return faults;
}
