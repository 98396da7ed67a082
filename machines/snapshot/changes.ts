/** How requests and outcomes of calls change the data of a snapshot, and what is broadcast of that. Pure. */

import { type BackoffPolicy, defaultBackoff, jittered } from '../kit/backoff.js';
import { type FailedAttempt, maxUnproven } from '../kit/call-states.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import type {
  MadeSnapshot,
  SnapshotChanged,
  SnapshotContext,
  SnapshotInput,
  SnapshotOutcome,
  SnapshotRequest,
} from './types.js';

type Broadcast = SnapshotChanged extends infer One ? (One extends unknown ? Omit<One, 'key' | 'uid'> : never) : never;
type Request<TType> = Extract<SnapshotRequest, { type: TType }>;
type Made = Extract<SnapshotOutcome, { made: MadeSnapshot }>;

/** The data that changes, and the events that are broadcast. */
export interface SnapshotChange {
  context: Partial<SnapshotContext>;
  broadcasts?: Broadcast[];
}

/** Delays between two looks whether a snapshot is ready. */
const readinessBackoff: BackoffPolicy = { initialMs: 500, maxMs: 60_000 };

export const noSnapshot = ({ kind, namespace, id }: SnapshotInput): SnapshotContext => ({
  kind,
  key: { namespace, id },
  uid: '',
  name: '',
  round: 0,
  spec: null,
  csi: null,
  untrusted: 0,
  discards: [],
  isForced: false,
  tries: null,
  failure: null,
  leftovers: [],
  left: { made: [] },
  driver: null,
  home: null,
  awaiting: null,
});

/** Each round has a name of its own, so that the plugin answers with nothing of the round before. */
export const nameWithPlugin = ({ name, round }: Pick<SnapshotContext, 'name' | 'round'>): string =>
  round === 0 ? name : `${name}-${round}`;

/** Untrusted snapshots are removed before the snapshot itself. */
export const nextToRemove = ({ discards, csi }: SnapshotContext): MadeSnapshot | null => discards[0] ?? csi;

export const begun = (
  { kind, key }: SnapshotContext,
  { spec, uid, name, home, driver }: Request<'snapshot.create'>,
): SnapshotChange => ({
  context: { ...noSnapshot({ kind, ...key }), spec, uid, name, home: home ?? null, driver: driver ?? null },
});

/** A request for another attempt forgets the failed ones. */
const forgotten = { tries: null, failure: null, untrusted: 0 };

export const retried = (_: SnapshotContext, { acceptDriver }: Request<'snapshot.retry'>): SnapshotChange => ({
  context: { ...forgotten, ...(acceptDriver !== undefined && { driver: acceptDriver }) },
});

/** Deletes with force again what a forced deletion may have left. */
export const retriedLeftovers = (context: SnapshotContext, request: Request<'snapshot.retry'>): SnapshotChange => ({
  context: {
    ...retried(context, request).context,
    isForced: true,
    csi: null,
    discards: context.left.made,
    leftovers: [],
    left: { made: [] },
  },
});

/** Once forced, a deletion stays so. */
export const deletionAsked = (
  { isForced }: SnapshotContext,
  { force }: Request<'snapshot.delete'>,
): SnapshotChange => ({ context: { ...forgotten, isForced: isForced || force } });

const deleted = (leftovers: string[]): Broadcast => ({ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) });

export const gone = ({ leftovers }: SnapshotContext): SnapshotChange => ({
  context: {},
  broadcasts: [deleted(leftovers)],
});

/** Keeps a snapshot that its first call has made. */
export function created(_: SnapshotContext, { made, ...stamp }: Made): SnapshotChange {
  const { csiId, isReady } = made;
  const broadcasts: Broadcast[] = [{ type: 'created', csiId }];
  if (isReady) broadcasts.push({ type: 'ready', csiId });
  return { context: { csi: made, untrusted: 0, tries: isReady ? null : notReady(null, stamp) }, broadcasts };
}

/** Keeps the id, so that the snapshot can be deleted. */
export const found = (_: SnapshotContext, { made }: Made): SnapshotChange => ({
  context: { csi: made, untrusted: 0, tries: null },
});

/** Begins the doubt: the runtime ended during the call. Attempts before it have made nothing. */
export const interrupted = (): SnapshotChange => ({ context: { tries: null } });

/**
 * Discards a snapshot that an earlier call without an answer may have begun: it may be incomplete, or of another
 * moment. A call that only the end of the runtime cut off says nothing of the plugin, and is not counted.
 */
export const distrusted = (context: SnapshotContext, { made }: Made): SnapshotChange =>
  untrust(context, [made], context.untrusted + (context.tries ? 1 : 0));

function untrust(context: SnapshotContext, made: MadeSnapshot[], untrusted = context.untrusted + 1): SnapshotChange {
  const failure = untrusted < maxUnproven ? null : unproven(context);
  const broadcasts: Broadcast[] = made.map(({ csiId }) => ({ type: 'untrusted', csiId }));
  if (failure) broadcasts.push({ type: 'failed', failure });
  const discards = [...context.discards, ...made];
  return { context: { csi: null, discards, round: context.round + 1, untrusted, tries: null, failure }, broadcasts };
}

const unproven = ({ spec }: SnapshotContext): CallFailure => ({
  code: 'SNAPSHOT_UNPROVEN',
  message:
    `${maxUnproven} times plugin '${spec?.plugin}' did not say in time what became of it, so that what it made can't be ` +
    'trusted and was removed: give its calls more time (calls.timeoutMs), then retry',
  final: true,
});

