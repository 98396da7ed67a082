/** API of plugins: show them; register and deregister those that somebody else runs. */
import type { FastifyInstance } from 'fastify';
import { pluginRoutes as routes } from '../api/agent-routes.js';
import { StagecraftError } from '../errors.js';
import { serve } from '../inspector/json-server.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { Runtime } from '../runtime/runtime.js';

export function servePlugins(server: FastifyInstance, { plugins, tasks }: Pick<Runtime, 'plugins' | 'tasks'>): void {
  const report = (status: PluginStatus): PluginStatus & { instances: number } => {
    const { type, name } = status.info;
    return { ...status, instances: plugins.instances(type, name).length };
  };
  /** An instance of a task comes and goes with it. */
  const refuseTasked = (allocId: string): void => {
    const task = tasks.list().find((one) => one.allocId === allocId);
    if (!task) return;
    const message = `task ${task.id} runs instance ${allocId}: stop it with stagecraft task stop ${task.id}`;
    throw new StagecraftError('INVALID_ARGUMENT', message);
  };
  serve(server, routes.list, ({ query }) =>
    plugins
      .list(query.type)
      .filter(({ name }) => query.name === undefined || name === query.name)
      .map(({ type, name }) => report(plugins.status(type, name))),
  );
  serve(server, routes.status, async ({ params: { type, name }, query: { waitFor: until, ...options } }) => {
    if (until === undefined) return report(plugins.status(type, name));
    return report(await plugins.waitFor(type, name, { until, ...options }));
  });
  serve(server, routes.register, ({ body }) => {
    refuseTasked(body.allocId);
    return plugins.register(body);
  });
  serve(server, routes.deregister, ({ params: { type, name }, body: { allocId } }) => {
    plugins.forAlloc(type, name, allocId);
    refuseTasked(allocId);
    return plugins.deregister(type, name, allocId);
  });
}
