/** Parsers of query and body fields of the agent's API. Other fields go to the runtime, which validates them. */
import type { FastifyReply } from 'fastify';
import { StagecraftError } from '../errors.js';
import type { WaitOptions } from '../requests/await-options.js';
import { countIn } from '../requests/query.js';

/** @throws StagecraftError INVALID_ARGUMENT, as do all parsers in this file */
export function timeoutIn(text: string | undefined): { timeoutMs?: number } {
  return text === undefined ? {} : { timeoutMs: countIn('timeoutMs', text, 'a positive number of milliseconds') };
}

/** Parses `timeoutMs` and `wait` of a query. */
export const waitIn = ({ timeoutMs, wait }: { timeoutMs?: string; wait?: string }): WaitOptions => ({
  ...timeoutIn(timeoutMs),
  ...(wait !== undefined && { wait: switchIn('wait', wait) }),
});

function switchIn(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new StagecraftError('INVALID_ARGUMENT', `${name} must be true or false, not '${text}'`);
}

const field = (body: unknown, name: string): unknown => Reflect.get(Object(body), name);

/** Reads a flag of the body; false if it is absent. */
export function flagIn(body: unknown, name: string): boolean {
  const flag = field(body, name) ?? false;
  if (typeof flag === 'boolean') return flag;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} must be true or false, not ${JSON.stringify(flag)}`);
}

export function textIn(body: unknown, name: string): string {
  const text = field(body, name);
  if (typeof text === 'string') return text;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} is missing, or not a text`);
}

/** Parses the body of a retry, which may be absent. */
export function retryIn(body: unknown): { acceptDriver?: string } {
  return field(body, 'acceptDriver') === undefined ? {} : { acceptDriver: textIn(body, 'acceptDriver') };
}

/** Returns a signal that aborts when the client disconnects before the answer. */
export function untilGone(reply: FastifyReply): AbortSignal {
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