export function lookedAt({ tries }: SnapshotContext, { made, ...stamp }: Made): SnapshotChange {
  if (!made.isReady) return { context: { csi: made, tries: notReady(tries, stamp) } };
  return { context: { csi: made, tries: null }, broadcasts: [{ type: 'ready', csiId: made.csiId }] };
}

/** Discards the snapshot: the plugin shows another one, or not what was asked for. */
export const foundOther = (context: SnapshotContext, { made }: Made): SnapshotChange =>
  untrust(context, [...(context.csi ? [context.csi] : []), made]);

/** Applies the outcome of a probe that was under way when the deletion was requested: a snapshot that it found is kept, to be deleted. */
export function lookedMeanwhile(context: SnapshotContext, look: Made | FailedAttempt): SnapshotChange {
  if ('failure' in look) {
    const { failure } = look;
    return { context: {}, ...(failure.final && { broadcasts: [{ type: 'failed', failure }] }) };
  }
  const { made } = look;
  const { csi } = context;
  if (csi && csi.csiId !== made.csiId) return { context: { csi: null, discards: [csi, made] } };
  return { context: { csi: made }, ...(made.isReady && { broadcasts: [{ type: 'ready', csiId: made.csiId }] }) };
}

/** Next look, after at least half of the delay: nothing has failed. */
function notReady(tries: Tries | null, { at, random }: Stamped): Tries {
  const count = (tries?.count ?? 0) + 1;
  return {
    count,
    notBeforeMs: at + jittered(readinessBackoff, count, (1 + random) / 2),
    sinceMs: at,
    failure: { code: 'SNAPSHOT_NOT_READY', message: 'the plugin says that it is not ready to use yet', final: false },
  };
}

export const removed = ({ discards }: SnapshotContext): SnapshotChange => ({
  context: { tries: null, ...(discards.length > 0 ? { discards: discards.slice(1) } : { csi: null }) },
});

export const removedLast = (context: SnapshotContext): SnapshotChange => ({ ...gone(context), ...removed(context) });

/** Repeats the call after a delay. */
export function attemptFailed(
  { tries }: SnapshotContext,
  { failure, retry, at, random }: FailedAttempt,
): SnapshotChange {
  const count = (tries?.count ?? 0) + 1;
  const notBeforeMs = at + jittered(retry ?? defaultBackoff, count, random);
  return { context: { tries: { count, notBeforeMs, sinceMs: at, failure } } };
}

/** Leaves the call failed until somebody asks for another attempt. */
export const callRefused = (_: SnapshotContext, { failure }: FailedAttempt): SnapshotChange => ({
  context: { failure, tries: null, untrusted: 0 },
  broadcasts: [{ type: 'failed', failure }],
});

const advised = <TAttempt extends FailedAttempt>(attempt: TAttempt, advice: string): TAttempt => ({
  ...attempt,
  failure: { ...attempt.failure, message: `${attempt.failure.message}; ${advice}` },
});

const afterRefusal = 'it may have been made by an attempt before: retry once that is mended, or delete it with force';
const onceThereIsRoom =
  'it may have been made all the same: once there is room, retry makes it anew, and a deletion asks for it once more, to ' +
  'find out and remove it; with force it is given up';

export const hadNoRoom = (context: SnapshotContext, attempt: FailedAttempt): SnapshotChange =>
  callRefused(context, advised(attempt, onceThereIsRoom));

/** Keeps the doubt: a refused repeat does not prove that an earlier attempt made nothing. */
export const refusedToFindOut = (context: SnapshotContext, attempt: FailedAttempt): SnapshotChange =>
  callRefused(context, advised(attempt, afterRefusal));

export const noRoomToFindOut = (context: SnapshotContext, attempt: FailedAttempt): SnapshotChange =>
  attemptFailed(context, advised(attempt, onceThereIsRoom));

/** Ends the deletion: the creation was refused, so nothing is there. */
export const refusedAndGone = (context: SnapshotContext, { failure }: FailedAttempt): SnapshotChange => ({
  context: {},
  broadcasts: [{ type: 'failed', failure }, ...(gone(context).broadcasts ?? [])],
});

/** Leaves the removal failed; a reason why no further snapshot is made comes before it. */
export const removalRefused = (context: SnapshotContext, { failure }: FailedAttempt): SnapshotChange => ({
  context: { failure: context.failure ?? failure, tries: null },
  broadcasts: [{ type: 'failed', failure }],
});

/** Gives up the removal, as the deletion is forced, and keeps what may be left. */
export function removalGivenUp(context: SnapshotContext, { failure }: FailedAttempt): SnapshotChange {
  const made = nextToRemove(context);
  if (!made) throw new Error('nothing is to be removed');
  const { leftovers, left } = context;
  return {
    context: {
      ...removed(context).context,
      leftovers: [...leftovers, `${made.csiId}: ${failure.message}`],
      left: { ...left, made: [...left.made, made] },
    },
  };
}

export const lastRemovalGivenUp = (context: SnapshotContext, attempt: FailedAttempt): SnapshotChange =>
  over(context, removalGivenUp(context, attempt));

/** Ends a forced deletion without the id. */
export function findingOutGivenUp(context: SnapshotContext, { failure }: FailedAttempt): SnapshotChange {
  const asked = nameWithPlugin(context);
  const leftovers = [...context.leftovers, `what was asked for as ${asked}: ${failure.message}`];
  return over(context, { context: { tries: null, leftovers, left: { ...context.left, asked } } });
}

const over = (context: SnapshotContext, change: SnapshotChange): SnapshotChange => ({
  ...change,
  broadcasts: [deleted(change.context.leftovers ?? context.leftovers)],
});
