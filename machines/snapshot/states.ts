/** Meaning of a snapshot's states for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { topState } from '../kit/parts.js';
import { pathOf } from '../kit/state-path.js';
import type { SnapshotContext, SnapshotState } from './types.js';

const publicStates: Record<string, SnapshotState> = {
  absent: 'deleted',
  'pending-create': 'pending-create',
  'create-in-doubt': 'pending-create',
  'removing-untrusted': 'pending-create',
  'finding-out': 'pending-create',
  'waiting-until-ready': 'waiting',
  ready: 'ready',
  'pending-delete': 'pending-delete',
  'left-behind': 'deleted',
  failed: 'failed',
};

/** State of the snapshot for users. */
export function snapshotStateOf(value: StateValue, context: SnapshotContext): SnapshotState {
  const outermost = topState({ at: snapshotPathOf(value, context) });
  const state = publicStates[outermost];
  if (!state) throw new Error(`the snapshot machines have no state '${outermost}'`);
  return state;
}

/** Exact state, and how far its call is: `failed.refused`, `create-in-doubt.calling.wanted`. */
export const snapshotPathOf = (value: StateValue, _: SnapshotContext): string => pathOf(value);

/** Keys from the outermost state to the innermost: `['failed', 'refused']`. */
const keysOf = (value: StateValue, context: SnapshotContext): string[] => snapshotPathOf(value, context).split('.');

/** Path for users, without parts that are taken for granted: `create-in-doubt.calling`. */
export const snapshotStepOf = (value: StateValue, context: SnapshotContext): string =>
  keysOf(value, context)
    .filter((key) => key !== 'wanted')
    .join('.');

/** Whether the deletion was asked for, or is over. */
export function isBeingDeleted(value: StateValue, context: SnapshotContext): boolean {
  const keys = keysOf(value, context);
  const [outermost = '', inner = ''] = keys;
  return (
    ['finding-out', 'pending-delete', 'left-behind', 'absent'].includes(outermost) ||
    (outermost === 'failed' && ['finding-out', 'deletion'].includes(inner)) ||
    keys.includes('to-be-deleted')
  );
}

/** Whether the plugin may have made a snapshot whose id is not known. */
export function isInDoubt(value: StateValue, context: SnapshotContext): boolean {
  const [outermost = '', inner = ''] = keysOf(value, context);
  return (
    ['create-in-doubt', 'finding-out'].includes(outermost) ||
    (outermost === 'failed' && ['in-doubt', 'finding-out'].includes(inner))
  );
}

/** Whether a creation may be under way, or is sent again to learn its outcome. */
export function mayBeCutting(value: StateValue, context: SnapshotContext): boolean {
  const [outermost = '', inner] = keysOf(value, context);
  return (
    ['create-in-doubt', 'finding-out'].includes(outermost) || (outermost === 'pending-create' && inner === 'calling')
  );
}

/** Whether no call was sent that may have made the snapshot, but for the present one. */
export const isNew = (value: StateValue, context: SnapshotContext): boolean =>
  keysOf(value, context)[0] === 'pending-create';

/** Whether the source volumes have to stay: a creation is still to be sent, or to be sent again. */
export function needsSources(value: StateValue, context: SnapshotContext): boolean {
  const [outermost = '', inner = ''] = keysOf(value, context);
  return (
    ['pending-create', 'create-in-doubt', 'removing-untrusted', 'waiting-until-ready', 'finding-out'].includes(
      outermost,
    ) ||
    (outermost === 'failed' && ['in-doubt', 'finding-out'].includes(inner))
  );
}

/** Whether a call is under way whose answer may give the snapshot ids. */
export function isMaking(value: StateValue, context: SnapshotContext): boolean {
  const [outermost = '', inner] = keysOf(value, context);
  return (
    inner === 'calling' &&
    ['pending-create', 'create-in-doubt', 'finding-out', 'waiting-until-ready'].includes(outermost)
  );
}

/** Whether a call that removes something of the snapshot may have been made. */
export const isRemoving = (value: StateValue, context: SnapshotContext): boolean =>
  ['removing-untrusted', 'pending-delete'].includes(keysOf(value, context)[0] ?? '');
