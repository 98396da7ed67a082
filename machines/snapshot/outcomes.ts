/** Requests and outcomes of calls, applied to a snapshot, and what is broadcast of that. Pure. */
import { callUnderWay, type FailedAttempt, forcedAttempts, idTaken } from '../kit/call.js';
import type { Stamped } from '../kit/host.js';
import { type SnapshotContext, snapshotChart } from './phases.js';
import type {
  MadeSnapshot,
  SnapshotCallKind,
  SnapshotChanged,
  SnapshotData,
  SnapshotOutcome,
  SnapshotPhaseEvent,
  SnapshotRequest,
} from './types.js';

type Broadcast = SnapshotChanged extends infer One ? (One extends unknown ? Omit<One, 'key' | 'uid'> : never) : never;

/** The data that changes, and the events that are broadcast. */
export interface SnapshotChange {
  context: SnapshotContext;
  broadcasts?: Broadcast[];
}

const isGone = ({ at }: SnapshotContext): boolean => at === 'absent' || at === 'left-behind';

/** Broadcasts of a step. Nobody hears that a snapshot was made whose deletion had been asked for. */
function broadcastsOf(before: SnapshotContext, after: SnapshotContext): Broadcast[] {
  const { at, csi, round, discards, failure, leftovers } = after;
  const broadcasts: Broadcast[] = [];
  if (csi && before.at === 'pending-create') broadcasts.push({ type: 'created', csiId: csi.csiId });
  if (csi && at === 'ready' && before.at !== at) broadcasts.push({ type: 'ready', csiId: csi.csiId });
  if (round > before.round) for (const { csiId } of discards) broadcasts.push({ type: 'untrusted', csiId });
  if (failure && failure !== before.failure) broadcasts.push({ type: 'failed', failure });
  if (isGone(after) && !isGone(before))
    broadcasts.push({ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) });
  return broadcasts;
}

function stepped(context: SnapshotContext, event: SnapshotPhaseEvent): SnapshotChange {
  const after = snapshotChart.step(context, event);
  return { context: after, broadcasts: broadcastsOf(context, after) };
}

/** @throws Error if a snapshot is gone whose call is under way: nobody would be there for the outcome */
export function requested(context: SnapshotContext, request: SnapshotRequest): SnapshotChange {
  const work = callUnderWay(context);
  const isDeletion = request.type === 'snapshot.delete';
  const change = stepped(context, isDeletion ? { ...request, underWay: work?.kind } : request);
  if (work && isGone(change.context))
    throw new Error(`'${request.type}' ends the snapshot while its call '${work.kind}' is under way`);
  return change;
}

export const doneWith =
  (type: 'create.done' | 'look.done') =>
  (context: SnapshotContext, made: MadeSnapshot, stamp: Stamped): SnapshotChange =>
    stepped(context, { type, made, ...stamp });

export const removeDone = (context: SnapshotContext, _: null, stamp: Stamped): SnapshotChange =>
  stepped(context, { type: 'remove.done', ...stamp });

export const learned = ({ driver: known }: SnapshotContext, change: SnapshotChange, driver: string): SnapshotChange =>
  known ? change : { ...change, context: { ...change.context, driver } };

export const notMade = (context: SnapshotContext): SnapshotChange => stepped(context, { type: 'call.not-made' });

/** Retries the failed call later, gives it up, or leaves it failed. */
export function failed(context: SnapshotContext, attempt: FailedAttempt): SnapshotChange {
  const { work } = context;
  if (!work) throw new Error('no call is in progress');
  const isInterrupted = attempt.status === 'interrupted';
  return stepped(context, isInterrupted ? { type: 'call.interrupted' } : outcomes[work.kind](context, attempt));
}

/** Answers of plugins that have changed nothing. */
const unchanging = ['busy', 'repair'];

/** Whether a forced deletion makes no further attempt. */
const isLast = ({ isForced, tries }: SnapshotData, { failure }: FailedAttempt): boolean =>
  isForced && (failure.final || (tries?.count ?? 0) + 1 >= forcedAttempts);

type Outcome = (data: SnapshotData, attempt: FailedAttempt) => SnapshotOutcome;

const failedCreate: Outcome = (data, attempt) => {
  const { status, failure } = attempt;
  const { code, final, answerClass = '', grpcCode, rpc = 'Create' } = failure;
  if (code === idTaken && final) return { type: 'create.id-taken', ...attempt };
  if (isLast(data, attempt)) return { type: 'create.given-up', ...attempt };
  if (final) return { type: 'create.refused', ...attempt };
  const isAsked = status !== 'not-sent' && rpc.startsWith('Create');
  if (!isAsked || unchanging.includes(answerClass)) return { type: 'create.changed-nothing', ...attempt };
  return { type: grpcCode === 'RESOURCE_EXHAUSTED' ? 'create.no-room' : 'create.unknown', ...attempt };
};

/** A call that only looks may be repeated, whatever became of it. */
const failedLook: Outcome = (_, attempt) => ({
  type: attempt.failure.final ? 'look.refused' : 'look.failed',
  ...attempt,
});

/** A removal may be repeated, whatever became of it. */
const failedRemove: Outcome = (data, attempt) => {
  if (isLast(data, attempt)) return { type: 'remove.given-up', ...attempt };
  return { type: attempt.failure.final ? 'remove.refused' : 'remove.failed', ...attempt };
};

const outcomes: Record<SnapshotCallKind, Outcome> = {
  create: failedCreate,
  look: failedLook,
  remove: failedRemove,
  delete: failedRemove,
};
