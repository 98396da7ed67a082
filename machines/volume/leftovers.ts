/** Leftovers that a forced deletion could not confirm: tried once more, or cleared by the report of a node. Pure. */
import type { AnswerParams, Stamped } from '../kit/host.js';
import { type Change, type Draft, drafted, put } from './draft.js';
import { leftBehindStaged, onlyLeftovers } from './requests.js';
import type { HoldReleased, Leftover, Publication, Unstaged, VolumeContext } from './types.js';

/** Deletes with force once more what is left; what was confirmed before is not asked for again. */
export const retryLeftovers = (context: VolumeContext, acceptDriver?: string): Change =>
  drafted(context, (draft) => {
    if (acceptDriver !== undefined) draft.driver = acceptDriver;
    const { leftovers, spec } = draft;
    const [capability] = spec?.capabilities ?? [];
    const created = leftovers.find(({ what }) => what === 'created');
    const csiId = leftovers.find((one) => one.what !== 'staged' && one.csiId !== undefined)?.csiId;
    draft.deletion = { force: true, ...(!created && { isConfirmed: true }) };
    draft.leftovers = leftovers.filter(({ what }) => what === 'staged');
    draft.csi = csiId === undefined ? null : { id: csiId, context: {}, accessibleTopology: [] };
    draft.creation = created && csiId === undefined ? { inDoubt: true } : {};
    for (const { what, nodeId, csiNodeId, fenced } of leftovers) {
      if (what !== 'published' || nodeId === undefined || csiNodeId === undefined || !capability) continue;
      draft.publicationNumber += 1;
      const number = draft.publicationNumber;
      const known = { capability, readOnly: false, csiNodeId, number, ...(fenced !== undefined && { fenced }) };
      put(draft, nodeId, { ...known, state: 'pending-unpublish' });
    }
  });

/** Answer to a retry that can do nothing. */
export const onlyStaged = (context: VolumeContext): AnswerParams => ({ error: leftBehindStaged(context) });

const isOf = ({ what, nodeId, allocId, generation = Number.POSITIVE_INFINITY }: Leftover, report: Unstaged): boolean =>
  what === 'staged' &&
  nodeId === report.nodeId &&
  (report.allocId === undefined
    ? generation <= report.claimGeneration
    : allocId === report.allocId && generation === report.claimGeneration);

/** Whether a node has let go of something that is on record as staged there. */
export const isLeftStaged = ({ leftovers }: VolumeContext, report: Unstaged): boolean =>
  leftovers.some((one) => isOf(one, report));

export function clearStaged({ leftovers: before }: VolumeContext, report: Unstaged): Change {
  const leftovers = before.filter((one) => !isOf(one, report));
  return { context: { leftovers }, tells: [{ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) }] };
}

/** So long a forced deletion waits for the agents of nodes to unmount the volume. */
const unmountLimitMs = 30_000;

/** Gives the agent of the node time to unmount what is to go, where one there asked for it and something may be staged. */
export function awaitingNode(draft: Draft, nodeId: string, { at }: Stamped): void {
  const publication = draft.publications[nodeId];
  const users = draft.leftovers.filter((one) => one.what === 'staged' && one.nodeId === nodeId);
  if (publication?.state !== 'pending-unpublish' || !publication.isByAgent || users.length === 0) return;
  const allocs = users.flatMap(({ allocId }) => allocId ?? []).join(', ');
  const notBeforeMs = at + unmountLimitMs;
  const until = new Date(notBeforeMs).toISOString();
  const message = `node ${nodeId} has to unmount it for alloc ${allocs} first, and has time for that until ${until}`;
  const failure = { code: 'VOLUME_IN_USE', message, final: false } as const;
  const tries = { count: 0, notBeforeMs, sinceMs: at, failure };
  draft.publications[nodeId] = { ...publication, tries };
}

/** The node has let go of what a forced deletion had to take from it. Where that was the last, nothing is waited for. */
export function clearLeft(draft: Draft, report: Unstaged): void {
  const { nodeId } = report;
  draft.leftovers = draft.leftovers.filter((one) => !isOf(one, report));
  const publication = draft.publications[nodeId];
  if (!publication || !isAwaitingNode(publication)) return;
  if (draft.leftovers.some((one) => one.what === 'staged' && one.nodeId === nodeId)) return;
  const { tries: _, ...untried } = publication;
  draft.publications[nodeId] = untried;
}

/** Whether its node's agent has time still to unmount it: until then no attempt is made to unpublish it. */
export const isAwaitingNode = ({ state, tries }: Publication): boolean =>
  state === 'pending-unpublish' && tries?.count === 0;

/** A report of a hold, in the words of one of a claim. */
export const asUnstaged = ({ nodeId, allocId, generation }: HoldReleased): Unstaged => ({
  nodeId,
  allocId,
  claimGeneration: generation,
});

/** Answer of a deleted volume to most requests. */
export const leftoversAnswer = (context: VolumeContext): AnswerParams => ({ error: onlyLeftovers(context) });
