/** `stagecraft why`: how an actor is, what it waits for, since when, and what to do. */
import type { Command } from 'commander';
import { type LookOptions, lookAt, lookAtAgent, print, printJson, soon } from './connection.js';
import { addressIn } from './history.js';
import { whyText } from './print-why.js';
import { type InNamespace, inNamespace } from './requests.js';

export function addWhy(program: Command): void {
  inNamespace(
    lookAt(
      program
        .command('why <address> [name]')
        .description("say how an actor is, what it waits for and what to do: its address, or 'volume NAME'"),
    ),
    'volume',
  ).action(explain);
}

async function explain(given: string, name: string | undefined, options: LookOptions & InNamespace): Promise<void> {
  const agent = await lookAtAgent(options);
  const params = { address: addressIn(given, name, options) };
  const detail = await agent.actors.inspect({ params, ...soon });
  const history = await agent.actors.history({ params, ...soon });
  if (options.json) printJson({ ...detail, history: history.lines });
  else print(whyText(detail, history, Date.now()));
}
