/** `stagecraft why`: how an actor is, what it waits for, since when, and what to do. */
import type { Command } from 'commander';
import { StagecraftError } from '../errors.js';
import { type LookOptions, lookAt, lookAtAgent, soon } from './connection.js';
import { addressIn, agentNode } from './history.js';
import { print, printJson } from './output.js';
import { whyText } from './print-why.js';
import { type InNamespace, inNamespace } from './requests.js';

export function addWhy(program: Command): void {
  inNamespace(
    lookAt(
      program
        .command('why <address> [name]')
        .description(
          'say how an actor is, what it waits for and what to do: its address, or volume, node, task or alloc with its NAME',
        ),
    ),
    'volume',
  ).action(explain);
}

async function explain(given: string, name: string | undefined, options: LookOptions & InNamespace): Promise<void> {
  const agent = await lookAtAgent(options);
  const params = { address: await addressIn(given, name, options, agentNode(agent)) };
  const history = await agent.actors.history({ params, ...soon });
  const last = history.lines.at(-1);
  const detail = await agent.actors.inspect({ params, ...soon }).catch((error: unknown) => {
    if (!(error instanceof StagecraftError && error.code === 'ACTOR_NOT_FOUND' && last)) throw error;
    const message = `${params.address} is no more since ${new Date(last.at).toISOString()}: see stagecraft history ${params.address}`;
    throw new StagecraftError(error.code, message, { cause: error });
  });
  if (options.json) printJson({ ...detail, history: history.lines });
  else print(whyText(detail, history, Date.now()));
}
