/** What requests and answers make of a snapshot: its next context, and what is told of that. Pure. */

import { type BackoffPolicy, defaultBackoff, dueAtMs, jittered } from '../kit/backoff.js';
import { type FailedAttempt, forcedAttempts, idTaken } from '../kit/call-states.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { ErrorCode } from '../kit/error-table.js';
import type { Failure, Stamped } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { otherSpec } from '../kit/spec-differences.js';
import type {
  MadeSnapshot,
  SnapshotChanged,
  SnapshotContext,
  SnapshotInput,
  SnapshotRequest,
  SnapshotWork,
  SnapshotWorkKind,
} from './types.js';

type Told = SnapshotChanged extends infer One ? (One extends unknown ? Omit<One, 'key' | 'uid'> : never) : never;

/** What becomes of a context, and what is broadcast of it. */
export interface SnapshotChange {
  context: Partial<SnapshotContext>;
  tells?: Told[];
}

/** How soon it is asked again whether a snapshot is ready. */
const readinessBackoff: BackoffPolicy = { initialMs: 500, maxMs: 60_000 };
/** So often what was made could not be trusted, and it is made anew no more by itself. */
const maxUntrusted = 3;

/** One that is not there. */
export const noSnapshot = ({ kind, namespace, id }: SnapshotInput): SnapshotContext => ({
  kind,
  key: { namespace, id },
  uid: '',
  name: '',
  round: 0,
  spec: null,
  csi: null,
  creation: {},
  readiness: {},
  discards: [],
  removal: {},
  deletion: null,
  leftovers: [],
  driver: null,
  home: null,
  work: null,
  awaiting: null,
});

export const snapshotName = ({ kind, namespace, id }: SnapshotInput): string =>
  `${kind === 'group-snapshot' ? 'group snapshot' : 'snapshot'} ${namespace}/${id}`;

const nameOf = ({ kind, key }: SnapshotContext): string => snapshotName({ kind, ...key });

const refused = (code: ErrorCode, context: SnapshotContext, why: string): Failure => ({
  code,
  message: `${nameOf(context)}: ${why}`,
  final: true,
});

/** Undefined where the request is taken. */
export function refusalIn(context: SnapshotContext, request: SnapshotRequest): Failure | undefined {
  if (request.type !== 'snapshot.create') return undefined;
  if (context.deletion)
    return refused('SNAPSHOT_DELETING', context, 'it is being deleted: create it anew once it is gone');
  if (isSameData(context.spec, request.spec)) return undefined;
  return refused('SNAPSHOT_EXISTS', context, otherSpec(context.spec, request.spec));
}

/** What one that is not there answers to all but its creation. */
export const snapshotNotThere = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_NOT_FOUND', context, 'there is none: list them, or create it');

const leftBehind = ({ leftovers }: SnapshotContext): string =>
  `it was deleted, but may be left behind (${leftovers.join('; ')})`;

/** Answer of a deleted snapshot that may have leftovers to its creation. */
export const snapshotHasLeftovers = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_EXISTS', context, `${leftBehind(context)}: retry or acknowledge that first`);

/** The same to all else but its retry and its acknowledgement. */
export const snapshotOnlyLeftovers = (context: SnapshotContext): Failure => {
  const todo = `${isSnapshotRetryable(context) ? 'retry tries that once more; or ' : ''}see to that by hand, then acknowledge it`;
  return refused('SNAPSHOT_NOT_FOUND', context, `${leftBehind(context)}: ${todo}`);
};

/** Whether it is known of what is left how to undo it. */
export const isSnapshotRetryable = ({ left }: SnapshotContext): boolean =>
  left !== undefined && (left.made.length > 0 || left.isInDoubt === true);

