/** The agent's HTTP API, on its unix socket. JSON in and out; errors are `{code, message, address?}`. */
import { rmSync } from 'node:fs';
import { fastify } from 'fastify';
import { StagecraftError } from '../errors.js';
import { checkSocketPath } from '../host/socket-path.js';
import type { PluginStatus } from '../registry/plugin-registry.js';
import type { Runtime } from '../runtime.js';

export interface ApiOptions {
  runtime: Runtime;
  socketPath: string;
  version: string;
  /** Asked for by `POST /v1/drain`; the answer waits for it. */
  drain(): Promise<void>;
}

/** What `GET /v1/plugins` tells of one plugin. */
export interface PluginReport extends PluginStatus {
  /** How many instances the name has; the status is that of the active one. */
  instances: number;
}

export interface AgentReport {
  version: string;
  nodeId: string;
  dataDir: string;
  pid: number;
}

const statusOf: Record<string, number> = {
  INVALID_ARGUMENT: 400,
  PLUGIN_NOT_FOUND: 404,
  RUNTIME_CLOSED: 503,
  STORE_UNAVAILABLE: 503,
};

/**
 * Listens; the caller holds the lock of the data directory, so that a socket file which is there already is stale.
 * @returns what stops it
 */
export async function serveApi({ runtime, socketPath, version, drain }: ApiOptions): Promise<() => Promise<void>> {
  checkSocketPath(socketPath);
  const server = fastify({ forceCloseConnections: true });
  const report = (status: PluginStatus): PluginReport => {
    const { type, name } = status.info;
    return { ...status, instances: runtime.plugins.instances(type, name).length };
  };

  server.get('/v1/agent', (): AgentReport => {
    const { nodeId, dataDir } = runtime;
    return { version, nodeId, dataDir, pid: process.pid };
  });
  server.get<{ Querystring: { type?: string; name?: string } }>('/v1/plugins', ({ query }) =>
    runtime.plugins
      .list(query.type)
      .filter(({ name }) => query.name === undefined || name === query.name)
      .map(({ type, name }) => report(runtime.plugins.status(type, name))),
  );
  server.get<{ Params: { type: string; name: string } }>('/v1/plugins/:type/:name', ({ params }) =>
    report(runtime.plugins.status(params.type, params.name)),
  );
  server.post('/v1/drain', async (_, reply) => {
    await drain();
    return reply.code(204).send();
  });
  server.setNotFoundHandler(({ method, url }, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: `the agent has no ${method} ${url}` }),
  );
  server.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { code, address } = error instanceof StagecraftError ? error : { code: 'INTERNAL', address: undefined };
    const status = statusOf[code] ?? error.statusCode ?? 500;
    return reply.code(status).send({ code, message: error.message, ...(address ? { address } : {}) });
  });

  rmSync(socketPath, { force: true });
  const umask = process.umask(0o177); // the socket is ours alone from the moment it is there
  try {
    await server.listen({ path: socketPath });
  } finally {
    process.umask(umask);
  }
  return () => server.close();
}
