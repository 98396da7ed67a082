/** Inputs of the calls that a snapshot makes. Pure. */

import { type FailedAttempt, forcedAttempts, idTaken } from '../kit/call-states.js';
import { nameWithPlugin, nextToRemove } from './changes.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotContext,
  SnapshotOutcome,
} from './types.js';

const callOf = ({ spec, isForced, home, driver }: SnapshotContext) => {
  if (!spec) throw new Error('the snapshot has no spec yet');
  const { plugin, secrets } = spec;
  return { plugin, secrets, isForced, ...(home && { home }), ...(driver && { driver }) };
};

const memberIds = ({ members }: MadeSnapshot): string[] => members.map(({ csiId }) => csiId);

export const createCallOf = (context: SnapshotContext): CreateSnapshotCall => ({
  ...callOf(context),
  name: nameWithPlugin(context),
  sourceIds: (context.spec?.sources ?? []).map(({ csiId }) => csiId),
  parameters: context.spec?.parameters ?? {},
});

export const lookCallOf = (context: SnapshotContext): LookCall => {
  if (!context.csi) throw new Error('the snapshot has no id yet');
  return { ...createCallOf(context), csiId: context.csi.csiId, memberIds: memberIds(context.csi) };
};

export const removeCallOf = (context: SnapshotContext): RemoveSnapshotCall => {
  const made = nextToRemove(context);
  if (!made) throw new Error('nothing is to be removed');
  return { ...callOf(context), csiId: made.csiId, memberIds: memberIds(made) };
};

/** Answers of plugins that have changed nothing. */
const unchanging = ['busy', 'repair'];

/** Whether a forced deletion makes no further attempt. */
const isLast = ({ isForced, tries }: SnapshotContext, { failure }: FailedAttempt): boolean =>
  isForced && (failure.final || (tries?.count ?? 0) + 1 >= forcedAttempts);

export function failedCreate(context: SnapshotContext, attempt: FailedAttempt): SnapshotOutcome {
  const { status, failure } = attempt;
  if (status === 'interrupted') return { type: 'call.interrupted', ...attempt };
  const { code, final, answerClass = '', grpcCode, rpc = 'Create' } = failure;
  if (code === idTaken && final) return { type: 'create.id-taken', ...attempt };
  if (isLast(context, attempt)) return { type: 'create.given-up', ...attempt };
  if (final) return { type: 'create.refused', ...attempt };
  const isAsked = status !== 'not-sent' && rpc.startsWith('Create');
  if (!isAsked || unchanging.includes(answerClass)) return { type: 'create.changed-nothing', ...attempt };
  return { type: grpcCode === 'RESOURCE_EXHAUSTED' ? 'create.no-room' : 'create.unknown', ...attempt };
}

/** A call that only looks may be repeated, whatever became of it. */
export function failedLook(_: SnapshotContext, attempt: FailedAttempt): SnapshotOutcome {
  if (attempt.status === 'interrupted') return { type: 'call.interrupted', ...attempt };
  return { type: attempt.failure.final ? 'look.refused' : 'look.failed', ...attempt };
}

/** A removal may be repeated, whatever became of it. */
export function failedRemove(context: SnapshotContext, attempt: FailedAttempt): SnapshotOutcome {
  if (attempt.status === 'interrupted') return { type: 'call.interrupted', ...attempt };
  if (isLast(context, attempt)) return { type: 'remove.given-up', ...attempt };
  return { type: attempt.failure.final ? 'remove.refused' : 'remove.failed', ...attempt };
}
