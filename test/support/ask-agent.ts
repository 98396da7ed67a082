/** Asks an agent for any path, and checks that the answer is as docs/openapi.json says. */
import { responseTo, type Sent, whole } from '../../src/client/exchange.js';
import { checkDocumented } from './documented.js';

/**
 * @returns the parsed JSON; undefined for an empty answer
 * @throws AgentError
 */
export async function askAgent(
  socketPath: string,
  method: Sent['method'],
  path: string,
  options: Omit<Sent, 'method' | 'path'> = {},
): Promise<unknown> {
  const response = await responseTo({ at: socketPath, options: { socketPath } }, { ...options, method, path });
  const text = await whole(socketPath, response);
  const answer: unknown = text === '' ? undefined : JSON.parse(text);
  checkDocumented(method, path, answer);
  return answer;
}
