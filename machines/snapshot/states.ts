/** Meaning of a snapshot's phases for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { callStepOf, callUnderWay } from '../kit/call.js';
import type { PartView } from '../kit/parts.js';
import { seenAt } from '../kit/state-words.js';
import { wantedCall } from './calls.js';
import { type SnapshotContext, snapshotChart, snapshotPhases } from './phases.js';
import type { SnapshotState } from './types.js';

/** State of the snapshot for users. */
export const snapshotStateOf = (context: SnapshotContext): SnapshotState => snapshotChart.shownAs(context);

/** Phase, and how far its call is: `create-in-doubt.backing-off`. */
export function snapshotStepOf(context: SnapshotContext): string {
  const { at, work, tries } = context;
  const wanted = wantedCall(context);
  return wanted ? `${at}.${callStepOf(context, work?.kind === wanted, tries ?? undefined)}` : at;
}

/** Path of the state as people see it: its phase, and how far its call is. */
export const snapshotPathOf = (_: StateValue, context: SnapshotContext): string => snapshotStepOf(context);

/** The snapshot as the one part of its actor. */
export function snapshotParts(context: SnapshotContext): PartView[] {
  const { awaiting, failure, tries } = context;
  const at = snapshotStepOf(context);
  const why = failure?.message ?? awaiting?.reason ?? tries?.failure.message;
  return [
    {
      ...{ id: snapshotPhases.id, ...seenAt(snapshotPhases, at) },
      ...(why !== undefined && { why }),
      ...(at.endsWith('.backing-off') && tries && { nextAttemptAtMs: tries.notBeforeMs }),
    },
  ];
}

const deleting: SnapshotContext['at'][] = [
  'finding-out-first-call',
  'finding-out',
  'pending-delete',
  'failed.finding-out',
  'failed.deletion',
  'left-behind',
  'absent',
];

/** Whether the deletion was asked for, or is over. */
export const isBeingDeleted = ({ at }: SnapshotContext): boolean => deleting.includes(at);

/** Whether the plugin may have made a snapshot whose id is not known. */
export const isCreateInDoubt = ({ at }: SnapshotContext): boolean =>
  ['create-in-doubt', 'finding-out', 'failed.in-doubt', 'failed.finding-out'].includes(at);

/** Whether a creation may be under way, or is sent again to learn its outcome. */
export const mayBeCutting = (context: SnapshotContext): boolean =>
  ['create-in-doubt', 'finding-out'].includes(context.at) || callUnderWay(context)?.kind === 'create';

/** Whether no call was sent that may have made the snapshot, but for the present one. */
export const isNew = ({ at }: SnapshotContext): boolean => at === 'pending-create' || at === 'finding-out-first-call';

/** Whether the source volumes have to stay: a creation is still to be sent, or to be sent again. */
export const needsSources = (context: SnapshotContext): boolean =>
  isNew(context) ||
  isCreateInDoubt(context) ||
  ['removing-untrusted', 'waiting-until-ready'].includes(context.at) ||
  isMaking(context);

/** Whether a call is under way whose answer may give the snapshot ids. */
export function isMaking(context: SnapshotContext): boolean {
  const kind = callUnderWay(context)?.kind;
  return kind === 'create' || kind === 'look';
}

/** Whether a call that removes something of the snapshot may have been made. */
export const isRemoving = ({ at }: SnapshotContext): boolean => at === 'removing-untrusted' || at === 'pending-delete';
