/**
 * API of volumes. Requests are answered when the work is done.
 * A client that disconnects cancels nothing, except its place in the queue for a claim.
 */
import type { FastifyInstance } from 'fastify';
import { volumeRoutes as routes } from '../api/volume-routes.js';
import { serve } from '../inspector/json-server.js';
import { definedCapability } from '../requests/fields.js';
import type { Runtime } from '../runtime/runtime.js';
import { notFound } from '../volumes/volume-checks.js';

export function serveVolumes(server: FastifyInstance, { volumes }: Runtime): void {
  serve(server, routes.list, ({ query }) => volumes.list(query));
  serve(server, routes.create, ({ body: { home, ...spec }, query }) => volumes.create(spec, { ...query, home }));
  serve(server, routes.get, async ({ params }) => {
    const volume = await volumes.get(params);
    if (volume) return volume;
    throw notFound(params);
  });
  serve(server, routes.publish, ({ params, body: { nodeId, capability, readOnly }, query }) =>
    volumes.publish(params, nodeId, {
      ...(capability && { capability: definedCapability(capability) }),
      readOnly,
      ...query,
    }),
  );
  serve(server, routes.unpublish, ({ params, body, query }) => volumes.unpublish(params, body.nodeId, query));
  serve(server, routes.expand, ({ params, body, query }) => volumes.expand(params, body, query));
  serve(server, routes.modify, ({ params, body, query }) => volumes.modify(params, body.mutableParameters, query));
  serve(server, routes.delete, ({ params, body, query }) => volumes.delete(params, { ...body, ...query }));
  serve(server, routes.claim, ({ params, body, gone }) => volumes.claim(params, { ...body, signal: gone }));
  serve(server, routes.release, ({ params, body }) => volumes.release(params, body.allocId));
  serve(server, routes.setAvailability, ({ params, body }) => volumes.setAvailability(params, body.availability));
  serve(server, routes.retry, ({ params, body }) => volumes.retry(params, body));
  serve(server, routes.acknowledge, ({ params }) => volumes.acknowledge(params));
  serve(server, routes.capacity, ({ body: { plugin, ...request }, query }) => volumes.capacity(plugin, request, query));
  serve(server, routes.reconcile, ({ body }) => volumes.reconcile(body.plugin));
  serve(server, routes.orphans, ({ query }) => volumes.orphans(query.plugin));
}
