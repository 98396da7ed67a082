/** Requests whose client may leave before the answer. */
import type { FastifyReply } from 'fastify';
import { StagecraftError } from '../errors.js';

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

/** Passes the items on while the client is there. @throws {StagecraftError} ABORTED once it is gone */
export async function* whileThere<T>(gone: AbortSignal | undefined, items: AsyncIterable<T>): AsyncGenerator<T, void> {
  for await (const item of items) {
    gone?.throwIfAborted();
    yield item;
  }
}
