/** From each older version of the node machine to the next. Each has a recorded history that proves it: test/nodes/node-migrations.test.ts */
import type { Migration } from '../engine/effects/effects.js';

/** Version 2 has the slots of volumes. What is there already is counted before the first slot is reserved. */
export const slotsKept: Migration = {
  name: 'slots are kept',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => ({ ...snapshot, context: { ...context, slots: {} } }),
};
