/** HTTP servers that speak JSON: what the agent's API and the listener for browsers share. */
import { type IncomingMessage, type Server, type ServerOptions, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { z } from 'zod';
import { methodAndUrl } from '../api/paths.js';
import type { ParamsOf, Route } from '../api/route.js';
import type { routes } from '../api/routes.js';
import { errorTable, StagecraftError } from '../errors.js';
import { checked, plainBytes } from '../requests/fields.js';
import { pathAndQuery } from './access.js';

/**
 * A server without routes. Errors become `{code, message, address?}` with the status of their code.
 * @param times limits of requests; tests use shorter ones
 */
export function jsonServer(times: typeof requestTimes = requestTimes): FastifyInstance {
  const server = fastify({
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1_024 },
    requestTimeout: times.requestTimeout,
    http: times,
    clientErrorHandler: refuseUnread,
    frameworkErrors: (_, __, { raw }) => endPlainly(raw, 400, 'the path of the request is no path of a URL: encode it'),
    rewriteUrl: ({ url = '/' }) =>
      url.replace(withAddress, (_, path: string, address: string) => path + address.replaceAll('/', '%2F')),
  });
  server.setReplySerializer(asJson);
  // Accepts an empty body that is declared as JSON.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) =>
    body === '' ? done(null) : parse(request, body, done),
  );
  server.setNotFoundHandler(({ method, originalUrl }, reply) =>
    // Without the query: it may have a token.
    reply
      .code(404)
      .send({ code: 'NOT_FOUND', message: `the agent has no ${method} ${pathAndQuery(originalUrl).path}` }),
  );
  server.server.on('checkExpectation', ({ headers }: IncomingMessage, response: ServerResponse) => {
    endPlainly(response, 417, `the agent can not do what 'expect: ${headers.expect}' asks: leave it out`);
  });
  server.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const status = error instanceof StagecraftError ? errorTable[error.code]?.http : error.statusCode;
    // Fastify itself refuses some requests, e.g. a body that is not JSON.
    const isRefused = status !== undefined && status < 500;
    if (error instanceof StagecraftError) return reply.code(status ?? 500).send(toldOf(error));
    const code = isRefused ? 'INVALID_ARGUMENT' : 'INTERNAL';
    return reply.code(status ?? 500).send({ code, message: error.message });
  });
  return server;
}

const refusal = (message: string): { code: string; message: string } => ({ code: 'INVALID_ARGUMENT', message });

/** Answers a request that no route gets. */
function endPlainly(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(refusal(message)));
}

const unread: Record<string, [status: number, message: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not come in time: send it at once'],
  HPE_HEADER_OVERFLOW: [431, 'the head of the request is too long: shorten its path or its headers'],
};

/** Answers a request that could not be read. */
function refuseUnread({ code }: NodeJS.ErrnoException, connection: Socket): void {
  const [status, message] = unread[code ?? ''] ?? [400, 'the request is no HTTP request'];
  endWith(connection, status, refusal(message));
}

