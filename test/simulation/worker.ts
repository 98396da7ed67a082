/** A process that runs the histories of the seeds that it is sent, and reports each. Started by fleet.ts. */
import { endServer } from './redis-subject.js';
import { runTask, type Task } from './task.js';

process.on('disconnect', () => void endServer().then(() => process.exit()));
process.on('message', (task: Task) => void runTask(task).then((report) => process.send?.(report)));
