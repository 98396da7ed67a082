/** API of snapshots, of one volume and of several. Requests are answered when the work is done, as in volume-api.ts. */
import type { FastifyInstance } from 'fastify';
import { snapshotNotThere } from '../../machines/snapshot/refusals.js';
import type { SnapshotKey, SnapshotKind } from '../../machines/snapshot/types.js';
import { groupSnapshotRoutes, snapshotRoutes } from '../api/volume-routes.js';
import { StagecraftError } from '../errors.js';
import { serve } from '../inspector/json-server.js';
import type { Runtime } from '../runtime/runtime.js';

function notFound(kind: SnapshotKind, { namespace, id }: SnapshotKey): StagecraftError {
  const { code, message } = snapshotNotThere({ kind, namespace, id });
  return new StagecraftError(code, message);
}

export function serveSnapshots(server: FastifyInstance, { snapshots, groupSnapshots }: Runtime): void {
  serve(server, snapshotRoutes.list, ({ query }) => snapshots.list(query));
  serve(server, snapshotRoutes.create, ({ body, query }) => snapshots.create(body, query));
  serve(server, snapshotRoutes.get, async ({ params }) => {
    const snapshot = await snapshots.get(params);
    if (snapshot) return snapshot;
    throw notFound('volume-snapshot', params);
  });
  serve(server, groupSnapshotRoutes.list, ({ query }) => groupSnapshots.list(query));
  serve(server, groupSnapshotRoutes.create, ({ body, query }) => groupSnapshots.create(body, query));
  serve(server, groupSnapshotRoutes.get, async ({ params }) => {
    const snapshot = await groupSnapshots.get(params);
    if (snapshot) return snapshot;
    throw notFound('group-snapshot', params);
  });
  for (const [routes, manager] of [
    [snapshotRoutes, snapshots],
    [groupSnapshotRoutes, groupSnapshots],
  ] as const) {
    serve(server, routes.delete, ({ params, body, query }) => manager.delete(params, { ...body, ...query }));
    serve(server, routes.retry, ({ params, body }) => manager.retry(params, body));
    serve(server, routes.acknowledge, ({ params }) => manager.acknowledge(params));
  }
}
