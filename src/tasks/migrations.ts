/** From each older version of the task machine to the next. Each has a recorded history that proves it: test/tasks/migrations.test.ts */
import type { Migration } from '../engine/effects/effects.js';

/** Version 2 follows the health of a running task's plugin; one that runs was healthy when that began. */
export const healthKept: Migration = {
  name: 'health is kept',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => ({
    ...snapshot,
    context: { ...context, health: snapshot.value === 'running' ? { healthy: true, description: 'ready' } : null },
  }),
};
