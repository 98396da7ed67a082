/** Expansion of a volume: its requests and its answers. Pure. The chart: change.ts. The part of the nodes: node-expansion.ts */
import type { CapacityRange } from '../kit/csi-types.js';
import { isSameData } from '../kit/same-data.js';
import { type ChangeEvent, expansionChart } from './change.js';
import { type Draft, drafted } from './draft.js';
import { nodesWithIt } from './node-expansion.js';
import { isBelow, isCovered, sizeOf } from './size.js';
import type { Change, VolumeContext } from './types.js';
import type { ExpandAnswer } from './wishes.js';

/** Steps the expansion, if there is one, and drops it when it is done. */
export function stepExpansion(draft: Draft, event: ChangeEvent<CapacityRange>): void {
  const next = draft.expansion && expansionChart.step(draft.expansion, event);
  draft.expansion = next?.at === 'done' ? null : next;
}

/**
 * Replaces an expansion that is not done, also by a smaller one; the present size takes it back. A repeat of an earlier
 * request changes nothing.
 */
export const expand = (context: VolumeContext, capacity: CapacityRange): Change =>
  drafted(context, (draft) => {
    const { expansion } = draft;
    const goal = (expansion?.next ?? expansion)?.wish;
    if (isSameData(goal, capacity) || isBelow(capacity.requiredBytes, sizeOf(draft))) return;
    if (expansion) stepExpansion(draft, { type: 'asked', wish: capacity, ifFailed: capacity });
    else if (!isCovered(draft, capacity)) draft.expansion = expansionChart.begin({ wish: capacity });
  });

export const expanded = (context: VolumeContext, { capacityBytes, nodeExpansionRequired }: ExpandAnswer): Change =>
  drafted(context, (draft) => {
    if (draft.expansion) draft.expandedTo = draft.expansion.wish;
    draft.nodeExpansion ||= nodeExpansionRequired;
    if (nodeExpansionRequired) draft.unexpanded = nodesWithIt(context);
    if (draft.csi) {
      // The former size is not the present one.
      const { capacityBytes: _, ...csi } = draft.csi;
      draft.csi = { ...csi, ...(capacityBytes !== undefined && { capacityBytes }) };
    }
    stepExpansion(draft, { type: 'change.done' });
    draft.broadcasts.push({
      type: 'expanded',
      nodeExpansionRequired,
      ...(capacityBytes !== undefined && { capacityBytes }),
    });
  });
