/** Leftovers of a forced deletion: retried, and cleared by the report of a node. Pure. */
import type { Stamped } from '../kit/host.js';
import { type Draft, drafted } from './draft.js';
import { lifecycleChart } from './lifecycle.js';
import { begin, step } from './publications.js';
import type { HoldReleased, Leftover, Unstaged, VolumeChange, VolumeContext } from './types.js';
import { underWay } from './work.js';

/** Deletes again with force what is left; what was confirmed before is not asked for again. */
export const retryLeftovers = (context: VolumeContext, acceptDriver?: string): VolumeChange =>
  drafted(context, (draft) => {
    if (acceptDriver !== undefined) draft.driver = acceptDriver;
    const { leftovers, spec } = draft;
    const [capability] = spec?.capabilities ?? [];
    const created = leftovers.find(({ what }) => what === 'created');
    const csiId = leftovers.find((one) => one.what !== 'staged' && one.csiId !== undefined)?.csiId;
    draft.leftovers = leftovers.filter(({ what }) => what === 'staged');
    draft.csi = csiId === undefined ? null : { id: csiId, context: {}, accessibleTopology: [] };
    const atPlugin = csiId === undefined ? 'leftovers.find' : 'leftovers.delete';
    draft.lifecycle = lifecycleChart.step(draft.lifecycle, { type: created ? atPlugin : 'leftovers.detach' });
    for (const { what, nodeId, csiNodeId, attachedBy, fenced } of leftovers) {
      if (what !== 'published' || nodeId === undefined || csiNodeId === undefined || !capability) continue;
      const known = { ...(attachedBy && { attachedBy }), ...(fenced !== undefined && { fenced }) };
      begin(draft, nodeId, { capability, readOnly: false, csiNodeId, ...known }, 'found-attached');
    }
  });

const isOf = ({ what, nodeId, allocId, generation = Number.POSITIVE_INFINITY }: Leftover, report: Unstaged): boolean =>
  what === 'staged' &&
  nodeId === report.nodeId &&
  (report.allocId === undefined
    ? generation <= report.claimGeneration
    : allocId === report.allocId && generation === report.claimGeneration);

/** Whether the report clears a leftover that may be staged there. */
export const isLeftStaged = ({ leftovers }: VolumeContext, report: Unstaged): boolean =>
  leftovers.some((one) => isOf(one, report));

export function clearStaged({ leftovers: before }: VolumeContext, report: Unstaged): VolumeChange {
  const leftovers = before.filter((one) => !isOf(one, report));
  return { context: { leftovers }, broadcasts: [{ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) }] };
}

/** Time that a forced deletion gives the agents of nodes to unmount the volume. */
const unmountLimitMs = 30_000;

/** Gives the agent of the node time to unmount, if it had asked for the volume and may have staged it. */
export function giveNodeTime(draft: Draft, nodeId: string, { at }: Stamped): void {
  const publication = draft.publications[nodeId];
  const users = draft.leftovers.filter((one) => one.what === 'staged' && one.nodeId === nodeId);
  if (!publication?.isByAgent || publication.at !== 'pending-unpublish' || users.length === 0) return;
  const allocs = users.flatMap(({ allocId }) => allocId ?? []).join(', ');
  const notBeforeMs = at + unmountLimitMs;
  const until = new Date(notBeforeMs).toISOString();
  const message = `node ${nodeId} has to unmount it for alloc ${allocs} first, and has time for that until ${until}`;
  const failure = { code: 'VOLUME_IN_USE', message, final: false } as const;
  const tries = { count: 0, notBeforeMs, sinceMs: at, failure };
  step(draft, nodeId, { type: 'node.given-time', tries, underWay: underWay(draft, nodeId) });
}

/**
 * Clears leftovers that the node has let go of. After the last one the forced deletion does not wait for the node any
 * more.
 */
export function clearLeft(draft: Draft, report: Unstaged): void {
  const { nodeId } = report;
  draft.leftovers = draft.leftovers.filter((one) => !isOf(one, report));
  if (draft.publications[nodeId]?.at !== 'pending-unpublish') return;
  if (draft.leftovers.some((one) => one.what === 'staged' && one.nodeId === nodeId)) return;
  step(draft, nodeId, { type: 'node.let-go' });
}

/** Turns a report of a hold into one of a claim. */
export const asUnstaged = ({ nodeId, allocId, generation }: HoldReleased): Unstaged => ({
  nodeId,
  allocId,
  claimGeneration: generation,
});

/** Whether calls to the plugin can undo some leftovers: only the node can undo what is staged. */
export const hasRetryableLeftovers = ({ spec, leftovers }: VolumeContext): boolean =>
  spec !== null && leftovers.some(({ what }) => what !== 'staged');
