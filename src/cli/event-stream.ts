/** Reads server-sent events of an agent over its unix socket. */
import { request } from 'node:http';
import { AgentError, failureAt } from './client.js';

/** One event: its id, its name, and its data as text. */
export interface StreamedEvent {
  id: string;
  name: string;
  data: string;
}

export interface StreamOptions {
  /** Id of the last event that was seen. */
  lastId?: string | undefined;
  signal?: AbortSignal;
  onEvent(event: StreamedEvent): void;
}

/**
 * Resolves once the agent has ended the stream, or it was aborted.
 * @throws AgentError as askAgent; or the error that the agent sent as the last event
 */
export function readEvents(
  socketPath: string,
  path: string,
  { lastId, signal, onEvent }: StreamOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      signal?.aborted ? resolve() : reject(failureAt(socketPath, error));
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
    const call = request({ socketPath, path, headers, ...(signal && { signal }) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', fail);
      response.on('data', (part: string) => {
        text += part;
        if (response.statusCode !== 200) return;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const event = eventIn(block);
          if (event?.name === 'error') reject(errorIn(event.data));
          else if (event) onEvent(event);
        }
      });
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(errorIn(text))));
    });
    call.on('error', fail);
    call.end();
  });
}

/** Reads a block of lines; undefined if it holds no data. */
function eventIn(block: string): StreamedEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
  }
  const data = fields.get('data');
  return data === undefined ? undefined : { id: fields.get('id') ?? '', name: fields.get('event') ?? '', data };
}

function errorIn(text: string): AgentError {
  try {
    const { code = 'INTERNAL', message = text } = JSON.parse(text);
    return new AgentError(code, message);
  } catch {
    return new AgentError('INTERNAL', `the agent answered: ${text}`);
  }
}
