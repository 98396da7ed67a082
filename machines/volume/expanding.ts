/** Requests to expand a volume. Pure. The chart: change.ts. The answer: outcomes.ts. The part of the nodes: size.ts */
import type { CapacityRange } from '../kit/csi-types.js';
import { isSameData } from '../kit/same-data.js';
import { type ChangeRequest, expansionChart } from './change.js';
import { type Draft, drafted } from './draft.js';
import { isBelow, isCovered, sizeOf } from './size.js';
import type { VolumeChange, VolumeContext } from './types.js';
import { underWay } from './work.js';

/** Steps the expansion, if there is one. */
export function stepExpansion(draft: Draft, event: ChangeRequest<CapacityRange>): void {
  draft.expansion &&= expansionChart.step(draft.expansion, event);
}

/**
 * Replaces an expansion that is not done, also by a smaller one; the present size takes it back. A repeat of an earlier
 * request changes nothing.
 */
export const expand = (context: VolumeContext, capacity: CapacityRange): VolumeChange =>
  drafted(context, (draft) => {
    const { expansion } = draft;
    const goal = (expansion?.next ?? expansion)?.wish;
    if (isSameData(goal, capacity) || isBelow(capacity.requiredBytes, sizeOf(draft))) return;
    const isUnderWay = underWay(draft) === 'expand';
    if (expansion) stepExpansion(draft, { type: 'asked', wish: capacity, ifFailed: capacity, isUnderWay });
    else if (!isCovered(draft, capacity)) draft.expansion = expansionChart.begin({ wish: capacity });
  });
