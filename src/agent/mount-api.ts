/**
 * API of allocs and of the mounts of this node. Requests are answered when the work is done.
 * A client that disconnects cancels nothing: a prepare goes on until its own timeout, or until the alloc is released.
 */
import type { FastifyInstance } from 'fastify';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { AllocStatus } from '../allocs/alloc-view.js';
import type { AllocVolumeRequest } from '../mounts/mount-spec.js';
import type { MountStatus } from '../mounts/mount-view.js';
import type { VolumeUsage } from '../mounts/node-port.js';
import type { OrphanedMount } from '../mounts/orphaned-mounts.js';
import type { VolumeStats } from '../mounts/volume-stats.js';
import type { AwaitOptions } from '../requests/await-options.js';
import type { Runtime } from '../runtime/runtime.js';
import { retryIn, textIn } from './requests.js';

/** One alloc in the answer of `GET /v1/allocs`. */
export type AllocReport = AllocStatus;

/** One volume in the answer of `POST /v1/allocs/ID/prepare`. */
export type PreparedMount = AllocMount;

/** One volume in the answer of `GET /v1/mounts`. */
export type MountReport = MountStatus;

/** One mount in the answer of `GET /v1/orphaned-mounts`: without a record, or not unmounted by its plugin. */
export type OrphanedMountReport = OrphanedMount;

type Bytes = number | string;

/** Answer of `GET /v1/mounts/NAMESPACE/ID/stats`. Sizes above 2⁵³−1 are decimal texts. */
export interface StatsReport extends Omit<VolumeStats, 'usage'> {
  usage: (Omit<VolumeUsage, 'total' | 'used' | 'available'> & { total: Bytes; used: Bytes; available: Bytes })[];
}

interface OfAlloc {
  Params: { allocId: string };
  Body: Pick<AwaitOptions, 'timeoutMs'>;
}

interface OfMount {
  Params: VolumeKey;
}

export function serveMounts(server: FastifyInstance, { allocations, mounts }: Runtime): void {
  // The types of bodies are unchecked here: the runtime validates them.
  server.get('/v1/allocs', (): Promise<AllocReport[]> => allocations.list());
  server.get<OfAlloc>('/v1/allocs/:allocId', ({ params }): Promise<AllocReport> => allocations.status(params.allocId));
  server.post<OfAlloc & { Body: { volumes: AllocVolumeRequest[]; wait?: boolean } }>(
    '/v1/allocs/:allocId/prepare',
    ({ params, body: { volumes, timeoutMs, wait } }): Promise<PreparedMount[]> =>
      allocations.prepare(params.allocId, volumes, { timeoutMs, wait }),
  );
  server.post<OfAlloc>('/v1/allocs/:allocId/release', async ({ params, body: { timeoutMs } }, reply) => {
    await allocations.release(params.allocId, { timeoutMs });
    return reply.code(204).send();
  });
  server.get('/v1/mounts', (): Promise<MountReport[]> => mounts.list());
  server.get<OfMount>('/v1/mounts/:namespace/:id/stats', ({ params }): Promise<VolumeStats> => mounts.stats(params));
  server.post<OfMount>('/v1/mounts/:namespace/:id/retry', async ({ params, body }, reply) => {
    await mounts.retry(params, retryIn(body));
    return reply.code(204).send();
  });
  serveOrphans(server, mounts);
}

/** Has a path outside /v1/mounts, where volumes may have any name. */
function serveOrphans(server: FastifyInstance, mounts: Runtime['mounts']): void {
  server.get('/v1/orphaned-mounts', (): Promise<OrphanedMountReport[]> => mounts.orphans());
  server.post('/v1/orphaned-mounts/clean', async ({ body }, reply) => {
    await mounts.cleanOrphan(textIn(body, 'path'));
    return reply.code(204).send();
  });
}
