/**
 * Keeps what copies are made of: a volume or a snapshot is not removed or resized while another one is being made from it.
 * The records of the copies say so, which also holds after a restart. A copy commits before it looks whether its source
 * leaves, and a source commits its deletion before it looks for copies. So one of the two always finds the other.
 * Why records and no list in the source: docs/decisions/0028-sources-of-copies.md
 */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import type { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import type { volumeMachine } from '../../machines/volume/volume.js';
import type { StoreWait } from '../engine/storage/store-patience.js';
import type { CopySource, IdOwners } from './id-owners.js';

type Owners<M extends typeof volumeMachine | typeof volumeSnapshotMachine> = Pick<
  IdOwners<M>,
  'known' | 'copiesOf' | 'isNew' | 'leavingOwnerOf'
>;

interface CopyRecords {
  volumes: Owners<typeof volumeMachine>;
  snapshots: Owners<typeof volumeSnapshotMachine>;
}

export class CopySources {
  readonly #records: CopyRecords;

  constructor(records: CopyRecords) {
    this.#records = records;
  }

  /**
   * Returns why the sources can't be removed now, naming their copies; undefined if they can.
   * @param wait of the caller's request, which ends the wait for records
   */
  async removalRefusal(sources: readonly CopySource[], wait?: StoreWait): Promise<CallFailure | undefined> {
    const copies = await this.#copiesOf(sources, { wait });
    return copies.length === 0
      ? undefined
      : inUse(
          `${copies.join(' and ')} ${verb(copies)} being made from it: wait until that is done, or delete it first`,
        );
  }

  /** Returns why a volume can't be resized now; undefined if it can. Copies that have not begun are no reason. */
  async resizeRefusal(source: CopySource): Promise<CallFailure | undefined> {
    const copies = await this.#copiesOf([source], { isBegun: true });
    return copies.length === 0
      ? undefined
      : inUse(`${copies.join(' and ')} ${verb(copies)} being made from it: it is resized after that`);
  }

  /**
   * Returns why no copy of the sources can begin; undefined if it can, or has begun: then its outcome has to be learned.
   * @param address of the copy
   */
  async copyRefusal(address: string, sources: readonly CopySource[]): Promise<CallFailure | undefined> {
    const { volumes, snapshots } = this.#records;
    return volumes.isNew(address) || snapshots.isNew(address) ? this.leaving(sources) : undefined;
  }

  /**
   * Returns why nothing new can be made from the sources, as one of them is being deleted; undefined if it can.
   * @param wait of the caller's request, which ends the wait for records
   */
  async leaving(sources: readonly CopySource[], wait?: StoreWait): Promise<CallFailure | undefined> {
    const { volumes, snapshots } = this.#records;
    for (const source of sources) {
      const leaving = await (source.of === 'volume' ? volumes : snapshots).leavingOwnerOf(source, wait);
      if (leaving === undefined) continue;
      const code = source.of === 'volume' ? 'VOLUME_DELETING' : 'SNAPSHOT_DELETING';
      const message = `its source, ${leaving}, is being deleted: make it from another one`;
      return { code, message, final: true };
    }
    return undefined;
  }

  async #copiesOf(
    sources: readonly CopySource[],
    { isBegun, wait }: { isBegun?: boolean; wait?: StoreWait | undefined } = {},
  ): Promise<string[]> {
    const { volumes, snapshots } = this.#records;
    await Promise.all([volumes.known(wait), snapshots.known(wait)]);
    const names = [volumes, snapshots].flatMap((records) =>
      sources.flatMap((one) => records.copiesOf(one, { isBegun })),
    );
    return [...new Set(names)];
  }
}

const inUse = (message: string): CallFailure => ({ code: 'VOLUME_IN_USE', message, final: false });

const verb = ({ length }: string[]): string => (length === 1 ? 'is' : 'are');
