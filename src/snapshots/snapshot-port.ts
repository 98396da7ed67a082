/** What snapshots ask of plugins, in the words of the house: the port behind which CSI stands. */
import type { MadeSnapshot } from '../../machines/snapshot/types.js';
import type { CallBounds } from '../calls/call-bounds.js';

export interface CreateRequest {
  name: string;
  /** The plugin's ids of the volumes: one where it is no group. */
  sourceIds: string[];
  parameters: Record<string, string>;
}

export interface SnapshotIds {
  csiId: string;
  /** Of all members, where it is a group. */
  memberIds: string[];
}

/**
 * Each method makes one call with a dispensed client. They reject as those of ControllerPort do. Requests say all that is
 * to be sent: gates are for the caller.
 */
export interface SnapshotPort {
  createSnapshot(client: unknown, request: CreateRequest, bounds: CallBounds): Promise<MadeSnapshot>;
  deleteSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<void>;
  /** Undefined where the plugin does not know it. */
  getSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
  /** The same by its list; undefined where it is not in there. */
  listedSnapshot(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
  /** What its service for groups offers. */
  groupCapabilities(client: unknown, bounds: CallBounds): Promise<string[]>;
  createGroup(client: unknown, request: CreateRequest, bounds: CallBounds): Promise<MadeSnapshot>;
  deleteGroup(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<void>;
  getGroup(client: unknown, ids: SnapshotIds, bounds: CallBounds): Promise<MadeSnapshot | undefined>;
}