/** Deletes with force once more what is left. */
export const retrySnapshotLeftovers = ({ left }: SnapshotContext, acceptDriver?: string): SnapshotChange => ({
  context: {
    ...accepted(acceptDriver),
    deletion: { force: true },
    csi: null,
    discards: left?.made ?? [],
    creation: left?.isInDoubt ? { inDoubt: true } : {},
    removal: {},
    leftovers: [],
    left: { made: [] },
  },
});

/** What one that is not deleted yet answers to whoever has seen to its leftovers. */
export const snapshotNothingLeft = (context: SnapshotContext): Failure =>
  refused(
    'NOTHING_LEFT',
    context,
    'it is not deleted, so that nothing can be acknowledged: that is for what a forced deletion has left',
  );

export const begunSnapshot = (
  { kind, key }: SnapshotContext,
  { spec, uid, name, home, driver }: Extract<SnapshotRequest, { type: 'snapshot.create' }>,
): SnapshotChange => ({
  context: { ...noSnapshot({ kind, ...key }), spec, uid, name, home: home ?? null, driver: driver ?? null },
});

/** What failed is tried again at once: nothing is known to stand in its way. */
const afresh = ({ creation }: SnapshotContext): Partial<SnapshotContext> => ({
  creation: creation.inDoubt ? { inDoubt: true } : {},
  readiness: {},
  removal: {},
});

const accepted = (driver: string | undefined): Partial<SnapshotContext> => (driver === undefined ? {} : { driver });

export const retrySnapshot = (context: SnapshotContext, acceptDriver?: string): SnapshotChange => ({
  context: { ...afresh(context), ...accepted(acceptDriver) },
});

/** Its call was made without knowing the plugin's driver. @param change what its answer made of it */
export const learnedSnapshot = (
  { driver: known }: SnapshotContext,
  change: SnapshotChange,
  driver: string,
): SnapshotChange => (known ? change : { ...change, context: { ...change.context, driver } });

export const deleteSnapshot = (context: SnapshotContext, force: boolean): SnapshotChange => {
  const { deletion, creation, removal } = context;
  const isAsked = deletion !== null && (deletion.force || !force);
  // Asked for again, what has failed is tried again; what waits for its time keeps that.
  if (isAsked && !creation.failure && !removal.failure) return { context: {} };
  return { context: { deletion: isAsked ? deletion : { force }, ...afresh(context) } };
};

/** What is to be removed next: what is not to be kept, then what is not wanted any more. */
export const doomed = ({ discards, deletion, csi }: SnapshotContext): MadeSnapshot | null =>
  discards[0] ?? (deletion ? csi : null);

function pieceOf(
  context: SnapshotContext,
): { kind: SnapshotWorkKind; csiId?: string; tries: Tries | undefined } | undefined {
  const { csi, creation, readiness, removal, deletion } = context;
  const unwanted = doomed(context);
  if (unwanted) return removal.failure ? undefined : { kind: 'remove', csiId: unwanted.csiId, tries: removal.tries };
  // What may have been made can be deleted only once its id is known.
  if (!csi)
    return creation.failure || (deletion && !creation.inDoubt) ? undefined : { kind: 'create', tries: creation.tries };
  return csi.isReady || readiness.failure ? undefined : { kind: 'look', tries: readiness.tries };
}

/** Null where nothing is to be done. */
export function nextSnapshotWork(context: SnapshotContext, nowMs: number): SnapshotWork | null {
  const piece = pieceOf(context);
  if (!piece) return null;
  const { tries, ...work } = piece;
  const due = dueAtMs(tries, nowMs);
  return { ...work, dueAtMs: due, isCalling: due <= nowMs };
}

export const isSnapshotGone = ({ deletion, csi, creation, discards }: SnapshotContext): boolean =>
  deletion !== null && !csi && !creation.inDoubt && discards.length === 0;

export const goneSnapshot = ({ leftovers }: SnapshotContext): SnapshotChange => ({
  context: {},
  tells: [{ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) }],
});

