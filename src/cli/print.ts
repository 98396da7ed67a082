/** Tables and details for people; programs use --json. */

import { partsOf, taskReason, tellingLine } from '../agent/describe.js';
import type { ActorReport } from '../api/actor-routes.js';
import type { PluginReport, TaskReport } from '../api/agent-routes.js';
import { firstLine, oneLine } from '../host/terminal-text.js';

/**
 * Formats columns as wide as their widest cell, two spaces apart.
 * @param maxChars longest line; longer lines are cut in the last column, which has the reasons
 */
export function table(header: string[], rows: string[][], maxChars = Number.POSITIVE_INFINITY): string {
  const lines = [header, ...rows];
  const widths = widthsOf(lines);
  return lines.map((line) => cutTo(maxChars, tableLine(line, widths), widths)).join('\n');
}

/** Least width of the last column when lines are cut. */
const minLastChars = 10;

function cutTo(maxChars: number, line: string, widths: number[]): string {
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const chars = Math.max(maxChars, before + minLastChars);
  return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
}

/** Width for lines of a list: that of the terminal; undefined, without limit, for `--wide` and outside a terminal. */
export const lineChars = ({ wide }: { wide?: boolean }): number | undefined =>
  wide ? undefined : process.stdout.columns;

/** Width of each column's widest cell. */
export const widthsOf = ([header = [], ...rows]: string[][]): number[] =>
  header.map((_, column) => Math.max(...[header, ...rows].map((line) => firstLine(line[column] ?? '').length)));

