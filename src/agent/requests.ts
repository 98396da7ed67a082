/** Reads what requests to the agent's API have in them. What the runtime checks itself is handed on as it is. */
import type { FastifyReply } from 'fastify';
import { StagecraftError } from '../errors.js';
import type { WaitOptions } from '../requests/await-options.js';

/** @throws StagecraftError INVALID_ARGUMENT, as all of these */
export function timeoutIn(text: string | undefined): { timeoutMs?: number } {
  return text === undefined ? {} : { timeoutMs: countIn('timeoutMs', text, 'a positive number of milliseconds') };
}

export function countIn(name: string, text: string, what = 'a positive whole number'): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} is ${what}, not '${text}'`);
}

/** Wait options in the query: how long the request waits, and for what. */
export const waitIn = ({ timeoutMs, wait }: { timeoutMs?: string; wait?: string }): WaitOptions => ({
  ...timeoutIn(timeoutMs),
  ...(wait !== undefined && { wait: switchIn('wait', wait) }),
});

function switchIn(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new StagecraftError('INVALID_ARGUMENT', `${name} is true or false, not '${text}'`);
}

const field = (body: unknown, name: string): unknown => Reflect.get(Object(body), name);

/** False where it is left out. */
export function flagIn(body: unknown, name: string): boolean {
  const flag = field(body, name) ?? false;
  if (typeof flag === 'boolean') return flag;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} is true or false, not ${JSON.stringify(flag)}`);
}

export function textIn(body: unknown, name: string): string {
  const text = field(body, name);
  if (typeof text === 'string') return text;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} is a text, and must be there`);
}

/** Options in the body of a retry. The body may be absent. */
export function retryIn(body: unknown): { acceptDriver?: string } {
  return field(body, 'acceptDriver') === undefined ? {} : { acceptDriver: textIn(body, 'acceptDriver') };
}

/** Aborted when whoever asked has gone before the answer. */
export function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const end = (): void => {
    if (!reply.raw.writableEnded) gone.abort(new StagecraftError('ABORTED', 'whoever asked has gone'));
  };
  // Ends at once where the caller has gone before this.
  if (reply.raw.destroyed) end();
  else reply.raw.once('close', end);
  return gone.signal;
}
