/** Sends one request to a running agent, over its unix socket. */
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';

/** The agent could not be reached, was lost, or answered with an error. */
export class AgentError extends Error {
  override readonly name = 'AgentError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * @param timeoutMs how long the connection may stay silent; default: no limit
 * @param body sent as JSON
 * @param signal aborts the request; the agent may still act on it
 * @returns the parsed JSON; undefined for an empty answer
 * @throws AgentError NOT_REACHABLE; NOT_PERMITTED: the socket is another user's; AGENT_LOST: the connection broke before the
 *   answer; or the agent's own code and message
 */
export function askAgent(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  { timeoutMs, body: sent, signal }: { timeoutMs?: number; body?: object; signal?: AbortSignal } = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(failureAt(socketPath, error));
    const headers = sent ? { 'content-type': 'application/json' } : {};
    const call = request({ socketPath, method, path, headers, ...(signal && { signal }) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', fail);
      response.on('end', () => {
        try {
          const body = text === '' ? undefined : JSON.parse(text);
          if ((response.statusCode ?? 500) < 400) resolve(body);
          else reject(refusal(body?.code ?? 'INTERNAL', body?.message ?? `the agent answered ${response.statusCode}`));
        } catch (error) {
          reject(error);
        }
      });
    });
    call.on('error', fail);
    if (timeoutMs !== undefined) call.setTimeout(timeoutMs, () => call.destroy(silence(timeoutMs)));
    call.end(sent && JSON.stringify(sent));
  });
}

/**
 * Writes a long answer as it comes. Resolves once it has all been handed on.
 * @throws AgentError as askAgent
 */
export function readText(socketPath: string, path: string, to: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(failureAt(socketPath, error));
    const call = request({ socketPath, path }, (response) => {
      response.on('error', fail);
      if (response.statusCode === 200) {
        response.on('end', resolve);
        response.pipe(to, { end: false });
        return;
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const { code = 'INTERNAL', message = text }: { code?: string; message?: string } = JSON.parse(text);
        reject(refusal(code, message));
      });
    });
    call.on('error', fail);
    call.end();
  });
}

/** Makes an error of the agent's answer. Advice for users of the library becomes the matching command. */
const refusal = (code: string, message: string): AgentError => {
  if (code === 'PLUGIN_NOT_FOUND' && message.startsWith('no plugin is registered'))
    return new AgentError(
      code,
      message.replace(/: [^:]*$/, ': see stagecraft plugin list, and task list for plugins that did not start'),
    );
  const isGroup = code === 'SNAPSHOT_NOT_FOUND' && /^(there is no )?group /.test(message);
  const subject = isGroup
    ? 'group-snapshot'
    : /^(TASK|VOLUME|SNAPSHOT|NODE|ALLOC|MOUNT)_NOT_FOUND$/.exec(code)?.[1]?.toLowerCase();
  return new AgentError(
    code,
    subject ? message.replace(/: list (them|what)[^:]*$/, `: see stagecraft ${subject} list`) : message,
  );
};

/** Names the owner of a socket, or of the nearest directory above it that can be seen. */
function ownerOf(path: string): string {
  try {
    const { uid } = statSync(path);
    return uid === 0 ? 'root' : `user ${uid}`;
  } catch {
    return path === dirname(path) ? 'somebody else' : ownerOf(dirname(path));
  }
}

const silence = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs} ms`), { syscall: 'connect' });

/** An error of a system call. */
interface SystemError {
  message: string;
  syscall?: string | undefined;
  code?: string | undefined;
}

export function failureAt(socketPath: string, { message, syscall, code }: SystemError): AgentError {
  if (syscall === 'connect' && code === 'EACCES') {
    const who = `it is ${ownerOf(socketPath)}'s: run this as that user, or as root`;
    return new AgentError('NOT_PERMITTED', `no permission to ask the agent at ${socketPath}: ${who}`);
  }
  if (syscall === 'connect') {
    const advice = 'start one, or name its --config or --socket';
    return new AgentError('NOT_REACHABLE', `no agent answers at ${socketPath} (${message}): ${advice}`);
  }
  const advice = 'the agent may have ended, and may have done the request before: see its output';
  return new AgentError('AGENT_LOST', `the connection to the agent at ${socketPath} was lost (${message}): ${advice}`);
}
