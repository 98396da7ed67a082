/**
 * Commands about agents: `stagecraft cluster` shows those on one store, `inspect` prints the link to the page of one, `drain`
 * ends one in order.
 */
import type { Command } from 'commander';
import { describeAlloc } from '../agent/describe-mounts.js';
import type { ClusterReport, TaskReport } from '../api/agent-routes.js';
import { AgentError } from '../client/agent-error.js';
import type { Client } from '../client/client.js';
import { oneLine } from '../host/terminal-text.js';
import {
  addReachOptions,
  agentAt,
  type LookOptions,
  lookAll,
  lookAt,
  lookAtAgent,
  type ReachOptions,
  soon,
} from './connection.js';
import { print, printJson } from './output.js';
import { lineChars, table } from './print.js';
import { tellingOf } from './wait.js';

export function addCluster(program: Command): void {
  const command = program
    .command('cluster')
    .description('show the agents on one store, their plugins, and which of them works on volumes');
  lookAll(command).action(showCluster);
}

async function showCluster(options: LookOptions): Promise<void> {
  const report = await (await lookAtAgent(options)).cluster.status(soon);
  if (options.json) printJson(report);
  else print(clusterText(report, Date.now(), lineChars(options)));
}

/** @param maxChars longest line of a table */
export function clusterText(report: ClusterReport, nowMs: number, maxChars?: number): string {
  const { agents, owner } = report;
  const ownerLevel = agents.find(({ nodeId }) => nodeId === owner?.nodeId)?.level ?? 0;
  const plugins = agents.flatMap((agent) => agent.plugins.map((plugin) => ({ agent, plugin })));
  const agentTable = table(
    ['NODE', 'HOST', 'VERSION', 'STARTED', 'VOLUMES', 'STATE'],
    agents.map(({ nodeId, host, version, level = 0, startedAtMs, ownsVolumes, isThis, silentSinceMs }) => [
      nodeId,
      host,
      version,
      new Date(startedAtMs).toISOString(),
      ownsVolumes ? 'works on them' : '-',
      `${silentSinceMs !== undefined ? silence(silentSinceMs, nowMs) : isThis ? 'this agent' : 'present'}${
        level < ownerLevel || (isThis && report.tooOld) ? ', too old to work on volumes' : ''
      }`,
    ]),
    maxChars,
  );
  const pluginTable = table(
    ['PLUGIN', 'TYPE', 'NODE', 'SCOPE', 'STATE', 'TROUBLE'],
    plugins.map(({ agent: { nodeId, silentSinceMs }, plugin: { name, type, scope, healthy, trouble } }) => [
      name,
      type,
      nodeId,
      scope ?? '-',
      silentSinceMs !== undefined ? 'away' : healthy ? 'healthy' : 'unhealthy',
      trouble ?? '-',
    ]),
    maxChars,
  );
  return [
    agentTable,
    ...(plugins.length === 0 ? ['no agent has plugins'] : [pluginTable]),
    waitsIn(report, nowMs).join('\n'),
  ].join('\n\n');
}

const noneCan = 'no agent works on volumes now: start one of a version that can read what is stored';

const silence = (sinceMs: number, nowMs: number): string =>
  `silent for ${Math.max(0, Math.round((nowMs - sinceMs) / 1_000))} s`;

/** Says who works on volumes, and what has to wait. */
function waitsIn({ agents, owner, tooOld, requestsUnderWay }: ClusterReport, nowMs: number): string[] {
  const controllers = new Map<string, boolean>();
  for (const { plugins, silentSinceMs } of agents)
    for (const { name, type, healthy } of plugins)
      if (type === 'csi-controller')
        controllers.set(name, (controllers.get(name) ?? false) || (healthy && silentSinceMs === undefined));
  const stuck = [...controllers]
    .filter(([, canBeCalled]) => !canBeCalled)
    .map(([name]) => name)
    .toSorted();
  const requests =
    requestsUnderWay === 1
      ? '1 request made at this agent waits'
      : `${requestsUnderWay} requests made at this agent wait`;
  return [
    owner || tooOld === undefined ? ownerIn(owner, nowMs) : noneCan,
    ...(tooOld === undefined ? [] : [tooOld]),
    ...(requestsUnderWay > 0 ? [`${requests} for its answer`] : []),
    ...stuck.map((name) => `no agent can call the controller of plugin ${name} now: its volumes wait`),
  ];
}

function ownerIn(owner: ClusterReport['owner'], nowMs: number): string {
  if (!owner) return 'no agent works on volumes now: one takes over within seconds, or when one is started';
  const { nodeId, sinceMs, epoch, silentSinceMs } = owner;
  if (silentSinceMs !== undefined)
    return `the agent that works on volumes (node ${nodeId}) is ${silence(silentSinceMs, nowMs)}: another takes over`;
  return `node ${nodeId} works on volumes since ${new Date(sinceMs).toISOString()} (epoch ${epoch})`;
}

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
