/**
 * The agent's HTTP API on its unix socket: JSON in and out.
 * Errors are `{code, message, address?}`; errors of plugins also have `{rpc, grpcCode, answerClass, final}`.
 * All requests: docs/http-api.md
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Registry } from 'prom-client';
import type { ActorReport } from '../api/actor-routes.js';
import { openapiDocument } from '../api/openapi.js';
import { routes } from '../api/routes.js';
import { bindPrivately } from '../host/bind-privately.js';
import { checkSocketPath } from '../host/socket-path.js';
import { actorAnswers } from '../inspector/actor-answers.js';
import { eventAnswers } from '../inspector/event-streams.js';
import { type Answers, boundConnections, jsonServer, serve } from '../inspector/json-server.js';
import { runtimeMetrics, watchAnswers } from '../inspector/metrics.js';
import type { Runtime } from '../runtime/runtime.js';
import { runtimeAnswers } from './answers.js';
import type { StoreKind } from './store.js';

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
  const { end, ...events } = eventAnswers(runtime.events, warn);
  serve(server, routes, {
    ...runtimeAnswers(runtime),
    agent: {
      ...watchAnswers(runtime, metrics),
      status: () => {
        const { nodeId, dataDir, leadership, store } = runtime;
        const { isOurs: leads, refusal: reason, isLeaderSilent } = leadership;
        return {
          ...{ version, nodeId, dataDir, pid: process.pid, store: { kind: storeKind, ...store }, leads },
          ...(reason !== undefined && { reason }),
          ...(isLeaderSilent && { isLeaderSilent: true as const }),
        };
      },
      drain,
      inspector: () => {
        const url = pageUrl?.();
        return url === undefined ? {} : { url };
      },
      openapi: openapiDocument,
    },
    actors: {
      ...actorAnswers(runtime, { version, allowSend }),
      list: () => actorReports(runtime.actors),
      release: ({ body }) => runtime.actors.release(body.address),
    },
    events,
  } satisfies Answers);

  rmSync(socketPath, { force: true });
  await server.ready(); // not server.listen(): that binds some ticks later, when the umask is back to normal
  bindPrivately(server.server, socketPath);
  await once(server.server, 'listening');
  return async () => {
    end();
    const closed = server.close();
    // After the grace, clients without an answer, and idle clients, do not hold up the end.
    const cut = setTimeout(() => server.server.closeAllConnections(), closeGraceMs);
    await closed;
    clearTimeout(cut);
  };
}

/** Actors in memory, and those out of service. */
function actorReports(actors: Runtime['actors']): ActorReport[] {
  const reasons = new Map(actors.quarantined().map(({ address, reason }) => [address, reason]));
  const living = actors.list().map((actor) => {
    const quarantined = reasons.get(actor.address);
    reasons.delete(actor.address);
    return quarantined === undefined ? actor : { ...actor, quarantined };
  });
  return [...living, ...[...reasons].map(([address, quarantined]) => ({ address, quarantined }))];
}
