/** The part of the agent's API that is about snapshots, of one volume and of several. Answered when it is done, as in volume-api.ts */
import type { FastifyInstance } from 'fastify';
import { StagecraftError } from '../errors.js';
import type { Runtime, Snapshots } from '../runtime/runtime.js';
import type { GroupSnapshotSpec, SnapshotFilter, SnapshotSpec } from '../snapshots/snapshot-spec.js';
import type { GroupMember, GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { flagIn, retryIn, timeoutIn, waitIn } from './requests.js';

interface Sized {
  sizeBytes?: number | string;
}

/** What `GET /v1/snapshots/NAMESPACE/ID` tells. Sizes above 2⁵³−1 are texts. */
export type SnapshotReport = Omit<Snapshot, 'sizeBytes'> & Sized;

/** What `GET /v1/group-snapshots/NAMESPACE/ID` tells. */
export type GroupSnapshotReport = Omit<GroupSnapshot, 'snapshots'> & {
  snapshots: (Omit<GroupMember, 'sizeBytes'> & Sized)[];
};

/** What `GET /v1/snapshots` and `GET /v1/group-snapshots` tell: a page, and where the next one begins. */
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

/** What is served of both sorts alike. */
interface Served {
  /** Below which they are. */
  base: string;
  /** What one is called. */
  name: string;
  snapshots: Pick<Snapshots, 'delete' | 'retry' | 'acknowledge'> & {
    list(filter: SnapshotFilter): Promise<unknown>;
    get(key: OfSnapshot['Params']): Promise<object | undefined>;
  };
}

export function serveSnapshots(server: FastifyInstance, { snapshots, groupSnapshots }: Runtime): void {
  // What a request says is checked by the runtime, whose types say what it may be.
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
