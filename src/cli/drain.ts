/** `stagecraft drain`: releases all allocs of a node, stops its plugins and its agent, and prints progress meanwhile. */

import type { Command } from 'commander';
import { describeAlloc } from '../agent/describe-mounts.js';
import type { TaskReport } from '../api/agent-routes.js';
import type { Client } from '../client/client.js';
import { oneLine } from '../host/terminal-text.js';
import { addReachOptions, agentAt, type ReachOptions, soon } from './connection.js';
import { print } from './output.js';
import { tellingOf } from './wait.js';

export function addDrain(program: Command): void {
  addReachOptions(
    program.command('drain').description('release all allocs, stop the plugin processes in order, then the agent'),
  ).action(drain);
}

async function drain(options: ReachOptions): Promise<void> {
  const agent = await agentAt(options);
  await tellingOf(agent.agent.drain(), () => goingAt(agent), options);
  print('drained: allocs are released, the plugin processes are stopped, and the agent has ended');
}

/** Items that a line of progress names; it only counts the others. */
const mostTold = 3;

/** Describes what still has to end: allocs first, then plugin processes. */
async function goingAt(agent: Client): Promise<string | undefined> {
  // The agent refuses to list what it has closed: nothing is left there.
  const listed = <T>(list: Promise<T[]>): Promise<T[]> => list.catch(() => []);
  const allocs = (await listed(agent.allocs.list(soon))).map(describeAlloc);
  const going = allocs.length > 0 ? allocs : (await listed(agent.tasks.list(soon))).flatMap(describeEnd);
  const more = going.length - mostTold;
  const told = [...going.slice(0, mostTold), ...(more > 0 ? [`and ${more} more`] : [])];
  return told.length > 0 ? oneLine(told.join('; ')) : undefined;
}

const describeEnd = ({ id, state }: TaskReport): string[] =>
  state === 'stopped' || state === 'failed' ? [] : [`task ${id}: ${state}`];
