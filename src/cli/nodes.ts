/** `stagecraft node`: shows the nodes that have reported; fences or removes a node that is lost. */
import type { Command } from 'commander';
import type { NodeReport } from '../api/node-routes.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell } from './output.js';
import { factsTable, lineChars, segmentsOf, table } from './print.js';

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

const fenceOf = ({ fence }: NodeReport): string => {
  if (!fence) return '-';
  const { isDone, reason, unread } = fence;
  const rest = unread ? `; may still be on it, as they could not take the fence: ${unread.join(', ')}` : '';
  return `${isDone ? 'fenced' : 'being fenced'}: ${reason}${rest}`;
};

const nodeTable = (nodes: NodeReport[], maxChars?: number): string =>
  nodes.length === 0
    ? 'no node has reported'
    : table(
        ['ID', 'STATE', 'PLUGINS', 'FENCE'],
        nodes.map((node) => [
          node.id,
          node.state,
          node.plugins.map(({ name }) => name).join(', ') || '-',
          fenceOf(node),
        ]),
        maxChars,
      );

function nodeDetails(node: NodeReport): string {
  const rows = node.plugins.map(({ name, nodeId, topology, maxVolumes }) => [
    name,
    nodeId,
    maxVolumes === undefined ? 'no limit' : String(maxVolumes),
    segmentsOf(topology),
  ]);
  const facts: [string, string][] = [
    ['node', node.id],
    ['state', node.state],
    ['fence', fenceOf(node)],
  ];
  return [
    factsTable(facts),
    ...(rows.length > 0 ? [table(['PLUGIN', 'CSI NODE', 'MAX VOLUMES', 'TOPOLOGY'], rows)] : []),
  ].join('\n\n');
}
