/** Sends an HTTP request to an agent, and reads its answer as it comes: text, pieces of it, or server-sent events. */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { AgentError, agentErrorIn, failureAt } from './agent-error.js';

/** Avoids `import`, which on Node 24 also loads a whole WebSocket client: everything that the module exports. */
const { request } = process.getBuiltinModule('node:http');

/** Where an agent listens. */
export interface AgentSocket {
  /** The socket or the URL, for messages. */
  at: string;
  options: Pick<RequestOptions, 'socketPath' | 'host' | 'port' | 'headers'>;
}

export interface Sent {
  method: 'GET' | 'POST';
  /** With its query. */
  path: string;
  /** Sent as JSON. */
  body?: object | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** How long the connection may stay silent, ms. Default: no limit. */
  idleTimeoutMs?: number | undefined;
}

/**
 * Resolves as soon as a success begins.
 * @throws AgentError
 */
export async function responseTo({ at, options }: AgentSocket, sent: Sent): Promise<IncomingMessage> {
  const { method, path, body, signal, idleTimeoutMs } = sent;
  const headers = { ...options.headers, ...(body && { 'content-type': 'application/json' }), ...sent.headers };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const call = request({ ...options, method, path, headers, ...(signal && { signal }) }, resolve);
    call.on('error', (error) => reject(failed(at, error, signal)));
    if (idleTimeoutMs !== undefined) call.setTimeout(idleTimeoutMs, () => call.destroy(silence(idleTimeoutMs)));
    call.end(body && JSON.stringify(body));
  });
  const { statusCode = 500 } = response;
  if (statusCode < 400) return response;
  throw agentErrorIn(statusCode, await whole(at, response, signal));
}

/** The whole text of an answer. @throws AgentError */
export async function whole(at: string, response: IncomingMessage, signal?: AbortSignal): Promise<string> {
  try {
    return await textOf(response);
  } catch (error) {
    throw failed(at, error, signal);
  }
}

/** The text of an answer in pieces, as they come. Ends the connection when its reader stops. @throws AgentError */
export async function* pieces(
  at: string,
  response: IncomingMessage,
  signal?: AbortSignal,
): AsyncGenerator<string, void> {
  response.setEncoding('utf8');
  try {
    for await (const piece of response) yield String(piece);
  } catch (error) {
    throw failed(at, error, signal);
  }
}

function failed(at: string, error: unknown, signal: AbortSignal | undefined): AgentError {
  if (signal?.aborted) return new AgentError('ABORTED', `the request to the agent at ${at} was aborted`);
  return failureAt(at, error instanceof Error ? error : { message: String(error) });
}

const silence = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs} ms`), { syscall: 'connect' });

/** Data of each event. @throws AgentError the one that the agent sent as the last event */
export async function* eventsIn(pieces: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const { event, data } = fieldsOf(block);
      if (data !== undefined && event === 'error') throw errorIn(data);
      if (data !== undefined) yield data;
    }
  }
}

/** Fields of a block of lines: `event`, `data`, `id`. */
function fieldsOf(block: string): Partial<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ');
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}

function errorIn(data: string): AgentError {
  const answer = JSON.parse(data);
  return new AgentError(answer.code, answer.message, answer);
}
