/**
 * The agent's HTTP API on its unix socket: JSON in and out. Serves the agent and actors here, all else in *-api.ts.
 * Errors are `{code, message, address?}`; errors of plugins also have `{rpc, grpcCode, answerClass, final}`.
 * All requests: docs/http-api.md
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { actorRoutes } from '../api/actor-routes.js';
import { agentRoutes } from '../api/agent-routes.js';
import { clusterRoutes } from '../api/cluster-routes.js';
import { openapiDocument } from '../api/openapi.js';
import { bindPrivately } from '../host/bind-privately.js';
import { checkSocketPath } from '../host/socket-path.js';
import { boundConnections } from '../inspector/connection-bounds.js';
import { jsonServer, serve } from '../inspector/json-server.js';
import { runtimeMetrics } from '../inspector/metrics.js';
import { serveActors } from '../inspector/serve-actors.js';
import { serveEvents } from '../inspector/serve-events.js';
import { serveJournals } from '../inspector/serve-journals.js';
import { serveMetrics } from '../inspector/serve-metrics.js';
import type { Runtime } from '../runtime/runtime.js';
import { serveMounts } from './mount-api.js';
import { serveNodes } from './node-api.js';
import { servePlugins } from './plugin-api.js';
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
  // The mode of the socket says who may use it: whoever has sent a whole head is known.
  const take = boundConnections(server.server);
  server.addHook('onRequest', async ({ raw }) => take(raw.socket));
  serve(server, agentRoutes.status, () => {
    const { nodeId, dataDir, leadership } = runtime;
    const leads = {
      leads: leadership.isOurs,
      ...(leadership.refusal !== undefined && { reason: leadership.refusal }),
      ...(leadership.isLeaderSilent && { isLeaderSilent: true as const }),
    };
    return { version, nodeId, dataDir, pid: process.pid, store: { kind: storeKind, ...runtime.store }, ...leads };
  });
  serve(server, clusterRoutes.status, async () => {
    const { cluster, leadership } = runtime;
    const [agents, owner] = await Promise.all([cluster.agents(), cluster.owner()]);
    const tooOld = leadership.isTooOld && leadership.refusal !== undefined && { tooOld: leadership.refusal };
    return { agents, ...(owner && { owner }), ...tooOld, requestsUnderWay: cluster.requestsUnderWay };
  });
  serve(server, agentRoutes.openapi, openapiDocument);
  serve(server, actorRoutes.list, () => {
    const reasons = new Map(runtime.actors.quarantined().map(({ address, reason }) => [address, reason]));
    const living = runtime.actors.list().map((actor) => {
      const quarantined = reasons.get(actor.address);
      reasons.delete(actor.address);
      return quarantined === undefined ? actor : { ...actor, quarantined };
    });
    return [...living, ...[...reasons].map(([address, quarantined]) => ({ address, quarantined }))];
  });
  serve(server, actorRoutes.release, ({ body }) => runtime.actors.release(body.address));
  serveActors(server, runtime, { version, allowSend });
  serveJournals(server, runtime);
  serveMetrics(server, runtime, metrics);
  const endEvents = serveEvents(server, runtime, { warn });
  servePlugins(server, runtime);
  serveTasks(server, runtime);
  serveVolumes(server, runtime);
  serveSnapshots(server, runtime);
  serveNodes(server, runtime);
  serveMounts(server, runtime);
  serve(server, agentRoutes.inspector, () => {
    const url = pageUrl?.();
    return url === undefined ? {} : { url };
  });
  serve(server, agentRoutes.drain, drain);

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
