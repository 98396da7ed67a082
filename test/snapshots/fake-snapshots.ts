/** Snapshots of the fake plugin, and their calls. How calls are scripted: fake-plugin.ts */
import type { Given } from '../../src/csi/codec.js';
import { csiError } from '../../src/csi/codes.js';
import type * as plain from '../../src/csi/generated/plain.js';

export interface KeptSnapshot {
  id: string;
  name: string;
  /** Ids of the source volumes; several for a group. */
  sources: string[];
  /** Number of answers that still call the snapshot not ready. */
  unready: number;
}

export type SnapshotRpc =
  | 'CreateSnapshot'
  | 'DeleteSnapshot'
  | 'GetSnapshot'
  | 'ListSnapshots'
  | 'GroupControllerGetCapabilities'
  | 'CreateVolumeGroupSnapshot'
  | 'DeleteVolumeGroupSnapshot'
  | 'GetVolumeGroupSnapshot';

type Make = { name?: string; sources: string[] };

export abstract class FakeSnapshots {
  readonly snapshots = new Map<string, KeptSnapshot>();
  /** Number of answers that call a new snapshot not ready. */
  unreadyFor = 0;
  groupCapabilities = ['CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT'];
  /** Ids of group members that were deleted from outside: calls that name them get NOT_FOUND. */
  readonly lostMembers = new Set<string>();
  #made = 0;

  abstract readonly volumes: Map<string, { capacityBytes: bigint }>;
  protected abstract take<T>(
    rpc: SnapshotRpc,
    about: { volume: string; volumes?: string[]; snapshot: string; request: object },
    work: () => T,
  ): Promise<T>;

  /** Continues the numbers in ids above this one. */
  countFrom(number: number): void {
    this.#made = number;
  }

  createSnapshot(request: Given<plain.CreateSnapshotRequest>): Promise<plain.CreateSnapshotResponse> {
    const { name = '', sourceVolumeId: volume = '' } = request;
    return this.take('CreateSnapshot', { volume, snapshot: name, request }, () => ({
      snapshot: this.#answer(this.#make('CreateSnapshot', 'snap', { name, sources: [volume] })),
    }));
  }

  deleteSnapshot(request: Given<plain.DeleteSnapshotRequest>): Promise<void> {
    const id = request.snapshotId ?? '';
    return this.take(
      'DeleteSnapshot',
      { volume: id, snapshot: this.#nameOf(id), request },
      () => void this.snapshots.delete(id),
    );
  }

  getSnapshot(request: Given<plain.GetSnapshotRequest>): Promise<plain.GetSnapshotResponse> {
    const id = request.snapshotId ?? '';
    return this.take('GetSnapshot', { volume: id, snapshot: this.#nameOf(id), request }, () => {
      const kept = this.snapshots.get(id);
      if (!kept) throw csiError('GetSnapshot', 'NOT_FOUND', `there is no ${id}`);
      return { snapshot: this.#answer(kept) };
    });
  }

  listSnapshots(request: Given<plain.ListSnapshotsRequest>): Promise<plain.ListSnapshotsResponse> {
    const id = request.snapshotId ?? '';
    return this.take('ListSnapshots', { volume: id, snapshot: this.#nameOf(id), request }, () => {
      const kept = this.snapshots.get(id);
      return { entries: kept ? [{ snapshot: this.#answer(kept) }] : [], nextToken: '' };
    });
  }

  async groupControllerGetCapabilities(): Promise<string[]> {
    return this.groupCapabilities;
  }

  createVolumeGroupSnapshot(
    request: Given<plain.CreateVolumeGroupSnapshotRequest>,
  ): Promise<plain.CreateVolumeGroupSnapshotResponse> {
    const { name = '', sourceVolumeIds = [] } = request;
    const sources = [...sourceVolumeIds];
    return this.take('CreateVolumeGroupSnapshot', { volume: name, volumes: sources, snapshot: name, request }, () => ({
      groupSnapshot: this.#groupAnswer(this.#make('CreateVolumeGroupSnapshot', 'group', { name, sources })),
    }));
  }

  deleteVolumeGroupSnapshot(request: Given<plain.DeleteVolumeGroupSnapshotRequest>): Promise<void> {
    const id = request.groupSnapshotId ?? '';
    return this.take('DeleteVolumeGroupSnapshot', { volume: id, snapshot: this.#nameOf(id), request }, () => {
      const lost = request.snapshotIds?.find((member) => this.lostMembers.has(member));
      if (lost !== undefined) throw csiError('DeleteVolumeGroupSnapshot', 'NOT_FOUND', `there is no ${lost}`);
      this.snapshots.delete(id);
    });
  }

  getVolumeGroupSnapshot(
    request: Given<plain.GetVolumeGroupSnapshotRequest>,
  ): Promise<plain.GetVolumeGroupSnapshotResponse> {
    const id = request.groupSnapshotId ?? '';
    return this.take('GetVolumeGroupSnapshot', { volume: id, snapshot: this.#nameOf(id), request }, () => {
      const kept = this.snapshots.get(id);
      if (!kept) throw csiError('GetVolumeGroupSnapshot', 'NOT_FOUND', `there is no ${id}`);
      return { groupSnapshot: this.#groupAnswer(kept) };
    });
  }

  snapshotNamed(name: string): KeptSnapshot | undefined {
    for (const one of this.snapshots.values()) if (one.name === name) return one;
    return undefined;
  }

  #nameOf(id: string): string {
    return this.snapshots.get(id)?.name ?? id;
  }

  #make(rpc: SnapshotRpc, prefix: string, { name = '', sources }: Make): KeptSnapshot {
    const known = this.snapshotNamed(name);
    if (known) {
      known.unready -= 1;
      return known;
    }
    const missing = sources.find((id) => !this.volumes.has(id));
    if (missing !== undefined) throw csiError(rpc, 'NOT_FOUND', `there is no ${missing}`);
    this.#made += 1;
    const made = { id: `${prefix}-${this.#made}`, name, sources, unready: this.unreadyFor };
    this.snapshots.set(made.id, made);
    return made;
  }

  #answer({ id, sources: [sourceVolumeId = ''], unready }: KeptSnapshot): plain.Snapshot {
    const sizeBytes = this.volumes.get(sourceVolumeId)?.capacityBytes ?? 0n;
    const creationTime = { seconds: 1_000n, nanos: 5_000_000 };
    return { snapshotId: id, sourceVolumeId, sizeBytes, creationTime, readyToUse: unready <= 0, groupSnapshotId: '' };
  }

  #groupAnswer({ id, sources, unready, name }: KeptSnapshot): plain.VolumeGroupSnapshot {
    const readyToUse = unready <= 0;
    return {
      groupSnapshotId: id,
      readyToUse,
      creationTime: { seconds: 1_000n, nanos: 0 },
      snapshots: sources
        .map((source) => ({
          ...this.#answer({ id: `${id}-of-${source}`, sources: [source], unready, name }),
          groupSnapshotId: id,
        }))
        .filter(({ snapshotId }) => !this.lostMembers.has(snapshotId)),
    };
  }
}
