/** `stagecraft task`: shows plugin processes and their logs; stops, removes and restarts them. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { partsOf, taskReason, tellingLine } from '../agent/describe.js';
import type { LogReport, TaskReport } from '../api/agent-routes.js';
import { AgentError } from '../client/agent-error.js';
import type { Client } from '../client/client.js';
import { oneLine, plainLines } from '../host/terminal-text.js';
import { countUpTo } from './arguments.js';
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
import { print, printAsIs, printJson } from './output.js';
import { factsTable, lineChars, table } from './print.js';

const statusLines = 10;
const followEveryMs = 500;

export function addTaskCommands(program: Command): void {
  const task = program.command('task').description('show, stop, remove and restart plugin processes');
  lookAll(task.command('list').description('list tasks with their state and its reason')).action(listTasks);
  lookAt(task.command('status <id>').description('show one task in detail, with the end of its log')).action(showTask);
  addReachOptions(task.command('logs <id>').description('show the last lines of the log of a task'))
    .option('--lines <n>', 'how many, at most 10000', countUpTo(10_000), 100)
    .option('--follow', 'keep printing new lines')
    .action(showLog);
  lookAt(
    task.command('stop <id>').description('stop a task until task restart, or until the agent starts again'),
    'for programs: the task, as in task status --json',
  )
    .option('--force', 'even if mounted volumes need its plugin')
    .action(stopTask);
  addReachOptions(
    task.command('remove <id>').description('stop a task and forget it; its log and the files of its plugin stay'),
  )
    .option('--force', 'even if mounted volumes need its plugin')
    .action(removeTask);
  lookAt(
    task.command('restart <id>').description('end the process of a task, if there is one, and start a new one'),
    'for programs: the task, as in task status --json',
  ).action(restartTask);
}

async function listTasks(options: LookOptions): Promise<void> {
  const tasks = await (await lookAtAgent(options)).tasks.list(soon);
  if (options.json) printJson(tasks);
  else print(taskTable(tasks, lineChars(options)));
}

async function showTask(id: string, options: LookOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const task = await agent.tasks.status({ params: { id }, ...soon });
  if (options.json) return printJson(task);
  print(taskDetails(task));
  if (task.logPath !== undefined) print(`\n${excerptOf(task) ?? (await endOfLog(agent, id))}`);
}

/** First and last lines of a failed start. Undefined if the task runs, or if its reason left no lines out. */
function excerptOf(task: TaskReport): string | undefined {
  const { said } = partsOf(task.reason ?? '');
  return task.state !== 'running' && said.some(isLeftOut) ? said.join('\n') : undefined;
}

const isLeftOut = (line: string): boolean => /^… \d+ lines left out …$/.test(line);

/** Returns the last lines of the log, or in brackets why there are none. */
async function endOfLog(agent: Client, id: string): Promise<string> {
  try {
    const { text } = await logOf(agent, id, { lines: statusLines });
    return plainLines(text).trimEnd() || '(its log is empty)';
  } catch (error) {
    if (error instanceof AgentError && error.code === 'LOG_UNREADABLE') return `(${oneLine(error.message)})`;
    throw error;
  }
}

async function showLog(id: string, options: ReachOptions & { lines: number; follow?: boolean }): Promise<void> {
  const agent = await agentAt(options);
  let isRead = true;
  process.stdout.once('error', () => {
    isRead = false;
  });
  let { text, next } = await logOf(agent, id, { lines: options.lines });
  printAsIs(text);
  while (options.follow && isRead) {
    if (text === '') await pause(followEveryMs);
    ({ text, next } = await logOf(agent, id, { after: next }));
    printAsIs(text);
  }
}

const logOf = (agent: Client, id: string, query: { lines?: number; after?: number }): Promise<LogReport> =>
  agent.tasks.logs({ params: { id }, query, ...soon });

async function stopTask(id: string, { force = false, ...options }: LookOptions & { force?: boolean }): Promise<void> {
  const agent = await agentAt(options);
  await agent.tasks.stop({ params: { id }, body: { force } });
  if (options.json) return printJson(await agent.tasks.status({ params: { id }, ...soon }));
  print(`task ${id} is stopped`);
}

async function removeTask(
  id: string,
  { force = false, ...options }: ReachOptions & { force?: boolean },
): Promise<void> {
  const agent = await agentAt(options);
  await agent.tasks.remove({ params: { id }, body: { force } });
  print(`task ${id} is removed; the next start of the agent brings it back if it is still configured`);
}

async function restartTask(id: string, options: LookOptions): Promise<void> {
  const agent = await agentAt(options);
  await agent.tasks.restart({ params: { id } });
  if (options.json) return printJson(await agent.tasks.status({ params: { id }, ...soon }));
  print(`task ${id} is being restarted: see stagecraft task status ${id}`);
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

const taskTable = (tasks: TaskReport[], maxChars?: number): string =>
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

function taskDetails(task: TaskReport): string {
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