/** Formats one line of a table whose later lines are not known yet. */
export const tableLine = (cells: string[], widths: number[]): string =>
  cells
    .map((cell, column) => firstLine(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();

export const pluginTable = (plugins: PluginReport[], maxChars?: number): string =>
  plugins.length === 0
    ? 'no plugins are registered'
    : table(
        ['NAME', 'TYPE', 'STATE', 'DRIVER', 'VERSION', 'INSTANCES', 'DESCRIPTION'],
        plugins.map(({ info, state, fingerprint, instances, description }) => [
          info.name,
          info.type,
          state,
          fingerprint.pluginName ?? '-',
          fingerprint.vendorVersion ?? '-',
          String(instances),
          description,
        ]),
        maxChars,
      );

export const silentStore = (since: number): string =>
  `the store has not answered since ${new Date(since).toISOString()}: what you see may be old, changes are refused`;

export const actorTable = (actors: ActorReport[], maxChars?: number): string =>
  table(
    ['ADDRESS', 'STATE', 'SEQ', 'OUT OF SERVICE'],
    actors.map(({ address, path = '-', seq, quarantined }) => [
      address,
      path,
      seq === undefined ? '-' : String(seq),
      quarantined ?? '-',
    ]),
    maxChars,
  );

export function pluginDetails({ info, state, description, fingerprint, checkedAt, instances }: PluginReport): string {
  const {
    pluginName = '-',
    vendorVersion = '-',
    capabilities,
    pluginCapabilities,
    nodeId,
    maxVolumes,
    topology,
    scope = 'shared',
  } = fingerprint;
  const listed = (items: string[] | undefined): string => (items ? items.join(', ') || 'none' : 'not known yet');
  const facts: [string, string][] = [
    ['plugin', `${info.name} (${info.type})`],
    ['state', `${state}: ${description}`],
    ['checked', checkedAt === undefined ? 'not since the agent started' : new Date(checkedAt).toISOString()],
    ['driver', `${pluginName} ${vendorVersion}`],
    ['plugin offers', listed(pluginCapabilities)],
    ['service offers', listed(capabilities)],
    ['scope', info.options?.scope ?? scope],
    ['node id', nodeId ?? '-'],
    ['max volumes', maxVolumes === undefined ? 'no limit' : String(maxVolumes)],
    [
      'topology',
      topology
        ? Object.entries(topology)
            .map(([key, value]) => `${key}=${value}`)
            .join(', ')
        : '-',
    ],
    ['socket', info.connection.socketPath],
    ['instance', `${info.allocId}, of ${instances}`],
  ];
  return factsTable(facts);
}

/** Formats one fact per line, with the names in a column. */
export function factsTable(facts: [name: string, value: string][]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join('\n');
}

/** Reason for a task's state, with the most telling line of its log. */
function whyOf(task: TaskReport): string {
  const { what, said } = partsOf(taskReason(task) ?? '');
  const telling = tellingLine(said);
  return [...nextStartOf(task), ...(what ? [what] : []), ...(telling === undefined ? [] : [telling])].join(': ');
}

/** Says when a task that backs off starts again; empty for other tasks. */
function nextStartOf({ nextStartAtMs }: TaskReport): string[] {
  if (nextStartAtMs === undefined) return [];
  const seconds = Math.ceil((nextStartAtMs - Date.now()) / 1_000);
  return [seconds > 0 ? `next start in ${seconds} s` : 'next start now'];
}

const healthOf = ({ healthy }: TaskReport): string => (healthy === undefined ? '-' : healthy ? 'healthy' : 'unhealthy');

export const taskTable = (tasks: TaskReport[], maxChars?: number): string =>
  tasks.length === 0
    ? 'there are no tasks: name plugins to run in the configuration of the agent'
    : table(
        ['ID', 'TYPE', 'STATE', 'HEALTH', 'PID', 'REASON'],
        tasks.map((task) => [
          task.id,
          task.spec.type,
          task.state,
          healthOf(task),
          String(task.pid ?? '-'),
          whyOf(task),
        ]),
        maxChars,
      );

/** One line for each task whose plugin is missing, or soon will be. Tasks that somebody stopped are left out. */
export const failedTasks = (tasks: TaskReport[]): string[] =>
  tasks.flatMap((task) => (task.state === 'stopped' ? [] : (taskTrouble(task) ?? []))).map(oneLine);

/** Why the plugin of a task is missing, or soon will be, and what to do; undefined if the plugin should be there. */
export function taskTrouble(task: TaskReport): string | undefined {
  const { id, state } = task;
  if (state === 'stopped') return `task ${id} is stopped: start it with stagecraft task restart ${id}`;
  if (state === 'backing-off')
    return `task ${id} is waiting to be started again${nextStartOf(task).map((when) => `, ${when}`)}: see stagecraft task status ${id}`;
  if (state !== 'failed') return undefined;
  return `task ${id} has failed: see stagecraft task status ${id}, then start it with stagecraft task restart ${id}`;
}

export function taskDetails(task: TaskReport): string {
  const { id, state, spec, allocId, pid, pluginName, description, logPath } = task;
  const { maxRestarts, windowMs, backoff } = spec.restart;
  const restarts = `${maxRestarts} within ${windowMs} ms, after ${backoff.initialMs} ms doubling to ${backoff.maxMs} ms`;
  const { what } = partsOf(state === 'running' ? '' : (taskReason(task) ?? ''));
  const facts: [string, string | undefined][] = [
    ['task', `${id} (${spec.type})`],
    ['state', [state, ...nextStartOf(task), ...(what ? [what] : [])].join(': ')],
    ['health', description === undefined ? '-' : `${healthOf(task)}: ${description}`],
    ['plugin', spec.plugin],
    ['driver', pluginName ?? '-'],
    ['instance', allocId ?? '-'],
    ['pid', pid === undefined ? '-' : String(pid)],
    ['command', spec.command?.map(quoted).join(' ')],
    ['socket', spec.socket],
    ['environment', spec.env.length > 0 ? `${spec.env.join(', ')} (values are not shown)` : undefined],
    ['mount directory', spec.mountDir],
    ['stages below', spec.stagePublishBaseDir],
    ['ready within', `${spec.healthTimeoutMs} ms`],
    ['restarts', spec.socket === undefined ? restarts : undefined],
    ['log', logPath],
  ];
  const known = facts.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));
  return factsTable(known);
}

/** Quotes an argument for a shell, so that readers can tell arguments apart. */
const quoted = (argument: string): string =>
  /^[\w./:=@%+,-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
