/** API of snapshots, of one volume and of several. Requests are answered when the work is done, as in volume-api.ts. */
import type { FastifyInstance } from 'fastify';
import { StagecraftError } from '../errors.js';
import type { Runtime, Snapshots } from '../runtime/runtime.js';
import type { GroupSnapshotSpec, SnapshotFilter, SnapshotSpec } from '../snapshots/snapshot-spec.js';
import type { GroupMember, GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { flagIn, retryIn, timeoutIn, waitIn } from './requests.js';

interface Sized {
  sizeBytes?: number | string;
}

/** Answer of `GET /v1/snapshots/NAMESPACE/ID`. Sizes above 2⁵³−1 are decimal texts. */
export type SnapshotReport = Omit<Snapshot, 'sizeBytes'> & Sized;

/** Answer of `GET /v1/group-snapshots/NAMESPACE/ID`. */
export type GroupSnapshotReport = Omit<GroupSnapshot, 'snapshots'> & {
  snapshots: (Omit<GroupMember, 'sizeBytes'> & Sized)[];
};

/** Answer of `GET /v1/snapshots` and `GET /v1/group-snapshots`: a page, and `after` of the next page. */
export interface SnapshotPage<TReport> {
  items: TReport[];
  next?: string;
}

interface Awaited {
  timeoutMs?: string;
  wait?: string;
}

interface OfSnapshot {
  Params: { namespace: string; id: string };
  Querystring: Awaited;
}

/** Routes that both kinds of snapshots share. */
interface Served {
  /** Path of the collection. */
  base: string;
  /** Name of the kind in messages. */
  name: string;
  snapshots: Pick<Snapshots, 'delete' | 'retry' | 'acknowledge'> & {
    list(filter: SnapshotFilter): Promise<unknown>;
    get(key: OfSnapshot['Params']): Promise<object | undefined>;
  };
}

export function serveSnapshots(server: FastifyInstance, { snapshots, groupSnapshots }: Runtime): void {
  // The types of bodies are unchecked here: the runtime validates them.
  server.post<{ Body: SnapshotSpec; Querystring: Awaited }>('/v1/snapshots', ({ body, query }) =>
    snapshots.create(body, waitIn(query)),
  );
  server.post<{ Body: GroupSnapshotSpec; Querystring: Awaited }>('/v1/group-snapshots', ({ body, query }) =>
    groupSnapshots.create(body, waitIn(query)),
  );
  serve(server, { base: '/v1/snapshots', name: 'snapshot', snapshots });
  serve(server, { base: '/v1/group-snapshots', name: 'group snapshot', snapshots: groupSnapshots });
}

function serve(server: FastifyInstance, { base, name, snapshots }: Served): void {
  const one = `${base}/:namespace/:id`;
  server.get<{ Querystring: Record<string, string> }>(base, ({ query: { limit, ...filter } }) =>
    snapshots.list({ ...filter, ...(limit !== undefined && { limit: Number(limit) }) }),
  );
  server.get<OfSnapshot>(one, async ({ params: { namespace, id } }) => {
    const snapshot = await snapshots.get({ namespace, id });
    if (snapshot) return snapshot;
    throw new StagecraftError('SNAPSHOT_NOT_FOUND', `there is no ${name} ${namespace}/${id}: list them, or create it`);
  });
  server.post<OfSnapshot>(`${one}/delete`, async ({ params, body, query }, reply) => {
    await snapshots.delete(params, { force: flagIn(body, 'force'), ...timeoutIn(query.timeoutMs) });
    return reply.code(204).send();
  });
  server.post<OfSnapshot>(`${one}/retry`, async ({ params, body }, reply) => {
    await snapshots.retry(params, retryIn(body));
    return reply.code(204).send();
  });
  server.post<OfSnapshot>(`${one}/acknowledge`, async ({ params }, reply) => {
    await snapshots.acknowledge(params);
    return reply.code(204).send();
  });
}
