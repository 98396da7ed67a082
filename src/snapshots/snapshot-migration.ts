/** Migrates records of the snapshot machines from each older version to the next. Recorded histories prove it: test/snapshots/snapshot-migration.test.ts */
import type { Migration } from '../engine/effects/effects.js';

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

export const snapshotMigrations: Migration[] = [steps];
