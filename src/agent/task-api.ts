/** API of tasks: show them, read their logs, stop, remove and restart them. */
import type { FastifyInstance } from 'fastify';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import type { LogPart } from '../tasks/task-logs.js';
import type { TaskStatus } from '../tasks/task-supervisor.js';
import { flagIn } from './requests.js';

/** One task in the answer of `GET /v1/tasks`. */
export type TaskReport = TaskStatus;
/** Answer of `GET /v1/tasks/ID/logs`. */
export type LogReport = LogPart;

const noLog = (id: string): StagecraftError =>
  new StagecraftError(
    'LOG_UNREADABLE',
    `there is no log of task ${id} here: Stagecraft did not start its plugin, look where it was started`,
  );

type OfTask = { Params: { id: string } };
export function serveTasks(server: FastifyInstance, { tasks }: Runtime): void {
  server.get('/v1/tasks', (): TaskReport[] => tasks.list());
  server.get<OfTask>('/v1/tasks/:id', ({ params: { id } }): TaskReport => tasks.status(id));
  server.get<OfTask & { Querystring: { lines?: string; after?: string } }>(
    '/v1/tasks/:id/logs',
    ({ params: { id }, query: { lines, after } }): Promise<LogReport> => {
      if (tasks.status(id).logPath === undefined) throw noLog(id);
      return tasks.readLog(id, {
        ...(lines !== undefined && { lines: Number(lines) }),
        ...(after !== undefined && { after: Number(after) }),
      });
    },
  );
  for (const ending of ['stop', 'remove'] as const) {
    server.post<OfTask>(`/v1/tasks/:id/${ending}`, async ({ params: { id }, body }, reply) => {
      await tasks[ending](id, { force: flagIn(body, 'force') });
      return reply.code(204).send();
    });
  }
  server.post<OfTask>('/v1/tasks/:id/restart', async ({ params: { id } }, reply) => {
    await tasks.restart(id);
    return reply.code(204).send();
  });
}
