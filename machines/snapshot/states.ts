/** Meaning of the snapshot machines' states. Pure. */
import type { StateValue } from 'xstate';
import type { SnapshotState } from './types.js';

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

/** Keys from the outermost state to the innermost: `['failed', 'refused']`. */
const pathOf = (value: StateValue): string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(value).flatMap(([key, inner]) => [key, ...(inner === undefined ? [] : pathOf(inner))]);

/** Name of the state for users. */
export function publicState(value: StateValue): SnapshotState {
  const [outermost = ''] = pathOf(value);
  const state = publicStates[outermost];
  if (!state) throw new Error(`the snapshot machines have no state '${outermost}'`);
  return state;
}

/** State as a dotted path: `failed.refused`. */
export const statePath = (value: StateValue): string => pathOf(value).join('.');

/** Path for users: `create-in-doubt.calling`, without parts that are taken for granted. */
export const stepOf = (value: StateValue): string =>
  pathOf(value)
    .filter((key) => key !== 'wanted')
    .join('.');

/** Whether the deletion was asked for, or is over. */
export function isBeingDeleted(value: StateValue): boolean {
  const path = pathOf(value);
  const [outermost = '', inner = ''] = path;
  return (
    ['finding-out', 'pending-delete', 'left-behind', 'absent'].includes(outermost) ||
    (outermost === 'failed' && ['finding-out', 'deletion'].includes(inner)) ||
    path.includes('to-be-deleted')
  );
}

/** Whether the plugin may have made a snapshot whose id is not known. */
export function isInDoubt(value: StateValue): boolean {
  const [outermost = '', inner = ''] = pathOf(value);
  return (
    ['create-in-doubt', 'finding-out'].includes(outermost) ||
    (outermost === 'failed' && ['in-doubt', 'finding-out'].includes(inner))
  );
}

/** Whether a creation may be under way, or is sent again to learn its outcome. */
export function mayBeCutting(value: StateValue): boolean {
  const [outermost = '', inner] = pathOf(value);
  return (
    ['create-in-doubt', 'finding-out'].includes(outermost) || (outermost === 'pending-create' && inner === 'calling')
  );
}

/** Whether no call was sent that may have made the snapshot, but for the present one. */
export const isNew = (value: StateValue): boolean => pathOf(value)[0] === 'pending-create';

/** Whether the source volumes have to stay: a creation is still to be sent, or to be sent again. */
export function needsSources(value: StateValue): boolean {
  const [outermost = '', inner = ''] = pathOf(value);
  return (
    ['pending-create', 'create-in-doubt', 'removing-untrusted', 'waiting-until-ready', 'finding-out'].includes(
      outermost,
    ) ||
    (outermost === 'failed' && ['in-doubt', 'finding-out'].includes(inner))
  );
}

/** Whether a call is under way whose answer may give the snapshot ids. */
export function isMaking(value: StateValue): boolean {
  const [outermost = '', inner] = pathOf(value);
  return (
    inner === 'calling' &&
    ['pending-create', 'create-in-doubt', 'finding-out', 'waiting-until-ready'].includes(outermost)
  );
}

/** Whether a call that removes something of the snapshot may have been made. */
export const isRemoving = (value: StateValue): boolean =>
  ['removing-untrusted', 'pending-delete'].includes(pathOf(value)[0] ?? '');
