/** Errors of requests to an agent. */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The agent could not be reached, was lost, or answered with an error. */
export class AgentError extends Error {
  override readonly name = 'AgentError';

  /**
   * @param code one of docs/errors.md; or NOT_REACHABLE; NOT_PERMITTED: the socket is another user's; AGENT_LOST: the
   *   connection broke before the end of the answer; ABORTED: by the caller's signal
   * @param answer the agent's whole answer, if it has answered: `{code, message, address?, …}`
   */
  constructor(
    readonly code: string,
    message: string,
    readonly answer: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

/** Error of an answer that is no success. @param text its body */
export function agentErrorIn(status: number, text: string): AgentError {
  const answer = objectIn(text);
  const { code = 'INTERNAL', message = `the agent answered ${status}: ${text}` } = answer;
  return new AgentError(String(code), String(message), answer);
}

function objectIn(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {}; // No JSON: told as it is.
  }
}

/** An error of a system call. */
interface SystemError {
  message: string;
  syscall?: string | undefined;
  code?: string | undefined;
}

/** Error of a request without a whole answer. @param at the socket or the URL */
export function failureAt(at: string, { message, syscall, code }: SystemError): AgentError {
  if (syscall === 'connect' && code === 'EACCES') {
    const who = `it is ${ownerOf(at)}'s: run this as that user, or as root`;
    return new AgentError('NOT_PERMITTED', `no permission to ask the agent at ${at}: ${who}`);
  }
  if (syscall === 'connect') {
    const advice = 'start it (systemctl start stagecraft), or give --config or --socket of the one that runs';
    return new AgentError('NOT_REACHABLE', `no agent answers at ${at} (${message}): ${advice}`);
  }
  const advice = 'the agent may have ended, and may have done the request before: see its output';
  return new AgentError('AGENT_LOST', `the connection to the agent at ${at} was lost (${message}): ${advice}`);
}

/** Names the owner of a socket, or of the nearest directory above it that can be seen. */
function ownerOf(path: string): string {
  try {
    const { uid } = statSync(path);
    return uid === 0 ? 'root' : `user ${uid}`;
  } catch {
    return path === dirname(path) ? 'somebody else' : ownerOf(dirname(path));
  }
}
