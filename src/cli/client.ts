/** Asks a running agent over its unix socket. */
import { request } from 'node:http';

/** The agent could not be reached, or answered with an error. */
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
 * @returns the parsed JSON, absent for an empty answer
 * @throws AgentError NOT_REACHABLE, or the agent's own code and message
 */
export function askAgent(socketPath: string, method: 'GET' | 'POST', path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          const body = text === '' ? undefined : JSON.parse(text);
          if ((response.statusCode ?? 500) < 400) resolve(body);
          else
            reject(
              new AgentError(body?.code ?? 'INTERNAL', body?.message ?? `the agent answered ${response.statusCode}`),
            );
        } catch (error) {
          reject(error);
        }
      });
    });
    call.on('error', (error) => {
      const message = `no agent answers at ${socketPath} (${error.message}): start one, or name its --config or --socket`;
      reject(new AgentError('NOT_REACHABLE', message));
    });
    call.end();
  });
}
