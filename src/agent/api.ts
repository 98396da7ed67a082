/**
 * The agent's HTTP API on its unix socket: JSON in and out. Serves the agent, plugins and actors here, all else in *-api.ts.
 * Errors are `{code, message, address?}`; errors of plugins also have `{rpc, grpcCode, answerClass, final}`.
 * All paths: docs/configuration.md
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { StagecraftError } from '../errors.js';
import { bindPrivately } from '../host/bind-privately.js';
import { checkSocketPath } from '../host/socket-path.js';
import { jsonServer } from '../inspector/json-server.js';
import { runtimeMetrics } from '../inspector/metrics.js';
import { serveActors } from '../inspector/serve-actors.js';
import { serveEvents } from '../inspector/serve-events.js';
import { serveJournals } from '../inspector/serve-journals.js';
import { serveMetrics } from '../inspector/serve-metrics.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { ActorStatus, Runtime, StoreStatus } from '../runtime/runtime.js';
import { serveMounts } from './mount-api.js';
import { serveNodes } from './node-api.js';
import { timeoutIn } from './requests.js';
import { serveSnapshots } from './snapshot-api.js';
import type { StoreKind } from './store.js';
import { serveTasks } from './task-api.js';
import { serveVolumes } from './volume-api.js';

export interface ApiOptions {
  runtime: Runtime;
  socketPath: string;
  version: string;
  storeKind: StoreKind;
  /** Called for `POST /v1/drain`, which answers when the promise settles. */
  drain(): Promise<void>;
  /** Whether events may be sent to actors by hand. Default: no. */
  allowSend?: boolean;
  /** Default: those of this runtime alone. */
  metrics?: Registry;
  /** Called with a line for the log. */
  warn?(line: string): void;
  /** Link to the inspector page; undefined: it is not served. Default: not served. */
  pageUrl?(): string | undefined;
}

/** Answer of `GET /v1/inspector`. */
export interface InspectorReport {
  /** Link to the page, with its token. Absent: it is not served. */
  url?: string;
}

/** One plugin in the answer of `GET /v1/plugins`. */
export interface PluginReport extends PluginStatus {
  /** Number of instances of this name. The status is that of the active instance. */
  instances: number;
}

/** One actor in the answer of `GET /v1/actors`. */
export interface ActorReport extends Partial<ActorStatus> {
  address: string;
  /** Why the actor is out of service; absent if it is in service. */
  quarantined?: string;
}

export interface AgentReport {
  version: string;
  nodeId: string;
  dataDir: string;
  pid: number;
  store: { kind: StoreKind } & StoreStatus;
  /** Whether this agent works on volumes and nodes. If another agent does, `reason` names that agent. */
  leads: boolean;
  reason?: string;
}

const closeGraceMs = 1_000;

/**
 * Starts to listen. The caller holds the lock of the data directory, so an existing socket file is stale and is replaced.
 * @returns a function that stops the API
 */
export async function serveApi({
  runtime,
  socketPath,
  version,
  storeKind,
  drain,
  metrics = runtimeMetrics(runtime),
  allowSend = false,
  pageUrl,
  warn,
}: ApiOptions): Promise<() => Promise<void>> {
  checkSocketPath(socketPath);
  const server = jsonServer();
  const report = (status: PluginStatus): PluginReport => {
    const { type, name } = status.info;
    return { ...status, instances: runtime.plugins.instances(type, name).length };
  };

  server.get('/v1/agent', (): AgentReport => {
    const { nodeId, dataDir, leadership } = runtime;
    const leads = { leads: leadership.isOurs, ...(leadership.refusal && { reason: leadership.refusal }) };
    return { version, nodeId, dataDir, pid: process.pid, store: { kind: storeKind, ...runtime.store }, ...leads };
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
        throw new StagecraftError('INVALID_ARGUMENT', `waitFor must be 'registered' or 'healthy', not '${until}'`);
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
  serveActors(server, runtime, { version, allowSend });
  serveJournals(server, runtime);
  serveMetrics(server, runtime, metrics);
  const endEvents = serveEvents(server, runtime, { warn });
  serveTasks(server, runtime);
  serveVolumes(server, runtime);
  serveSnapshots(server, runtime);
  serveNodes(server, runtime);
  serveMounts(server, runtime);
  server.get('/v1/inspector', (): InspectorReport => {
    const url = pageUrl?.();
    return url === undefined ? {} : { url };
  });
  server.post('/v1/drain', async (_, reply) => {
    await drain();
    return reply.code(204).send();
  });

  rmSync(socketPath, { force: true });
  await server.ready(); // not server.listen(): that binds some ticks later, when the umask is back to normal
  bindPrivately(server.server, socketPath);
  await once(server.server, 'listening');
  return async () => {
    endEvents();
    const closed = server.close();
    // After the grace, clients without an answer, and idle clients, do not hold up the end.
    const cut = setTimeout(() => server.server.closeAllConnections(), closeGraceMs);
    await closed;
    clearTimeout(cut);
  };
}
