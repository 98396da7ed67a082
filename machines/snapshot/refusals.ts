/** Answers of a snapshot to requests that its state does not allow. Pure. */
import type { ErrorCode } from '../kit/error-table.js';
import type { Failure } from '../kit/host.js';
import { otherSpec } from '../kit/spec-differences.js';
import type { SnapshotContext, SnapshotInput, SnapshotSpec } from './types.js';

export const snapshotName = ({ kind, namespace, id }: SnapshotInput): string =>
  `${kind === 'group-snapshot' ? 'group snapshot' : 'snapshot'} ${namespace}/${id}`;

const refused = (code: ErrorCode, { kind, key }: SnapshotContext, why: string): Failure => ({
  code,
  message: `${snapshotName({ kind, ...key })}: ${why}`,
  final: true,
});

/** To a creation while the snapshot is being deleted. */
export const snapshotDeleting = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_DELETING', context, 'it is being deleted: create it anew once it is gone');

/** To a creation with another spec. */
export const snapshotExists = (context: SnapshotContext, spec: SnapshotSpec): Failure =>
  refused('SNAPSHOT_EXISTS', context, otherSpec(context.spec, spec));

/** To all but a creation while there is none. */
export const snapshotNotThere = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_NOT_FOUND', context, 'there is none: list them, or create it');

const leftBehind = ({ leftovers }: SnapshotContext): string =>
  `it was deleted, but may be left behind (${leftovers.join('; ')})`;

/** To a creation while something may be left behind. */
export const snapshotHasLeftovers = (context: SnapshotContext): Failure =>
  refused('SNAPSHOT_EXISTS', context, `${leftBehind(context)}: retry or acknowledge that first`);

/** To all else but a retry and an acknowledgement while something may be left behind. */
export const snapshotOnlyLeftovers = (context: SnapshotContext): Failure => {
  const todo = `${isRetryable(context) ? 'retry to try again, or ' : ''}remove it by hand, then acknowledge it`;
  return refused('SNAPSHOT_NOT_FOUND', context, `${leftBehind(context)}: ${todo}`);
};

/** Whether the leftovers are known as data; older records have words only. */
const isRetryable = ({ left: { made, asked } }: SnapshotContext): boolean => made.length > 0 || asked !== undefined;

/** To an acknowledgement while nothing is left behind. */
export const snapshotNothingLeft = (context: SnapshotContext): Failure =>
  refused('NOTHING_LEFT', context, 'it is not deleted: only leftovers of a forced deletion can be acknowledged');
