/** `stagecraft node`: shows the nodes that have reported; fences or removes a node that is lost. */
import type { Command } from 'commander';
import type { NodeReport } from '../agent/node-api.js';
import { askAgent } from './client.js';
import { type LookOptions, look, lookAll, lookAt, print, printJson, socketOf, tell } from './connection.js';
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

const pathOf = (id: string): string => `/v1/nodes/${encodeURIComponent(id)}`;

async function listNodes(options: LookOptions): Promise<void> {
  const nodes = await look<NodeReport[]>(socketOf(options), '/v1/nodes');
  if (options.json) printJson(nodes);
  else print(nodeTable(nodes, lineChars(options)));
}

async function showNode(id: string, options: LookOptions): Promise<void> {
  const node = await look<NodeReport>(socketOf(options), pathOf(id));
  if (options.json) printJson(node);
  else print(nodeDetails(node));
}

async function fenceNode(id: string, { reason, ...options }: LookOptions & { reason: string }): Promise<void> {
  await askAgent(socketOf(options), 'POST', `${pathOf(id)}/fence`, { body: { reason } });
  tell(options, `node ${id} is fenced: see stagecraft node status ${id}`);
}

async function removeNode(id: string, options: LookOptions): Promise<void> {
  await askAgent(socketOf(options), 'POST', `${pathOf(id)}/remove`);
  tell(options, `node ${id} is removed; its claims are released`);
}
