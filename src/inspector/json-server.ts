/** HTTP servers that speak JSON: what the agent's API and the listener for browsers share. */
import { type FastifyInstance, fastify } from 'fastify';
import { errorTable, StagecraftError } from '../errors.js';

/** A server without routes. Errors become `{code, message, address?}` with the status of their code. */
export function jsonServer(): FastifyInstance {
  const server = fastify({ forceCloseConnections: 'idle', routerOptions: { maxParamLength: 1_024 } });
  server.setReplySerializer(asJson);
  // Accepts an empty body that is declared as JSON.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) =>
    body === '' ? done(null) : parse(request, body, done),
  );
  server.addHook('preHandler', async (request) => {
    request.body ??= {};
  });
  server.setNotFoundHandler(({ method, url }, reply) =>
    reply.code(404).send({ code: 'NOT_FOUND', message: `the agent has no ${method} ${url}` }),
  );
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

/** Serializes sizes above 2⁵³−1 as decimal texts. */
const asJson = (payload: unknown): string =>
  JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? bytesOf(value) : value));

const bytesOf = (bytes: bigint): number | string => (bytes <= Number.MAX_SAFE_INTEGER ? Number(bytes) : String(bytes));

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
