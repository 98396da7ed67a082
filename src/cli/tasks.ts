/** `stagecraft task`: shows plugin processes and their logs; stops, removes and restarts them. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { partsOf } from '../agent/describe.js';
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
import { lineChars, taskDetails, taskTable } from './print.js';

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
