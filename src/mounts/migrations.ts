/** Migrates records of the mount machine from each older version to the next. Recorded histories prove it: test/mounts/migrations.test.ts */
import type { Migration } from '../engine/effects/effects.js';

/** Version 3 takes other steps from the same records. */
const steps: Migration = { name: 'other steps', from: '2', to: '3', migrate: (snapshot) => snapshot };

export const mountMigrations: Migration[] = [steps];
