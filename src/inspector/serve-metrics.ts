/** Routes for those who watch many agents: metrics, and whether this one lives and is ready. */
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { agentRoutes as routes } from '../api/agent-routes.js';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import { serve } from './json-server.js';

export function serveMetrics(server: FastifyInstance, runtime: Pick<Runtime, 'store'>, registry: Registry): void {
  serve(server, { ...routes.metrics, contentType: registry.contentType }, () => registry.metrics());
  // The process answers, and no more than that.
  serve(server, routes.health, () => ({ status: 'ok' }));
  serve(server, routes.ready, () => {
    const { available, since } = runtime.store;
    if (available) return { status: 'ok' };
    const message = `the store does not answer, or takes no writes, since ${new Date(since ?? 0).toISOString()}`;
    throw new StagecraftError('STORE_UNAVAILABLE', message);
  });
}
