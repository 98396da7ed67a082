/** Reads from the agent. Errors have a sentence for people. */

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
  const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(path, { credentials: 'same-origin', ...sent }).catch(() => {
    throw new ApiError('NOT_REACHABLE', 'The agent does not answer. What you see is as it was.');
  });
  const told = await answer.json().catch(() => undefined);
  if (answer.ok) return told as T;
  throw new ApiError(told?.code ?? 'INTERNAL', told?.message ?? `The agent answered with status ${answer.status}.`);
}