/** The plugin says that it is made. */
export function madeSnapshot(context: SnapshotContext, made: MadeSnapshot, stamp: Stamped): SnapshotChange {
  const { creation, deletion } = context;
  if (deletion) return { context: { csi: made, creation: {} } };
  // What was begun by a call without an answer may be anything: half of it, or of another moment.
  if (creation.inDoubt) return distrust(context, [made]);
  const { csiId, isReady } = made;
  const tells: Told[] = [{ type: 'created', csiId }];
  if (isReady) tells.push({ type: 'ready', csiId });
  const readiness = isReady ? {} : { tries: notReady(undefined, stamp) };
  return { context: { csi: made, creation: {}, readiness }, tells };
}

function distrust(context: SnapshotContext, made: MadeSnapshot[]): SnapshotChange {
  const { discards, creation, round } = context;
  const untrusted = (creation.untrusted ?? 0) + 1;
  const tells: Told[] = made.map(({ csiId }) => ({ type: 'untrusted', csiId }));
  const failure = untrusted < maxUntrusted ? undefined : unproven(context);
  if (failure) tells.push({ type: 'failed', failure });
  return {
    context: {
      csi: null,
      discards: [...discards, ...made],
      round: round + 1,
      creation: failure ? { failure } : { untrusted },
      readiness: {},
    },
    tells,
  };
}

const unproven = ({ spec }: SnapshotContext): CallFailure => ({
  code: 'SNAPSHOT_UNPROVEN',
  message:
    `${maxUntrusted} times plugin '${spec?.plugin}' did not say in time what became of it, so that what it made can't be ` +
    'trusted and was removed: give its calls more time (calls.timeoutMs), then retry',
  final: true,
});

/** What the plugin says of one that was not ready. */
export function lookedAt(context: SnapshotContext, made: MadeSnapshot, stamp: Stamped): SnapshotChange {
  const { csi, readiness, deletion } = context;
  if (csi && csi.csiId !== made.csiId) {
    // It is not the one that was made: that is lost, or is not what was asked for.
    return deletion ? { context: { csi: null, discards: [csi, made] } } : distrust(context, [csi, made]);
  }
  if (made.isReady) return { context: { csi: made, readiness: {} }, tells: [{ type: 'ready', csiId: made.csiId }] };
  return { context: { csi: made, readiness: { tries: notReady(readiness.tries, stamp) } } };
}

/** When it is asked again: at least half of the delay later, for nothing has failed. */
function notReady(tries: Tries | undefined, { at, random }: Stamped): Tries {
  const count = (tries?.count ?? 0) + 1;
  return {
    count,
    notBeforeMs: at + jittered(readinessBackoff, count, (1 + random) / 2),
    sinceMs: at,
    failure: { code: 'SNAPSHOT_NOT_READY', message: 'the plugin says that it is not ready to use yet', final: false },
  };
}

/** What was to be removed is gone. */
export const removedSnapshot = ({ discards }: SnapshotContext): SnapshotChange => ({
  context: { removal: {}, ...(discards.length > 0 ? { discards: discards.slice(1) } : { csi: null }) },
});

/** The piece of work that it is at has failed: it is tried again later, is given up, or stays failed. */
export function failedSnapshot(context: SnapshotContext, attempt: FailedAttempt): SnapshotChange {
  if (attempt.isAnew) {
    // While it waited, no run of it has made a call.
    const isDoubtful = context.work?.kind === 'create' && !attempt.isNotBegun && !context.awaiting;
    return { context: isDoubtful ? { creation: { ...context.creation, inDoubt: true } } : {} };
  }
  switch (context.work?.kind) {
    case 'create':
      return creationFailed(context, attempt);
    case 'look':
      return pieceFailed(context, attempt, 'readiness');
    case 'remove':
      return isGivenUp(context, attempt, context.removal.tries)
        ? giveUp(context, attempt)
        : pieceFailed(context, attempt, 'removal');
    default:
      throw new Error('it is at nothing');
  }
}

