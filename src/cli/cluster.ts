/** `stagecraft cluster`: shows the agents on one store, their plugins, and which of them works on volumes. */
import type { Command } from 'commander';
import type { ClusterReport } from '../api/agent-routes.js';
import { type LookOptions, lookAll, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';
import { lineChars, table } from './print.js';

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
