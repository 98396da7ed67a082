/** `stagecraft history`: what happened to an actor, one line per step. */
import type { Command } from 'commander';
import type { Client } from '../client/client.js';
import { countIn, misuse } from './arguments.js';
import { type LookOptions, lookAll, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';
import { lineChars } from './print.js';
import { historyTable } from './print-history.js';
import { type InNamespace, inNamespace } from './requests.js';

interface HistoryOptions extends LookOptions, InNamespace {
  limit?: number;
  before?: number;
}

export function addHistory(program: Command): void {
  inNamespace(
    lookAll(
      program
        .command('history <address> [name]')
        .description(
          'show what happened to an actor, step by step: its address as in actor list, or volume, node, task or alloc with its NAME',
        ),
    ),
    'volume',
  )
    .option('--limit <n>', 'show this many steps, the newest; default 200', countIn)
    .option('--before <seq>', 'show the steps before this one', countIn)
    .action(showHistory);
}

/**
 * Address that a command names: as it is given, or by kind and name.
 * @param nodeHere the node of tasks and allocs; absent: they can't be named so
 */
export async function addressIn(
  given: string,
  name: string | undefined,
  { namespace }: InNamespace,
  nodeHere?: () => Promise<string>,
): Promise<string> {
  if (name === undefined) return given;
  const address = (...parts: string[]): string => [given, ...parts].map(encodeURIComponent).join('/');
  if (given === 'volume') return address(namespace, name);
  if (given === 'node') return address(name);
  if (nodeHere && (given === 'task' || given === 'alloc')) return address(await nodeHere(), name);
  const kinds = nodeHere ? 'volume, node, task or alloc' : 'volume or node';
  throw misuse(`'${given} ${name}': give an address as stagecraft actor list shows it, or ${kinds} with a name`);
}

/** The node of the agent. */
export const agentNode =
  ({ agent }: Client) =>
  async (): Promise<string> =>
    (await agent.status(soon)).nodeId;

async function showHistory(given: string, name: string | undefined, options: HistoryOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const address = await addressIn(given, name, options, agentNode(agent));
  const { limit, before } = options;
  const query = { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }) };
  const page = await agent.actors.history({ params: { address }, query, ...soon });
  if (options.json) printJson(page);
  else print(historyTable(page, lineChars(options)));
}
