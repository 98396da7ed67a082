/** `stagecraft inspect`: prints the link to the inspector page of a running agent. */
import type { Command } from 'commander';
import { AgentError } from '../client/agent-error.js';
import { type LookOptions, lookAt, lookAtAgent } from './connection.js';
import { print, printJson } from './output.js';

export function addInspect(program: Command): void {
  lookAt(
    program.command('inspect').description('print the link to the page of this agent; whoever has it can look'),
  ).action(printLink);
}

async function printLink(options: LookOptions): Promise<void> {
  const { url } = await (await lookAtAgent(options)).agent.inspector();
  if (url === undefined)
    throw new AgentError('NOT_FOUND', 'this agent serves no page: see `inspector.listen` of its configuration');
  if (options.json) printJson({ url });
  else print(url);
}
