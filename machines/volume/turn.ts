/** Turn of the parts: a volume makes one call at a time. Pure. Which part is due first: work.ts */
import { isIn } from '../kit/parts.js';
import { expansionChart, modificationChart } from './change.js';
import { lifecycleChart } from './lifecycle.js';
import { publicationChart } from './publication.js';
import { isCovered, type Sized } from './size.js';
import type { VolumeContext, Work } from './types.js';
import { nextWork } from './work.js';

type Parts = Pick<VolumeContext, 'lifecycle' | 'publications' | 'expansion' | 'modification'>;
type Called = Pick<Work, 'kind' | 'nodeId'>;

/** Takes the turn back, and gives it to the part that is due first. */
export function withTurn(context: VolumeContext, nowMs: number): Parts & Pick<VolumeContext, 'work' | 'awaiting'> {
  const { csi, expandedTo, spec, work: last } = context;
  const { lifecycle, publications, expansion, modification } = context;
  const before: Parts = { lifecycle, publications, expansion, modification };
  const size = { csi, expandedTo, spec };
  const rested = last && hasTurn(before, last) ? moved(before, last, { type: 'turn.lost' }) : before;
  const free = withoutNeedless(deletionInOrder(rested), size);
  const work = nextWork({ ...free, ...size }, nowMs);
  const after = work?.isCalling ? moved(free, work, { type: 'turn.given' }) : free;
  return {
    lifecycle: after.lifecycle,
    publications: after.publications,
    expansion: after.expansion,
    modification: after.modification,
    work,
    awaiting: null,
  };
}

/** Whether the part still has the turn: the outcome of its call may have moved it on. */
function hasTurn({ lifecycle, publications, expansion, modification }: Parts, { kind, nodeId }: Called): boolean {
  const publication = nodeId === undefined ? undefined : publications[nodeId];
  switch (kind) {
    case 'create':
    case 'delete':
      return lifecycleChart.hasTag(lifecycle, 'has-turn');
    case 'expand':
      return expansion !== null && expansionChart.hasTag(expansion, 'has-turn');
    case 'modify':
      return modification !== null && modificationChart.hasTag(modification, 'has-turn');
    default:
      return publication !== undefined && publicationChart.hasTag(publication, 'has-turn');
  }
}

/** Sends a deletion back to wait if the plugin lists the volume on a node again. */
function deletionInOrder(parts: Parts): Parts {
  const { lifecycle, publications } = parts;
  const isOnNodes = Object.keys(publications).length > 0;
  const isMeant = isOnNodes ? isIn(lifecycle, 'pending-delete') : lifecycle.at.endsWith('.waiting-for-publications');
  if (!isMeant) return parts;
  const type = isOnNodes ? 'publications.found' : 'publications.gone';
  return { ...parts, lifecycle: lifecycleChart.step(lifecycle, { type }) };
}

/** Drops an expansion to a size that the volume has. */
const withoutNeedless = (parts: Parts, size: Sized): Parts =>
  parts.expansion && parts.expansion.at !== 'failed' && isCovered(size, parts.expansion.wish)
    ? { ...parts, expansion: null }
    : parts;

/** Gives an event of the call to the part that it is made for. */
export function moved(
  { lifecycle, publications, expansion, modification }: Parts,
  { kind, nodeId }: Called,
  event: { type: 'turn.given' | 'turn.lost' | 'call.waits' },
): Parts {
  const same = { lifecycle, publications, expansion, modification };
  const publication = nodeId === undefined ? undefined : publications[nodeId];
  switch (kind) {
    case 'create':
    case 'delete':
      return { ...same, lifecycle: lifecycleChart.step(lifecycle, event) };
    case 'expand':
      return { ...same, expansion: expansion && expansionChart.step(expansion, event) };
    case 'modify':
      return { ...same, modification: modification && modificationChart.step(modification, event) };
    default:
      if (nodeId === undefined || !publication) return same;
      return { ...same, publications: { ...publications, [nodeId]: publicationChart.step(publication, event) } };
  }
}
