/**
 * API of volumes. Requests are answered when the work is done.
 * A client that disconnects cancels nothing, except its place in the queue for a claim.
 */
import type { FastifyInstance } from 'fastify';
import type { Availability, Claim } from '../../machines/volume/types.js';
import { StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import type { CapacityRequest } from '../volumes/capacity.js';
import type { ExpandRequest } from '../volumes/expansion.js';
import type { VolumeSpec } from '../volumes/spec.js';
import type { ClaimOptions, PublishOptions } from '../volumes/volume-manager.js';
import type { Volume } from '../volumes/volume-view.js';
import { flagIn, retryIn, textIn, timeoutIn, untilGone, waitIn } from './requests.js';

/** Answer of `GET /v1/volumes/NAMESPACE/ID`. Sizes above 2⁵³−1 are decimal texts. */
export type VolumeReport = Omit<Volume, 'capacityBytes' | 'requested'> & {
  capacityBytes?: number | string;
  requested?: { requiredBytes?: number | string; limitBytes?: number | string };
};

/** Answer of `GET /v1/volumes`: a page, and `after` of the next page. */
export interface VolumePage {
  items: VolumeReport[];
  next?: string;
}

/** Answer of `POST /v1/volumes/NAMESPACE/ID/expand`. */
export interface Expanded {
  capacityBytes?: number | string;
  nodeExpansionRequired: boolean;
}

interface OfVolume {
  Params: { namespace: string; id: string };
  Querystring: { timeoutMs?: string; wait?: string };
  Body: Record<string, unknown>;
}

const base = '/v1/volumes/:namespace/:id';

export function serveVolumes(server: FastifyInstance, { volumes }: Runtime): void {
  // The types of bodies are unchecked here: the runtime validates them.
  server.post<{ Body: VolumeSpec; Querystring: { timeoutMs?: string; wait?: string } }>(
    '/v1/volumes',
    ({ body, query }) => volumes.create(body, waitIn(query)),
  );
  server.get<{ Querystring: Record<string, string> }>('/v1/volumes', ({ query: { limit, ...filter } }) =>
    volumes.list({ ...filter, ...(limit !== undefined && { limit: Number(limit) }) }),
  );
  server.get<OfVolume>(base, async ({ params: { namespace, id } }): Promise<Volume> => {
    const volume = await volumes.get({ namespace, id });
    if (volume) return volume;
    throw new StagecraftError('VOLUME_NOT_FOUND', `there is no volume ${namespace}/${id}: list them, or create it`);
  });
  server.post<OfVolume & { Body: Pick<PublishOptions, 'capability'> }>(`${base}/publish`, ({ params, body, query }) =>
    volumes.publish(params, textIn(body, 'nodeId'), {
      ...(body.capability && { capability: body.capability }),
      readOnly: flagIn(body, 'readOnly'),
      ...waitIn(query),
    }),
  );
  server.post<OfVolume>(`${base}/unpublish`, async ({ params, body, query }, reply) => {
    await volumes.unpublish(params, textIn(body, 'nodeId'), timeoutIn(query.timeoutMs));
    return reply.code(204).send();
  });
  server.post<OfVolume & { Body: ExpandRequest }>(`${base}/expand`, ({ params, body, query }) =>
    volumes.expand(params, body, timeoutIn(query.timeoutMs)),
  );
  server.post<OfVolume & { Body: { mutableParameters: Record<string, string> } }>(
    `${base}/modify`,
    async ({ params, body, query }, reply) => {
      await volumes.modify(params, body.mutableParameters, timeoutIn(query.timeoutMs));
      return reply.code(204).send();
    },
  );
  server.post<OfVolume>(`${base}/delete`, async ({ params, body, query }, reply) => {
    await volumes.delete(params, { force: flagIn(body, 'force'), ...timeoutIn(query.timeoutMs) });
    return reply.code(204).send();
  });
  server.post<OfVolume & { Body: ClaimOptions }>(
    `${base}/claim`,
    ({ params, body }, reply): Promise<Claim> =>
      volumes.claim(params, { ...body, wait: flagIn(body, 'wait'), signal: untilGone(reply) }),
  );
  server.post<OfVolume>(`${base}/release`, async ({ params, body }, reply) => {
    await volumes.release(params, textIn(body, 'allocId'));
    return reply.code(204).send();
  });
  server.post<OfVolume & { Body: { availability: Availability } }>(
    `${base}/availability`,
    async ({ params, body }, reply) => {
      await volumes.setAvailability(params, body.availability);
      return reply.code(204).send();
    },
  );
  server.post<OfVolume>(`${base}/retry`, async ({ params, body }, reply) => {
    await volumes.retry(params, retryIn(body));
    return reply.code(204).send();
  });
  server.post<OfVolume>(`${base}/acknowledge`, async ({ params }, reply) => {
    await volumes.acknowledge(params);
    return reply.code(204).send();
  });
  server.post<{ Body: CapacityRequest & { plugin: string }; Querystring: { timeoutMs?: string } }>(
    '/v1/capacity',
    ({ body, query }) => {
      const { plugin: _, ...request } = body;
      return volumes.capacity(textIn(body, 'plugin'), request, timeoutIn(query.timeoutMs));
    },
  );
  server.post<{ Body: { plugin?: string } }>('/v1/reconcile', ({ body }) => volumes.reconcile(body.plugin));
}
