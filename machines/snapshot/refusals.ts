/** Answers of a snapshot to requests that its state does not allow. Pure. */
import type { Failure } from '../kit/host.js';
import { refusalBy } from '../kit/requests.js';
import { isSameData, otherSpec } from '../kit/same-data.js';
import type { SnapshotContext } from './phases.js';
import { isBeingDeleted } from './states.js';
import type { SnapshotInput, SnapshotRequest, SnapshotSpec } from './types.js';

export const snapshotName = ({ kind, namespace, id }: SnapshotInput): string =>
  `${kind === 'group-snapshot' ? 'group snapshot' : 'snapshot'} ${namespace}/${id}`;

const refused = refusalBy(({ kind, key }: SnapshotContext) => snapshotName({ kind, ...key }));

/** To a creation while the snapshot is being deleted. */
const snapshotDeleting = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_DELETING', context, 'it is being deleted: create it anew once it is gone');

/** To a creation with another spec. */
const snapshotExists = (context: SnapshotContext, spec: SnapshotSpec): Failure =>
  refused('SNAPSHOT_EXISTS', context, otherSpec(context.spec, spec));

/** To all but a creation while there is none. */
export const snapshotNotThere = (asked: SnapshotInput): Failure => ({
  code: 'SNAPSHOT_NOT_FOUND',
  message: `there is no ${snapshotName(asked)}: list them, or create it`,
  final: true,
});

/** To a deletion of another snapshot that had this key. */
const snapshotReplaced = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_NOT_FOUND', context, 'the one that was meant is gone, and another has its id');

const leftBehind = ({ leftovers }: SnapshotContext): string =>
  `it was deleted, but may be left behind (${leftovers.join('; ')})`;

/** To a creation while something may be left behind. */
const snapshotHasLeftovers = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_EXISTS', context, `${leftBehind(context)}: retry or acknowledge that first`);

/** To all else but a retry and an acknowledgement while something may be left behind. */
export const snapshotOnlyLeftovers = (context: SnapshotContext): Failure => {
  const todo = `${isRetryable(context) ? 'retry to try again, or ' : ''}remove it by hand, then acknowledge it`;
  return refused('SNAPSHOT_NOT_FOUND', context, `${leftBehind(context)}: ${todo}`);
};

/** Whether the leftovers are known as data; older records have words only. */
const isRetryable = ({ left: { made, asked } }: SnapshotContext): boolean => made.length > 0 || asked !== undefined;

/** To an acknowledgement while nothing is left behind. */
const snapshotNothingLeft = (context: SnapshotContext): Failure =>
  refused('NOTHING_LEFT', context, 'it is not deleted: only leftovers of a forced deletion can be acknowledged');

/** Returns why the request can't be taken; undefined if it can. */
export function refusalOf(context: SnapshotContext, request: SnapshotRequest): Failure | undefined {
  const { at, kind, key, uid, spec } = context;
  if (at === 'left-behind') {
    if (request.type === 'snapshot.create') return snapshotHasLeftovers(context);
    const isTaken =
      request.type === 'snapshot.acknowledge' || (request.type === 'snapshot.retry' && isRetryable(context));
    return isTaken ? undefined : snapshotOnlyLeftovers(context);
  }
  if (request.type === 'snapshot.create') {
    if (at === 'absent') return undefined;
    if (isBeingDeleted(context)) return snapshotDeleting(context);
    return isSameData(spec, request.spec) ? undefined : snapshotExists(context, request.spec);
  }
  if (at === 'absent') return snapshotNotThere({ kind, ...key });
  if (request.type === 'snapshot.delete' && request.uid !== undefined && request.uid !== uid)
    return snapshotReplaced(context);
  return request.type === 'snapshot.acknowledge' ? snapshotNothingLeft(context) : undefined;
}
