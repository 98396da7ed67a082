/** API of nodes: their reports, and the fencing and removal of lost nodes. */
import type { FastifyInstance } from 'fastify';
import { nodeRoutes as routes } from '../api/node-routes.js';
import { serve } from '../inspector/json-server.js';
import type { Runtime } from '../runtime/runtime.js';

export function serveNodes(server: FastifyInstance, { nodes }: Runtime): void {
  serve(server, routes.list, () => nodes.list());
  serve(server, routes.status, ({ params: { id } }) => nodes.status(id));
  serve(server, routes.report, ({ params: { id }, body }) => nodes.report({ id, ...body }));
  serve(server, routes.down, ({ params: { id } }) => nodes.down(id));
  serve(server, routes.fence, ({ params: { id }, body }) => nodes.fence(id, body.reason));
  serve(server, routes.remove, ({ params: { id } }) => nodes.remove(id));
  serve(server, routes.reportUnstaged, ({ params: { id }, body: { volume, ...report } }) =>
    nodes.reportUnstaged(id, volume, report),
  );
}
