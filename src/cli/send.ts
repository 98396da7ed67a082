/** `stagecraft actor send`: sends an actor a request by hand, where the agent allows it. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { misuse } from './arguments.js';
import { type LookOptions, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';

interface SendOptions extends LookOptions {
  data?: string;
  yes?: boolean;
}

export function addSend(actor: Command): void {
  lookAt(
    actor
      .command('send <address> <type>')
      .description(
        'send an actor a request that it takes now, in your name: its journal keeps it; see `why` for its state',
      ),
  )
    .option('--data <json>', 'further fields of the event, as a JSON object')
    .option('--yes', 'send it; without this it is only shown')
    .action(send);
}

async function send(address: string, type: string, { data, yes, ...options }: SendOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const event = { ...fieldsIn(data), type };
  const { state, accepts } = await agent.actors.inspect({ params: { address }, ...soon });
  if (!yes) {
    const takes = accepts.includes(type) ? '' : `; it takes only ${accepts.join(', ') || 'none'}`;
    throw misuse(`nothing was sent: ${address} is ${state}${takes}. With --yes it gets ${JSON.stringify(event)}`);
  }
  const { answer } = await agent.actors.send({ body: { address, event, by: userInfo().username } });
  if (options.json) printJson({ answer });
  else print(`${address} has taken ${type}${answer === null ? '' : `: ${JSON.stringify(answer)}`}`);
}

function fieldsIn(text = '{}'): object {
  try {
    const fields: unknown = JSON.parse(text);
    if (fields instanceof Object && !Array.isArray(fields)) return fields;
  } catch {
    // told below
  }
  throw misuse(`--data takes a JSON object, such as '{"nodeId":"worker-1"}', not ${text}`);
}
