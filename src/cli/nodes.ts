/** `stagecraft node`: looks at the nodes that have reported, and says of one that it is lost. */
import type { Command } from 'commander';
import type { NodeReport } from '../agent/node-api.js';
import { askAgent } from './client.js';
import { type LookOptions, look, lookAll, lookAt, print, printJson, socketOf, tell } from './connection.js';
import { lineChars } from './print.js';
import { nodeDetails, nodeTable } from './print-volumes.js';

export function addNodeCommands(program: Command): void {
  const node = program.command('node').description('look at nodes, and say which are lost');
  lookAll(node.command('list').description('the nodes that have reported, and how they are')).action(listNodes);
  lookAt(node.command('status <id>').description('all that is known of one node')).action(showNode);
  lookAt(
    node.command('fence <id>').description('take what is on it for lost: its claims are released without its word'),
  )
    .requiredOption('--reason <text>', 'why; it is kept on record')
    .action(fenceNode);
  lookAt(node.command('remove <id>').description('it is gone for good: as fence, then it is forgotten')).action(
    removeNode,
  );
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
  tell(options, `node ${id} is removed; what was on it is released`);
}
