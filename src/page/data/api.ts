/** Reads from the agent. Errors have a sentence for people. */
import { dropToken, token } from './token.js';

/** The agent answered with an error, or did not answer. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws {ApiError} with the agent's code; NOT_REACHABLE if it does not answer */
export async function ask<T>(path: string, body?: object): Promise<T> {
  const { value: own = '' } = token;
  const headers = { authorization: `Bearer ${own}`, ...(body && { 'content-type': 'application/json' }) };
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(path, { credentials: 'omit', headers, ...sent }).catch(() => {
    throw new ApiError('NOT_REACHABLE', 'The agent does not answer. What you see is as it was.');
  });
  const told = await answer.json().catch(() => undefined);
  if (answer.ok) return told as T;
  if (answer.status === 401) dropToken(own);
  throw new ApiError(told?.code ?? 'INTERNAL', told?.message ?? `The agent answered with status ${answer.status}.`);
}

/**
 * Adds a ticket to a path, for one request that can have no header: a WebSocket, an EventSource, a download.
 * @throws {ApiError} as `ask`
 */
export async function withTicket(path: string): Promise<string> {
  const { ticket } = await ask<{ ticket: string }>('/v1/tickets', {});
  return `${path}${path.includes('?') ? '&' : '?'}ticket=${ticket}`;
}

/** Opens a WebSocket of the agent. @throws {ApiError} as `ask` */
export const openSocket = async (path: string): Promise<WebSocket> =>
  new WebSocket(`${location.origin.replace(/^http/, 'ws')}${await withTicket(path)}`);
