/**
 * Snapshots of several volumes of one plugin, as they were at one moment: one actor for all of them, of the same states
 * as a snapshot of one volume (volume-snapshot.ts). Diagram: docs/machines/group-snapshot.md (generated).
 */
import { snapshotMachine } from './snapshot.js';

export const groupSnapshotMachine = snapshotMachine('group-snapshot');
