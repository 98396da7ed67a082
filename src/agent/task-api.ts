/** API of tasks: show them, read their logs, stop, remove and restart them. */
import type { FastifyInstance } from 'fastify';
import { taskRoutes as routes } from '../api/agent-routes.js';
import { StagecraftError } from '../errors.js';
import { serve } from '../inspector/json-server.js';
import type { Runtime } from '../runtime/runtime.js';

const noLog = (id: string): StagecraftError =>
  new StagecraftError(
    'LOG_UNREADABLE',
    `there is no log of task ${id} here: Stagecraft did not start its plugin, look where it was started`,
  );

export function serveTasks(server: FastifyInstance, { tasks }: Runtime): void {
  serve(server, routes.list, () => tasks.list());
  serve(server, routes.status, ({ params: { id } }) => tasks.status(id));
  serve(server, routes.logs, ({ params: { id }, query: { lines, after } }) => {
    if (tasks.status(id).logPath === undefined) throw noLog(id);
    return tasks.readLog(id, { ...(lines !== undefined && { lines }), ...(after !== undefined && { after }) });
  });
  serve(server, routes.stop, ({ params: { id }, body }) => tasks.stop(id, body));
  serve(server, routes.remove, ({ params: { id }, body }) => tasks.remove(id, body));
  serve(server, routes.restart, ({ params: { id } }) => tasks.restart(id));
}
