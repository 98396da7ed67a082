/** `stagecraft node`: shows the nodes that have reported; fences or removes a node that is lost. */
import type { Command } from 'commander';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell } from './output.js';
import { lineChars } from './print.js';
import { nodeDetails, nodeTable } from './print-volumes.js';

export function addNodeCommands(program: Command): void {
  const node = program.command('node').description('show nodes; fence or remove those that are lost');
  lookAll(node.command('list').description('list the nodes that have reported, with their state')).action(listNodes);
  lookAt(node.command('status <id>').description('show one node in detail')).action(showNode);
  lookAt(node.command('fence <id>').description('fence a node that is lost: release its claims without waiting for it'))
    .requiredOption('--reason <text>', 'why, for the record')
    .action(fenceNode);
  lookAt(
    node.command('remove <id>').description('remove a node that is gone for good: fence it, then forget it'),
  ).action(removeNode);
}

async function listNodes(options: LookOptions): Promise<void> {
  const nodes = await (await lookAtAgent(options)).nodes.list(soon);
  if (options.json) printJson(nodes);
  else print(nodeTable(nodes, lineChars(options)));
}

async function showNode(id: string, options: LookOptions): Promise<void> {
  const node = await (await lookAtAgent(options)).nodes.status({ params: { id }, ...soon });
  if (options.json) printJson(node);
  else print(nodeDetails(node));
}

async function fenceNode(id: string, { reason, ...options }: LookOptions & { reason: string }): Promise<void> {
  const agent = await agentAt(options);
  await agent.nodes.fence({ params: { id }, body: { reason } });
  tell(options, `node ${id} is fenced: see stagecraft node status ${id}`);
}

async function removeNode(id: string, options: LookOptions): Promise<void> {
  const agent = await agentAt(options);
  await agent.nodes.remove({ params: { id } });
  tell(options, `node ${id} is removed; its claims are released`);
}
