/**
 * API of allocs and of the mounts of this node. Requests are answered when the work is done.
 * A client that disconnects cancels nothing: a prepare goes on until its own timeout, or until the alloc is released.
 */
import type { FastifyInstance } from 'fastify';
import { allocRoutes, mountRoutes } from '../api/node-routes.js';
import { serve } from '../inspector/json-server.js';
import type { Runtime } from '../runtime/runtime.js';

export function serveMounts(server: FastifyInstance, { allocations, mounts }: Runtime): void {
  serve(server, allocRoutes.list, () => allocations.list());
  serve(server, allocRoutes.status, ({ params }) => allocations.status(params.allocId));
  serve(server, allocRoutes.prepare, ({ params, body: { volumes, ...options } }) =>
    allocations.prepare(params.allocId, volumes, options),
  );
  serve(server, allocRoutes.release, ({ params, body }) => allocations.release(params.allocId, body));
  serve(server, mountRoutes.list, () => mounts.list());
  serve(server, mountRoutes.stats, ({ params }) => mounts.stats(params));
  serve(server, mountRoutes.retry, ({ params, body }) => mounts.retry(params, body));
  serve(server, mountRoutes.orphans, () => mounts.orphans());
  serve(server, mountRoutes.cleanOrphan, ({ body }) => mounts.cleanOrphan(body.path));
}
