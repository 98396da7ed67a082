/**
 * Snapshots of several volumes of one plugin, taken at one moment: one actor for all, with the states of a snapshot
 * of one volume (snapshot.ts). Diagram: docs/machines/group-snapshot.md (generated).
 */
import { snapshotMachine } from './snapshot.js';

export const groupSnapshotMachine = snapshotMachine('group-snapshot');
