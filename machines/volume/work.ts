/** Order of the work on a volume: the one place that decides what comes next. Pure. */
import { dueAtMs } from '../kit/backoff.js';
import { callUnderWay, firstDue } from '../kit/call.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import { expansionChart, modificationChart } from './change.js';
import { isLeaving, lifecycleChart } from './lifecycle.js';
import { excludes, mayBeThere } from './modes.js';
import { publicationChart } from './publication.js';
import { isCovered } from './size.js';
import type { Expansion, Lifecycle, Publication, VolumeContext, VolumeWork, WorkKind } from './types.js';

/** Parts of a volume that have work, and the volume that the plugin has made. */
type Workload = Pick<VolumeContext, 'csi' | 'lifecycle' | 'publications' | 'expansion' | 'modification'>;

/**
 * Publications that have to be gone from other nodes first: those that the mode excludes, and one that the plugin
 * would take for this very one, as the host had another name.
 */
export const blockersOf = (
  { publications }: Pick<VolumeContext, 'publications'>,
  nodeId: string,
  publication: Publication,
): [nodeId: string, Publication][] =>
  Object.entries(publications).filter(
    ([other, present]) =>
      other !== nodeId &&
      mayBeThere(present) &&
      (present.csiNodeId === publication.csiNodeId || excludes(present, publication)) &&
      !isAfter(present, publication),
  );

/** Whether the other publication goes first: one that may be there already, else the older one. */
const isAfter = (one: Publication, other: Publication): boolean =>
  (one.at === 'pending-publish' || one.at === 'cancelling-first-call') &&
  (mayHaveArrived(other) || other.number < one.number);

const mayHaveArrived = (one: Publication): boolean =>
  one.at === 'in-doubt' || one.at === 'cancelling' || one.mayStillArrive === true;

/** All pieces of work, each with the moment from which it is due, in the order of their importance. */
function pieces(workload: Workload, nowMs: number): VolumeWork[] {
  const { csi, lifecycle, publications, expansion, modification } = workload;
  const found: VolumeWork[] = [];
  const add = (kind: WorkKind, tries: Tries | undefined, nodeId?: string): void => {
    const from = dueAtMs(tries, nowMs);
    const isCalling = from <= nowMs;
    found.push(nodeId === undefined ? { kind, dueAtMs: from, isCalling } : { kind, dueAtMs: from, nodeId, isCalling });
  };
  const { call: kind } = lifecycleChart.metaOf(lifecycle);
  const isMaking = kind === 'create' || kind === 'remove';
  if (isMaking) add(kind, lifecycle.tries);
  if (isMaking || !csi) return found;
  for (const [nodeId, publication] of Object.entries(publications)) {
    const { call: own } = publicationChart.metaOf(publication);
    if (!own || (own === 'publish' && blockersOf({ publications }, nodeId, publication).length > 0)) continue;
    add(own, publication.tries, nodeId);
  }
  if (kind === 'delete') add(kind, lifecycle.tries);
  if (lifecycle.at !== 'created') return found;
  if (expansion && expansionChart.metaOf(expansion).call) add('expand', expansion.tries);
  if (modification && modificationChart.metaOf(modification).call) add('modify', modification.tries);
  return found;
}

export const nextWork = (workload: Workload, nowMs: number): VolumeWork | null => firstDue(pieces(workload, nowMs));

/** Call of the volume itself, or about its publication on a node, that is under way. Absent: none is, or it waits. */
export function underWay(context: Pick<VolumeContext, 'work' | 'awaiting'>, nodeId?: string): WorkKind | undefined {
  const work = callUnderWay(context);
  return work?.nodeId === nodeId ? work?.kind : undefined;
}

/** Picks the next call: none is under way. */
export function chosen(context: VolumeContext, nowMs: number): Partial<VolumeContext> {
  const lifecycle = deletionInOrder(context);
  const expansion = withoutNeedless(context);
  const work = nextWork({ ...context, lifecycle, expansion }, nowMs);
  return { lifecycle, publications: timeOver(context, work), expansion, work, awaiting: null };
}

/** Begins a deletion once no node has the volume; sends it back to wait if the plugin lists the volume on a node again. */
function deletionInOrder({ lifecycle, publications }: VolumeContext): Lifecycle {
  const isOnNodes = Object.keys(publications).length > 0;
  const isMeant = isOnNodes ? lifecycle.at === 'pending-delete' : isWaitingForNodes(lifecycle);
  const type = isOnNodes ? 'publications.found' : 'publications.gone';
  return isMeant ? lifecycleChart.step(lifecycle, { type }) : lifecycle;
}

const isWaitingForNodes = ({ at }: Lifecycle): boolean => at === 'emptying' || at === 'letting-go';

/** Drops an expansion to a size that the volume has. */
const withoutNeedless = ({ expansion, ...sized }: VolumeContext): Expansion | null =>
  expansion && expansion.at !== 'failed' && isCovered(sized, expansion.wish) ? null : expansion;

/** Ends the time that a node was given to unmount the volume: it is detached now. */
function timeOver({ publications }: VolumeContext, work: VolumeWork | null): VolumeContext['publications'] {
  const { nodeId = '', isCalling = false } = work ?? {};
  const publication = publications[nodeId];
  if (!isCalling || publication?.tries?.count !== 0) return publications;
  return { ...publications, [nodeId]: publicationChart.step(publication, { type: 'node.time-over' }) };
}

/** Whether the present work is still the next. */
export function isNext(context: VolumeContext, nowMs: number): boolean {
  const { work } = context;
  const next = nextWork({ ...context, expansion: withoutNeedless(context) }, nowMs);
  return next?.kind === work?.kind && next?.nodeId === work?.nodeId;
}

/** Whether the volume does not exist any more. */
export const isAbsent = ({ lifecycle }: VolumeContext): boolean => lifecycle.at === 'absent';

/** Failure that stays until somebody asks. A failed publication only stands in the way of a deletion. */
export function failureOf({ lifecycle, publications }: VolumeContext): CallFailure | undefined {
  if (lifecycle.failure || !isLeaving(lifecycle)) return lifecycle.failure;
  for (const one of Object.values(publications)) if (one.failure) return one.failure;
  return undefined;
}

export const hasPublished = ({ publications }: VolumeContext): boolean =>
  Object.values(publications).some(({ at }) => at === 'published');