/** Answers on a bare connection, and closes it: a client that leaves its own end open keeps nothing of ours. */
export function endWith(connection: Duplex, status: number, answer: object): void {
  if (connection.destroyed) return;
  const body = JSON.stringify(answer);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'content-type: application/json', 'connection: close'];
  const text = `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  if (connection.writable) connection.end(text, () => connection.destroy());
  else connection.destroy();
}

/** Replaces Ajv, which Fastify would load: no route has a schema for it, as `serve` checks requests by itself. */
const noSchemas = (): never => {
  throw new Error('no route of these servers has a schema for Fastify');
};

/** An actor's address may stand at the end of a path as it is, or percent-encoded. */
const withAddress = /^(\/v1\/(?:actors|history|journal|moments)\/)([^?]*)/;

/** Checked parts of a request. */
interface Asked<TRoute extends Route> {
  params: ParamsOf<TRoute['path']>;
  query: z.output<TRoute['query']>;
  body: z.output<TRoute['body']>;
  headers: FastifyRequest['headers'];
  reply: FastifyReply;
  /** Aborts when the client disconnects before the answer. */
  readonly gone: AbortSignal;
}

/** Answers a request. Without an answer the status is 204, unless it has replied by itself. */
type Answer<TRoute extends Route> = (
  asked: Asked<TRoute>,
) => z.input<TRoute['answer']> | Promise<z.input<TRoute['answer']>>;

/** Routes by group and name. */
type Groups<TRoutes> = { [Group in keyof TRoutes]: { [Name in keyof TRoutes[Group]]: Route } };

/** The answer to each request of the API, by group and name. */
export type Answers<TRoutes extends Groups<TRoutes> = typeof routes> = {
  [Group in keyof TRoutes]: { [Name in keyof TRoutes[Group]]: Answer<TRoutes[Group][Name]> };
};

/** Serves the requests that have an answer here. Their queries and bodies are checked before. */
export function serve<TRoutes extends Groups<TRoutes>>(
  server: FastifyInstance,
  groups: TRoutes,
  answers: { [Group in keyof TRoutes]?: Partial<Answers<TRoutes>[Group]> },
): void {
  for (const group in groups)
    for (const name in groups[group]) {
      const answer = answers[group]?.[name];
      if (answer) serveOne(server, groups[group][name], answer);
    }
}

function serveOne<TRoute extends Route>(server: FastifyInstance, route: TRoute, answer: Answer<TRoute>): void {
  const { path, bodyName = 'the body' } = route;
  const part = <TPart extends 'query' | 'body'>(of: TPart, given: unknown, name: string): z.output<TRoute[TPart]> =>
    checked(route[of], given, name);
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const given = await answer({
      // The names in the path are those of its type.
      params: request.params as ParamsOf<TRoute['path']>,
      query: part('query', request.query, 'the query'),
      body: part('body', request.body ?? {}, bodyName),
      ...{ headers: request.headers, reply },
      get gone() {
        return untilGone(reply);
      },
    });
    if (given === undefined && !reply.sent) reply.code(204);
    return given;
  };
  server.route({ ...methodAndUrl(path), handler });
}

/** Serializes sizes above 2⁵³−1 as decimal texts. */
const asJson = (payload: unknown): string =>
  JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? plainBytes(value) : value));

/** Fields of an error for the answer. JSON leaves out those that are undefined. */
const toldOf = ({
  code,
  message,
  address,
  rpc,
  grpcCode,
  answerClass,
  originalCode,
  final,
}: StagecraftError): object => ({
  code,
  message,
  address,
  rpc,
  grpcCode,
  answerClass,
  originalCode,
  final,
});

const headMs = 10_000;
const bodyMs = 30_000;

/** Options of a server: a request that comes too slowly is answered with 408. */
const requestTimes = {
  headersTimeout: headMs,
  requestTimeout: headMs + bodyMs,
  /** Accuracy of these limits. */
  connectionsCheckingInterval: 1_000,
} satisfies ServerOptions;

/** Connections at once that have not shown that they may use the server. */
const mostUnknown = 256;

/**
 * Bounds the connections that a client can hold before it has shown that it may use the server: each is a file descriptor of
 * the process. Closes the oldest one that is not known, where there would be more than `most`. So a client that sends its request
 * at once gets in, however many others hold theirs open.
 * @returns a function that takes a connection as known
 */
export function boundConnections(server: Server, most = mostUnknown): (connection: Socket) => void {
  const unknown = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    const [oldest] = unknown;
    if (oldest && unknown.size >= most) oldest.destroy();
    unknown.add(connection);
    connection.once('close', () => unknown.delete(connection));
  });
  return (connection) => unknown.delete(connection);
}

/** Returns a signal that aborts when the client disconnects before the answer. */
function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const end = (): void => {
    if (!reply.raw.writableEnded)
      gone.abort(new StagecraftError('ABORTED', 'the client disconnected before the answer'));
  };
  // The client may be gone already.
  if (reply.raw.destroyed) end();
  else reply.raw.once('close', end);
  return gone.signal;
}

/** Passes the items on while the client is there. @throws {StagecraftError} ABORTED once it is gone */
export async function* whileThere<T>(gone: AbortSignal | undefined, items: AsyncIterable<T>): AsyncGenerator<T, void> {
  for await (const item of items) {
    gone?.throwIfAborted();
    yield item;
  }
}
