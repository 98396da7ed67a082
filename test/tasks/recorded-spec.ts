/** Specs of tasks as their records have them, with the values of their environments at hand. */
import type { TaskSpec } from '../../machines/task/task-types.js';
import { systemClock } from '../../src/engine/clock.js';
import { TaskEnvironments } from '../../src/tasks/environments.js';
import { completeTask, type TaskOptions } from '../../src/tasks/spec.js';

export const environments = new TaskEnvironments({
  clock: systemClock,
  resolve: () => Promise.reject(new Error('there are no secrets')),
});

export const recordedSpec = (options: TaskOptions): TaskSpec => environments.recorded(completeTask(options), undefined);
