/** How requests and outcomes of calls change the data of a snapshot. Pure. What they lead to: phases.ts */

import type { BackoffPolicy } from '../kit/backoff.js';
import { counted, type FailedAttempt, maxUnproven } from '../kit/call.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import type { MadeSnapshot, SnapshotData, SnapshotInput, SnapshotOutcome, SnapshotRequest } from './types.js';

type Request<TType> = Extract<SnapshotRequest, { type: TType }>;
type Made = Extract<SnapshotOutcome, { made: MadeSnapshot }>;
type Change = Partial<SnapshotData>;

/** Delays between two looks whether a snapshot is ready. */
const readinessBackoff: BackoffPolicy = { initialMs: 500, maxMs: 60_000 };

export const noSnapshot = ({ kind, namespace, id }: SnapshotInput): SnapshotData => ({
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
  work: null,
  awaiting: null,
});

/** Each round has a name of its own, so that the plugin answers with nothing of the round before. */
export const nameWithPlugin = ({ name, round }: Pick<SnapshotData, 'name' | 'round'>): string =>
  round === 0 ? name : `${name}-${round}`;

/** Untrusted snapshots are removed before the snapshot itself. */
export const nextToRemove = ({ discards, csi }: Pick<SnapshotData, 'discards' | 'csi'>): MadeSnapshot | null =>
  discards[0] ?? csi;

export const begun = (
  { kind, key }: SnapshotData,
  { spec, uid, name, home, driver }: Request<'snapshot.create'>,
): Change => ({ ...noSnapshot({ kind, ...key }), spec, uid, name, home: home ?? null, driver: driver ?? null });

/** A request for another attempt forgets the failed ones. */
const forgotten = { tries: null, failure: null, untrusted: 0 };

export const retried = (_: SnapshotData, { acceptDriver }: Request<'snapshot.retry'>): Change => ({
  ...forgotten,
  ...(acceptDriver !== undefined && { driver: acceptDriver }),
});

/** Deletes with force again what a forced deletion may have left. */
export const retriedLeftovers = (data: SnapshotData, request: Request<'snapshot.retry'>): Change => ({
  ...retried(data, request),
  isForced: true,
  csi: null,
  discards: data.left.made,
  leftovers: [],
  left: { made: [] },
});

/** Once forced, a deletion stays so. */
export const deletionAsked = ({ isForced }: SnapshotData, { force }: Request<'snapshot.delete'>): Change => ({
  ...forgotten,
  isForced: isForced || force,
});

/** Keeps a snapshot that its first call has made. */
export const created = (_: SnapshotData, { made, ...stamp }: Made): Change => ({
  csi: made,
  untrusted: 0,
  tries: made.isReady ? null : notReady(null, stamp),
});

/** Keeps the id, so that the snapshot can be deleted. */
export const found = (_: SnapshotData, { made }: Made): Change => ({ csi: made, untrusted: 0, tries: null });

/** Begins the doubt: the runtime ended during the call. Attempts before it have made nothing. */
export const interrupted = (): Change => ({ tries: null });

/**
 * Discards a snapshot that an earlier call without an answer may have begun: it may be incomplete, or of another
 * moment. A call that only the end of the runtime cut off says nothing of the plugin, and is not counted.
 */
export const distrusted = (data: SnapshotData, { made }: Made): Change =>
  untrust(data, [made], data.untrusted + (data.tries ? 1 : 0));

/** Discards the snapshot: the plugin shows another one, or not what was asked for. */
export const foundOther = (data: SnapshotData, { made }: Made): Change =>
  untrust(data, [...(data.csi ? [data.csi] : []), made], data.untrusted + 1);

function untrust(data: SnapshotData, made: MadeSnapshot[], untrusted: number): Change {
  const failure = untrusted < maxUnproven ? null : unproven(data);
  const discards = [...data.discards, ...made];
  return { csi: null, discards, round: data.round + 1, untrusted, tries: null, failure };
}

const unproven = ({ spec }: SnapshotData): CallFailure => ({
  code: 'SNAPSHOT_UNPROVEN',
  message:
    `${maxUnproven} times plugin '${spec?.plugin}' did not say in time what became of it, so that what it made can't be ` +
    'trusted and was removed: give its calls more time (calls.timeoutMs), then retry',
  final: true,
});

export const lookedAt = ({ tries }: SnapshotData, { made, ...stamp }: Made): Change => ({
  csi: made,
  tries: made.isReady ? null : notReady(tries, stamp),
});

/** Keeps a snapshot that a look has found after the deletion was asked for, so that it is deleted, too. */
export const lookedMeanwhile = ({ csi }: SnapshotData, { made }: Made): Change =>
  csi && csi.csiId !== made.csiId ? { csi: null, discards: [csi, made] } : { csi: made };

/** Next look, after at least half of the delay: nothing has failed. */
const notReady = (tries: Tries | null, { at, random }: Stamped): Tries =>
  counted(tries ?? undefined, {
    ...{ at, random: (1 + random) / 2, status: 'failed', retry: readinessBackoff },
    failure: { code: 'SNAPSHOT_NOT_READY', message: 'the plugin says that it is not ready to use yet', final: false },
  });

export const removed = ({ discards }: SnapshotData): Change => ({
  tries: null,
  ...(discards.length > 0 ? { discards: discards.slice(1) } : { csi: null }),
});

/** Repeats the call after a delay. */
export const attemptFailed = ({ tries }: SnapshotData, attempt: FailedAttempt): Change => ({
  tries: counted(tries ?? undefined, attempt),
});

/** Leaves the call failed until somebody asks for another attempt. */
export const callRefused = (_: SnapshotData, { failure }: FailedAttempt): Change => ({
  failure,
  tries: null,
});

const advised = <TAttempt extends FailedAttempt>(attempt: TAttempt, advice: string): TAttempt => ({
  ...attempt,
  failure: { ...attempt.failure, message: `${attempt.failure.message}; ${advice}` },
});

const afterRefusal = 'it may have been made by an attempt before: retry once that is mended, or delete it with force';
const onceThereIsRoom =
  'it may have been made all the same: once there is room, retry makes it anew, and a deletion asks for it once more, to ' +
  'find out and remove it; with force it is given up';

export const hadNoRoom = (data: SnapshotData, attempt: FailedAttempt): Change =>
  callRefused(data, advised(attempt, onceThereIsRoom));

/** Keeps the doubt: a refused repeat does not prove that an earlier attempt made nothing. */
export const refusedToFindOut = (data: SnapshotData, attempt: FailedAttempt): Change =>
  callRefused(data, advised(attempt, afterRefusal));

export const noRoomToFindOut = (data: SnapshotData, attempt: FailedAttempt): Change =>
  attemptFailed(data, advised(attempt, onceThereIsRoom));

/** Gives up the removal, as the deletion is forced, and keeps what may be left. */
export function removalGivenUp(data: SnapshotData, { failure }: FailedAttempt): Change {
  const made = nextToRemove(data);
  if (!made) throw new Error('nothing is to be removed');
  const { leftovers, left } = data;
  return {
    ...removed(data),
    leftovers: [...leftovers, `${made.csiId}: ${failure.message}`],
    left: { ...left, made: [...left.made, made] },
  };
}

/** Ends a forced deletion without the id. */
export function findingOutGivenUp(data: SnapshotData, { failure }: FailedAttempt): Change {
  const asked = nameWithPlugin(data);
  const leftovers = [...data.leftovers, `what was asked for as ${asked}: ${failure.message}`];
  return { tries: null, leftovers, left: { ...data.left, asked } };
}
