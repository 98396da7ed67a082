/**
 * The agent's HTTP API, on its unix socket. JSON in and out; errors are `{code, message, address?}`.
 * What it answers about tasks: task-api.ts
 */
import { chmodSync, rmSync } from 'node:fs';
import { fastify } from 'fastify';
import { StagecraftError } from '../errors.js';
import { checkSocketPath } from '../host/socket-path.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { ActorStatus, Runtime, StoreStatus } from '../runtime.js';
import type { StoreKind } from './store.js';
import { serveTasks } from './task-api.js';

export interface ApiOptions {
  runtime: Runtime;
  socketPath: string;
  version: string;
  storeKind: StoreKind;
  /** Asked for by `POST /v1/drain`; the answer waits for it. */
  drain(): Promise<void>;
}

/** What `GET /v1/plugins` tells of one plugin. */
export interface PluginReport extends PluginStatus {
  /** How many instances the name has; the status is that of the active one. */
  instances: number;
}

/** What `GET /v1/actors` tells of one actor. */
export interface ActorReport extends Partial<ActorStatus> {
  address: string;
  /** Why it is out of service. */
  quarantined?: string;
}

export interface AgentReport {
  version: string;
  nodeId: string;
  dataDir: string;
  pid: number;
  store: { kind: StoreKind } & StoreStatus;
}

const statusOf: Record<string, number> = {
  INVALID_ARGUMENT: 400,
  PLUGIN_NOT_FOUND: 404,
  TASK_NOT_FOUND: 404,
  ACTOR_NOT_FOUND: 404,
  ACTOR_QUARANTINED: 409,
  PLUGIN_IN_USE: 409,
  ABORTED: 409,
  RUNTIME_CLOSED: 503,
  STORE_UNAVAILABLE: 503,
  TIMEOUT: 504,
};

const closeGraceMs = 1_000;

function timeoutIn(text: string | undefined): { timeoutMs?: number } {
  if (text === undefined) return {};
  const timeoutMs = Number(text);
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return { timeoutMs };
  throw new StagecraftError('INVALID_ARGUMENT', `timeoutMs is a positive number of milliseconds, not '${text}'`);
}

/**
 * Listens; the caller holds the lock of the data directory, so that a socket file which is there already is stale.
 * @returns what stops it
 */
export async function serveApi({
  runtime,
  socketPath,
  version,
  storeKind,
  drain,
}: ApiOptions): Promise<() => Promise<void>> {
  checkSocketPath(socketPath);
  const server = fastify({ forceCloseConnections: 'idle', routerOptions: { maxParamLength: 1_024 } });
  const report = (status: PluginStatus): PluginReport => {
    const { type, name } = status.info;
    return { ...status, instances: runtime.plugins.instances(type, name).length };
  };

  server.get('/v1/agent', (): AgentReport => {
    const { nodeId, dataDir } = runtime;
    return { version, nodeId, dataDir, pid: process.pid, store: { kind: storeKind, ...runtime.store } };
  });
  server.get<{ Querystring: { type?: string; name?: string } }>('/v1/plugins', ({ query }) =>
    runtime.plugins
      .list(query.type)
      .filter(({ name }) => query.name === undefined || name === query.name)
      .map(({ type, name }) => report(runtime.plugins.status(type, name))),
  );
  server.get<{ Params: { type: string; name: string }; Querystring: { waitFor?: string; timeoutMs?: string } }>(
    '/v1/plugins/:type/:name',
    async ({ params: { type, name }, query: { waitFor: until, timeoutMs } }) => {
      if (until === undefined) return report(runtime.plugins.status(type, name));
      if (until !== 'registered' && until !== 'healthy') {
        throw new StagecraftError('INVALID_ARGUMENT', `waitFor is 'registered' or 'healthy', not '${until}'`);
      }
      return report(await runtime.plugins.waitFor(type, name, { until, ...timeoutIn(timeoutMs) }));
    },
  );
  server.get('/v1/actors', (): ActorReport[] => {
    const reasons = new Map(runtime.actors.quarantined().map(({ address, reason }) => [address, reason]));
    const living = runtime.actors.list().map((actor) => {
      const quarantined = reasons.get(actor.address);
      reasons.delete(actor.address);
      return quarantined === undefined ? actor : { ...actor, quarantined };
    });
    return [...living, ...[...reasons].map(([address, quarantined]) => ({ address, quarantined }))];
  });
  server.post<{ Body: { address?: unknown } | null }>('/v1/actors/release', async ({ body }, reply) => {
    if (typeof body?.address !== 'string') {
      throw new StagecraftError('INVALID_ARGUMENT', "give the actor's address, as 'stagecraft actor list' names it");
    }
    await runtime.actors.release(body.address);
    return reply.code(204).send();
  });
  serveTasks(server, runtime);
  server.post('/v1/drain', async (_, reply) => {
    await drain();
    return reply.code(204).send();
  });
  server.setNotFoundHandler(({ method, url }, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: `the agent has no ${method} ${url}` }),
  );
  server.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const status = error instanceof StagecraftError ? statusOf[error.code] : error.statusCode;
    // A request that the server itself refuses, e.g. for a body that is no JSON.
    const isRefused = status !== undefined && status < 500;
    const { code, address } =
      error instanceof StagecraftError
        ? error
        : { code: isRefused ? 'INVALID_ARGUMENT' : 'INTERNAL', address: undefined };
    return reply.code(status ?? 500).send({ code, message: error.message, ...(address ? { address } : {}) });
  });

  rmSync(socketPath, { force: true });
  await server.listen({ path: socketPath });
  chmodSync(socketPath, 0o600); // the data directory, 0700, keeps others out until then
  return async () => {
    const closed = server.close();
    // Whoever has not got an answer by then, or never asked for one, holds up nothing.
    const cut = setTimeout(() => server.server.closeAllConnections(), closeGraceMs);
    await closed;
    clearTimeout(cut);
  };
}
