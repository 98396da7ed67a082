/**
 * Migrates records of snapshots from each older version to the next. Version 1 had flags; version 2 has a named state for
 * each combination. Recorded histories prove the migration: test/snapshots/snapshot-migration.test.ts
 */
import type { StateValue } from 'xstate';
import { maxUnproven } from '../../machines/kit/call-states.js';
import type { CallFailure, Tries } from '../../machines/kit/csi-types.js';
import { nameWithPlugin } from '../../machines/snapshot/changes.js';
import type { MadeSnapshot, SnapshotContext } from '../../machines/snapshot/types.js';
import type { OldAwaiting } from '../calls/older-waits.js';
import type { Migration } from '../engine/effects/effects.js';

interface Piece {
  tries?: Tries;
  failure?: CallFailure;
}

type Kept = 'kind' | 'key' | 'uid' | 'name' | 'round' | 'spec' | 'csi' | 'discards' | 'leftovers';

export interface FlaggedSnapshot extends Pick<SnapshotContext, Kept> {
  creation: Piece & { inDoubt?: boolean; untrusted?: number };
  readiness: Piece;
  removal: Piece;
  deletion: { force: boolean } | null;
  left?: { made: MadeSnapshot[]; isInDoubt?: true };
  driver?: string | null;
  home?: string | null;
  work: { kind: 'create' | 'look' | 'remove' } | null;
  awaiting: OldAwaiting | null;
}

const snapshotStates: Migration = {
  name: 'states instead of flags',
  from: '1',
  to: '2',
  // The engine does not know the types of stored contexts.
  migrate: ({ value, context, ...rest }) => ({ ...rest, ...migratedSnapshot(value, context as FlaggedSnapshot) }),
};

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

export const snapshotMigrations: Migration[] = [snapshotStates, steps];

/** Migrates one record. @param value state of version 1 */
export function migratedSnapshot(
  value: StateValue,
  flagged: FlaggedSnapshot,
): { value: StateValue; context: SnapshotContext } {
  const { kind, key, uid, name, round, spec, csi, discards, leftovers, driver, home, awaiting } = flagged;
  // Drops the flag for a forced wait: version 2 reads that from the call.
  const wait = awaiting && { reason: awaiting.reason, for: 'plugin' as const };
  const kept = { kind, key, uid, name, round, spec, csi, discards, leftovers, awaiting: wait };
  const context = { ...kept, ...countsOf(flagged), ...faultsOf(value, flagged), left: leftOf(flagged) };
  return { value: stateOf(value, flagged), context: { ...context, driver: driver ?? null, home: home ?? null } };
}

const countsOf = ({ creation, deletion }: FlaggedSnapshot): Pick<SnapshotContext, 'untrusted' | 'isForced'> => ({
  untrusted: creation.failure?.code === 'SNAPSHOT_UNPROVEN' ? maxUnproven : (creation.untrusted ?? 0),
  isForced: deletion?.force ?? false,
});

/**
 * Picks the attempts and the failure. Only the current work counts attempts, but a creation's failure outlives the
 * removal of untrusted snapshots.
 */
function faultsOf(
  value: StateValue,
  { work, creation, readiness, removal, deletion }: FlaggedSnapshot,
): Pick<SnapshotContext, 'tries' | 'failure'> {
  const piece = work ? { create: creation, look: readiness, remove: removal }[work.kind] : {};
  const failure = value === 'failed' ? (creation.failure ?? readiness.failure ?? removal.failure) : creation.failure;
  return { tries: piece.tries ?? null, failure: (deletion && value !== 'failed' ? undefined : failure) ?? null };
}

const leftOf = ({ left, name, round }: FlaggedSnapshot): SnapshotContext['left'] => ({
  made: left?.made ?? [],
  ...(left?.isInDoubt && { asked: nameWithPlugin({ name, round }) }),
});

function stateOf(value: StateValue, flagged: FlaggedSnapshot): StateValue {
  if (value === 'ready') return value;
  if (value === 'failed') return { failed: failureOf(flagged) };
  const [[outer, inner] = ['', '']] = Object.entries(value);
  if (outer === 'deleted') return inner === 'confirmed' ? 'absent' : 'left-behind';
  const work = workOf(outer, flagged);
  return inner === 'backing-off' ? { [work]: inner } : callOf(work, flagged);
}

function failureOf({ creation, deletion, csi, discards }: FlaggedSnapshot): string {
  if (deletion) return csi || discards.length > 0 ? 'deletion' : 'finding-out';
  if (discards.length > 0) return 'removal';
  if (csi) return 'readiness';
  if (creation.inDoubt) return 'in-doubt';
  return creation.failure?.code === 'SNAPSHOT_UNPROVEN' ? 'unproven' : 'refused';
}

function workOf(outer: string, { work, creation, deletion }: FlaggedSnapshot): string {
  if (outer !== 'pending-create') return outer === 'waiting' ? 'waiting-until-ready' : outer;
  if (work?.kind === 'remove') return 'removing-untrusted';
  if (!creation.inDoubt) return 'pending-create';
  return deletion ? 'finding-out' : 'create-in-doubt';
}

/**
 * Whether the record waits for its plugin. A first creation that is being deleted does not: no call was sent, so nothing
 * exists.
 */
const isWaiting = (work: string, { deletion, awaiting }: FlaggedSnapshot): boolean =>
  awaiting !== null && !(deletion && work === 'pending-create');

function callOf(work: string, flagged: FlaggedSnapshot): StateValue {
  const { deletion } = flagged;
  if (isWaiting(work, flagged)) {
    const isRemoved = deletion && (work === 'removing-untrusted' || work === 'waiting-until-ready');
    return { [isRemoved ? 'pending-delete' : work]: 'waiting-for-plugin' };
  }
  const isOfDeletion = work === 'finding-out' || work === 'pending-delete';
  return { [work]: isOfDeletion ? 'calling' : { calling: deletion ? 'to-be-deleted' : 'wanted' } };
}
