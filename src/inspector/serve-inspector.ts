/** The listener for browsers: the page, what it reads, and the live feed. Who may use it: access.ts */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, relative } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { routes } from '../api/routes.js';
import { errorTable, messageOf, StagecraftError } from '../errors.js';
import type { Runtime } from '../runtime/runtime.js';
import { Access, checkedToken, isOpenedInBrowser, newToken, tokenPage, tokenPagePolicy } from './access.js';
import { actorAnswers } from './actor-answers.js';
import { eventAnswers } from './event-streams.js';
import { FeedSockets } from './feed-sockets.js';
import { boundConnections, endWith, jsonServer, serve } from './json-server.js';
import { runtimeMetrics, watchAnswers } from './metrics.js';

export interface InspectorOptions {
  /** Address of this host alone, e.g. `127.0.0.1:4780`; port 0: any free one. Default: `127.0.0.1:0`. */
  listen?: string;
  /** Secret of the link; default: a new one for each start. At least 16 characters. */
  token?: string;
  /** Whether events may be sent to actors by hand. Default: no. */
  allowSend?: boolean;
  /** Version to show. */
  version?: string;
  /** Viewers of the live feed at once, at most; default 100. */
  mostViewers?: number;
  /** Called with a line for the log, as when a follower of events is dropped. */
  warn?: (line: string) => void;
  /** Directory of the built page; default: the one of this package. */
  page?: string;
}

export interface Inspector {
  /** Link to the page, with the token. */
  readonly url: string;
  readonly token: string;
  /** Metrics of the runtime, with those of the feed. */
  readonly metrics: Registry;
  /** Ends all connections. Safe to repeat. */
  close(): Promise<void>;
}

const loopback = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\]):(\d{1,5})$/;

/** Everything comes from here alone; nothing else may frame the page. */
const ownPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
/** The bridge frames Stately's inspector. */
const bridgePolicy = `${ownPolicy}; frame-src https://stately.ai`;

const headers = {
  'content-security-policy': ownPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Serves the inspector page and its API on this host.
 * @throws {StagecraftError} INVALID_ARGUMENT for an address that others can reach, or a token that is too short
 * @throws the error of the system where it can't listen, e.g. EADDRINUSE
 */
export async function serveInspector(runtime: Runtime, options: InspectorOptions = {}): Promise<Inspector> {
  const { host, port } = checkedAddress(options.listen ?? '127.0.0.1:0');
  const token = checkedToken(options.token ?? newToken());
  const server = jsonServer();
  const files = pageFiles(options.page ?? builtPage);
  const take = boundConnections(server.server);
  let access = new Access(token, port);
  server.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    access.checkPlace(request.headers);
    // The page itself is for anybody: it shows nothing that it was not given with the token.
    if (files?.has(request.routeOptions.url ?? '')) return;
    if (!isAllowed(access, request, reply)) return reply;
    take(request.raw.socket);
    const { token: _, ticket: __, ...query } = Object(request.query);
    request.query = query;
  });
  const { version = '', allowSend = false } = options;
  const metrics = runtimeMetrics(runtime, { feedDropped: () => dropped });
  const { end: endEvents, ...events } = eventAnswers(runtime.events, options.warn);
  serve(server, routes, {
    agent: watchAnswers(runtime, metrics),
    actors: actorAnswers(runtime, { version, allowSend }),
    events,
  });
  server.post('/v1/tickets', () => ({ ticket: access.ticket() }));
  if (files) servePage(server, files);
  else serveUnbuilt(server, options.page ?? builtPage);
  let dropped = 0;
  const feeds = new FeedSockets(runtime, {
    ...{ version, most: options.mostViewers ?? 100 },
    onDropped: (count) => {
      dropped += count;
    },
  });
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy()); // a viewer that is gone before it has its WebSocket
    const upgraded = async (): Promise<void> => {
      const { method, headers, url = '' } = request;
      access.checkPlace(headers);
      access.checkToken({ method, headers, url });
      take(request.socket);
      await feeds.upgrade(request, socket, head);
    };
    upgraded().catch((error: unknown) => refuse(socket, error));
  });
  await server.ready();
  server.server.listen(port, host);
  await once(server.server, 'listening');
  const { port: bound } = server.server.address() as AddressInfo;
  access = new Access(token, bound);
  const shown = host.includes(':') ? `[${host}]` : host;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${shown}:${bound}/?token=${token}`,
    token,
    metrics,
    close: () => {
      closed ??= (async () => {
        feeds.close();
        endEvents();
        const ended = server.close();
        server.server.closeAllConnections();
        await ended;
      })();
      return closed;
    },
  };
}

function checkedAddress(listen: string): { host: string; port: number } {
  const [, host = '', port = ''] = loopback.exec(listen) ?? [];
  if (host !== '' && Number(port) <= 65_535) return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
  const advice = 'give 127.0.0.1:PORT, and reach it from elsewhere through a tunnel, e.g. ssh -L';
  throw new StagecraftError(
    'INVALID_ARGUMENT',
    `the inspector listens on this host alone, not on '${listen}': ${advice}`,
  );
}

/** Refuses a request without the token. A browser that has opened the address gets a page that asks for it. */
function isAllowed(access: Access, { headers, url, method }: FastifyRequest, reply: FastifyReply): boolean {
  try {
    access.checkToken({ method, headers, url });
    return true;
  } catch (error) {
    if (method !== 'GET' || !isOpenedInBrowser(headers)) throw error;
    reply.code(401).type('text/html; charset=utf-8').header('content-security-policy', tokenPagePolicy);
    reply.header('cache-control', 'no-store').serializer(String).send(tokenPage);
    return false;
  }
}

function servePage(server: FastifyInstance, files: ReadonlyMap<string, PageFile>): void {
  for (const [path, { body, type, isHashed }] of files) {
    server.get(path, (_, reply) => {
      if (path === '/bridge') reply.header('content-security-policy', bridgePolicy);
      const cache = isHashed ? 'public, max-age=31536000, immutable' : 'no-store';
      return reply.type(type).header('cache-control', cache).send(body);
    });
  }
}

const serveUnbuilt = (server: FastifyInstance, directory: string): void => {
  server.get('/', (_, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: `the page is not built (${directory}): run npm run build` }),
  );
};

/** Answers a request for a WebSocket with an error. */
function refuse(socket: Duplex, error: unknown): void {
  const status = error instanceof StagecraftError ? (errorTable[error.code].http ?? 500) : 500;
  endWith(socket, status, {
    code: error instanceof StagecraftError ? error.code : 'INTERNAL',
    message: messageOf(error),
  });
}

interface PageFile {
  body: Buffer;
  type: string;
  /** Its name holds a hash of its content: it never changes. */
  isHashed: boolean;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Files that are pages of their own. */
const places: Record<string, string> = { '/index.html': '/', '/bridge.html': '/bridge' };

/** Directory of the built page: `dist/page`. */
const builtPage = fileURLToPath(new URL('../../page', import.meta.url));

/** Files by their URL paths; `/` is the page itself. Undefined: the page was not built. */
function pageFiles(directory: string): Map<string, PageFile> | undefined {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const url = `/${relative(directory, path)}`;
    const type = types[extname(entry.name)] ?? 'application/octet-stream';
    files.set(places[url] ?? url, {
      body: readFileSync(path),
      type,
      isHashed: url.startsWith('/assets/'),
    });
  }
  return files;
}
