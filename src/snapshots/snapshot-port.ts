/** Port for the calls about snapshots. Requests and answers are Stagecraft's types, not CSI's messages. */
import type { MadeSnapshot } from '../../machines/snapshot/types.js';
import type { CallBounds } from '../calls/call-bounds.js';

interface CreateRequest {
  name: string;
  /** CSI ids of the source volumes: one id if it is no group. */
  sourceIds: string[];
  parameters: Record<string, string>;
}

export interface SnapshotIds {
  csiId: string;
  /** Ids of all members of a group; empty for a single snapshot. */
  memberIds: string[];
}

/**
 * Calls about snapshots. Each method makes one call with the given client, and sends all of its request: the caller checks
 * capabilities first. Errors are those of ControllerPort.
 */
export interface SnapshotPort {
  createSnapshot(client: unknown, request: CreateRequest, bounds: CallBounds): Promise<MadeSnapshot>;
  deleteSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<void>;
  /** Resolves with undefined if the plugin does not know the snapshot. */
  getSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
  /** Finds the snapshot by ListSnapshots; resolves with undefined if it is not listed. */
  listedSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
  groupCapabilities(client: unknown, bounds: CallBounds): Promise<string[]>;
  createGroup(client: unknown, request: CreateRequest, bounds: CallBounds): Promise<MadeSnapshot>;
  deleteGroup(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<void>;
  getGroup(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
}
