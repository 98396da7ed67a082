/** Reads server-sent events. */
import { AgentError } from './agent-error.js';

/** Data of each event. @throws AgentError the one that the agent sent as the last event */
export async function* eventsIn(pieces: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const { event, data } = fieldsOf(block);
      if (data !== undefined && event === 'error') throw errorIn(data);
      if (data !== undefined) yield data;
    }
  }
}

/** Fields of a block of lines: `event`, `data`, `id`. */
function fieldsOf(block: string): Partial<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const at = line.indexOf(': ');
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}

function errorIn(data: string): AgentError {
  const answer = JSON.parse(data);
  return new AgentError(answer.code, answer.message, answer);
}
