/** Routes for those who watch many agents: metrics, and whether this one lives and is ready. */
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { Runtime } from '../runtime/runtime.js';

export function serveMetrics(server: FastifyInstance, runtime: Pick<Runtime, 'store'>, registry: Registry): void {
  server.get('/metrics', async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  // The process answers, and no more than that.
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', (_, reply) => {
    const { available, since } = runtime.store;
    if (available) return { status: 'ok' };
    const message = `the store does not answer since ${new Date(since ?? 0).toISOString()}`;
    return reply.code(503).send({ code: 'STORE_UNAVAILABLE', message });
  });
}