const isGivenUp = ({ deletion }: SnapshotContext, { failure }: FailedAttempt, tries: Tries | undefined): boolean =>
  deletion?.force === true && (failure.final || (tries?.count ?? 0) + 1 >= forcedAttempts);

/** With a forced deletion: what it may leave is remembered. */
function giveUp(context: SnapshotContext, { failure }: FailedAttempt): SnapshotChange {
  const made = doomed(context);
  const what = made?.csiId ?? `what was asked for as ${nameWithPlugin(context)}`;
  const before = context.left ?? { made: [] };
  const left = made ? { ...before, made: [...before.made, made] } : { ...before, isInDoubt: true as const };
  const leftovers = [...context.leftovers, `${what}: ${failure.message}`];
  const removed = context.csi || context.discards.length > 0 ? removedSnapshot(context).context : {};
  return { context: { ...removed, creation: {}, leftovers, left } };
}

function pieceFailed(context: SnapshotContext, attempt: FailedAttempt, piece: 'readiness' | 'removal'): SnapshotChange {
  const { failure } = attempt;
  if (failure.final) return { context: { [piece]: { failure } }, tells: [{ type: 'failed', failure }] };
  return { context: { [piece]: { tries: again(attempt, context[piece].tries) } } };
}

const again = ({ failure, retry, at, random }: FailedAttempt, tries: Tries | undefined): Tries => {
  const count = (tries?.count ?? 0) + 1;
  return { count, notBeforeMs: at + jittered(retry ?? defaultBackoff, count, random), sinceMs: at, failure };
};

const whatToDo = 'it may have been made by an attempt before: retry once that is mended, or delete it with force';
const whatToDoIfFull =
  'it may have been made all the same: once there is room, retry makes it anew, and a deletion asks for it once more, to ' +
  'find out and remove it; with force it is given up';
/** Such a call changed nothing. */
const harmless = ['busy', 'repair'];

/** No answer to a repeat proves that an attempt before it has made nothing: what it has made may even be why. */
function creationFailed(context: SnapshotContext, attempt: FailedAttempt): SnapshotChange {
  const { creation, deletion } = context;
  const { failure, isNotBegun } = attempt;
  // Whatever attempts before were in doubt about, its plugin has nothing of its own for it.
  if (failure.code === idTaken && failure.final)
    return deletion
      ? { context: { creation: {} } }
      : { context: { creation: { failure } }, tells: [{ type: 'failed', failure }] };
  const { answerClass = '', grpcCode = '', rpc = 'Create', final } = failure;
  const isAsked = !isNotBegun && rpc.startsWith('Create');
  const isUnknown = isAsked && !final && !harmless.includes(answerClass);
  const doubt = creation.inDoubt || isUnknown ? { inDoubt: true } : {};
  const untrusted = creation.untrusted === undefined ? {} : { untrusted: creation.untrusted };
  if (isGivenUp(context, attempt, creation.tries))
    return doubt.inDoubt ? giveUp(context, attempt) : { context: { creation: {} } };
  const isFull = grpcCode === 'RESOURCE_EXHAUSTED' && !final;
  const advice = isFull ? whatToDoIfFull : final && doubt.inDoubt && deletion ? whatToDo : undefined;
  const told = advice === undefined ? failure : { ...failure, message: `${failure.message}; ${advice}` };
  // No room: that is for whoever asked to see to, not to be tried again by itself.
  if (final || (isFull && !deletion))
    return { context: { creation: { failure: told, ...doubt } }, tells: [{ type: 'failed', failure: told }] };
  const tries = again({ ...attempt, failure: told }, creation.tries);
  return { context: { creation: { ...untrusted, ...doubt, tries } } };
}

/** The name of this round: what is made anew has another one than what could not be trusted. */
export const nameWithPlugin = ({ name, round }: SnapshotContext): string => (round === 0 ? name : `${name}-${round}`);
