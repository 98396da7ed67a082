/** What a forced deletion could not confirm: tried once more, or cleared by the report of a node. Pure. */
import type { AnswerParams } from './host.js';
import { type Change, drafted, put } from './volume-draft.js';
import { leftBehindStaged, onlyLeftovers } from './volume-requests.js';
import type { Leftover, Unstaged, VolumeContext } from './volume-types.js';

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

/** What a retry that can do nothing is answered. */
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

/** What a deleted one answers to most requests. */
export const leftoversAnswer = (context: VolumeContext): AnswerParams => ({ error: onlyLeftovers(context) });
