/** Migrates records of the snapshot machines from each older version to the next. Recorded histories prove it: test/snapshots/snapshot-migration.test.ts */
import type { StateValue } from 'xstate';
import type { Wait } from '../../machines/kit/csi-types.js';
import { pathOf } from '../../machines/kit/state-path.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import type { SnapshotCallKind, SnapshotData } from '../../machines/snapshot/types.js';
import type { Migration } from '../engine/effects/effects.js';

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

/** Data of version 3. */
type StatesContext = Omit<SnapshotData, 'work' | 'awaiting'> & { awaiting: Wait | null };

/** States of version 3 that are a phase of another name; all others are one of their own. */
const renamed: Record<string, SnapshotContext['at']> = {
  'pending-create.calling.to-be-deleted': 'finding-out-first-call',
  'create-in-doubt.calling.to-be-deleted': 'finding-out',
  'removing-untrusted.calling.to-be-deleted': 'pending-delete',
  'waiting-until-ready.calling.to-be-deleted': 'pending-delete',
  'failed.unproven': 'failed.refused',
};

/** Calls of the states of version 3, and the state of the machine in which each is under way now. */
const calls: Record<string, [kind: SnapshotCallKind, state: string]> = {
  'pending-create': ['create', 'pending-create'],
  'create-in-doubt': ['create', 'pending-create'],
  'finding-out': ['create', 'pending-create'],
  'waiting-until-ready': ['look', 'waiting-until-ready'],
  'removing-untrusted': ['remove', 'removing-untrusted'],
  'pending-delete': ['delete', 'pending-delete'],
};

function inPhase(value: StateValue, before: StatesContext): { value: StateValue; context: SnapshotContext } {
  const path = pathOf(value);
  const [outer = '', inner = ''] = path.split('.');
  const at = renamed[path] ?? ((outer === 'failed' ? path : outer) as SnapshotContext['at']);
  const { awaiting: wait, ...data } = before;
  const call = calls[outer];
  if (!call) return { value: outer, context: { ...data, at, work: null, awaiting: null } };
  const [kind, state] = call;
  const work = { kind, dueAtMs: data.tries?.notBeforeMs ?? 0, isCalling: inner !== 'backing-off' };
  const awaiting = wait && { ...wait, ...(data.isForced && { isForced: true as const }) };
  return { value: inner === 'calling' ? state : inner, context: { ...data, at, work, awaiting } };
}

/** Version 4 keeps the phase with the data; the states of the machine are those of its call. */
const oneCall: Migration = {
  name: 'a phase and one call',
  from: '3',
  to: '4',
  // The engine does not know the types of stored contexts.
  migrate: ({ value, context, ...rest }) => ({ ...rest, ...inPhase(value, context as StatesContext) }),
};

export const snapshotMigrations: Migration[] = [steps, oneCall];
