/** Both kinds of snapshots for tests on a real socket: how to request them, and their ids at the driver. */
import { groupSnapshotAddress, snapshotAddress } from '../../machines/kit/addresses.js';
import type { RpcName } from '../../src/csi/answers.js';
import type { GroupSnapshots, Snapshots } from '../../src/runtime/runtime.js';
import type { GroupSnapshot, Snapshot } from '../../src/snapshots/snapshot-view.js';
import type { AnswersScene } from '../volumes/answers-scene.js';

export const sources = [{ id: 'data' }, { id: 'wal' }];

export interface Sort {
  creates: RpcName;
  deletes: RpcName;
  of(scene: AnswersScene): Pick<Snapshots | GroupSnapshots, 'delete' | 'retry'> & {
    get(key: { id: string }): Promise<Snapshot | GroupSnapshot | undefined>;
  };
  create(scene: AnswersScene, id: string): Promise<unknown>;
  address(id: string): string;
  /** Ids at the driver, with that of the group first. */
  real(scene: AnswersScene): string[];
  believed(snapshot: Snapshot | GroupSnapshot): string[];
}

const idsOf = (records: unknown[]): string[] => (records as { id: string }[]).map(({ id }) => id);

export const ofOne: Sort = {
  creates: 'CreateSnapshot',
  deletes: 'DeleteSnapshot',
  of: ({ runtime }) => runtime.snapshots,
  create: ({ runtime }, id) => runtime.snapshots.create({ id, volume: { id: 'data' } }),
  address: (id) => snapshotAddress('default', id),
  real: (scene) => idsOf(scene.records('snapshots')),
  believed: ({ csiId = '' }) => [csiId],
};

export const ofGroups: Sort = {
  creates: 'CreateVolumeGroupSnapshot',
  deletes: 'DeleteVolumeGroupSnapshot',
  of: ({ runtime }) => runtime.groupSnapshots,
  create: ({ runtime }, id) => runtime.groupSnapshots.create({ id, volumes: sources }),
  address: (id) => groupSnapshotAddress('default', id),
  real: (scene) => idsOf([...scene.records('groups'), ...scene.records('snapshots')]),
  believed: (group) => [
    group.csiId ?? '',
    ...('snapshots' in group ? group.snapshots.map(({ csiId }) => csiId).sort() : []),
  ],
};
