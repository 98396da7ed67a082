/** What commands that speak to a running agent have in common: which agent, and how it is asked. */
import { existsSync, realpathSync } from 'node:fs';
import type { Command } from 'commander';
import type { AgentReport } from '../agent/api.js';
import { dataDirIn, findConfig } from '../agent/find-config.js';
import { agentSocketPath } from '../agent/socket-path.js';
import type { TaskReport } from '../agent/task-api.js';
import { askAgent } from './client.js';
import { silentStore } from './print.js';

export interface ReachOptions {
  config?: string;
  socket?: string;
}

export interface LookOptions extends ReachOptions {
  json?: boolean;
  wide?: boolean;
}

export const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

/** What was done, where there is nothing else to show. */
export const tell = ({ json }: LookOptions, done: string): void => (json ? printJson({ done }) : print(done));

/** Of `--config`. */
export const configDefault = 'default: STAGECRAFT_CONFIG, else ./stagecraft.yaml, else /etc/stagecraft/agent.yaml';

/** Gives a command the options that name an agent. */
export const reach = (command: Command): Command =>
  command
    .option('--config <file>', `the configuration of the agent; ${configDefault}`)
    .option(
      '--socket <path>',
      "the agent's socket, instead of the one of the configuration; default: STAGECRAFT_SOCKET",
    );

/** As `reach`, for a command that has something to show. */
export const lookAt = (command: Command, json = 'for programs'): Command => reach(command).option('--json', json);

/** As `lookAt`, for a list: what is longer than the terminal is wide is cut off. */
export const lookAll = (command: Command): Command =>
  lookAt(command).option('--wide', 'whole lines, also those that are longer than the terminal is wide');

/** Path of the agent's socket. The command line goes before the environment. */
export function socketOf({ config, socket }: ReachOptions): string {
  if (socket !== undefined) return socket;
  const { STAGECRAFT_SOCKET: named } = process.env;
  if (config === undefined && named) return named;
  const dataDir = dataDirIn(findConfig(config));
  // The agent goes by the name without symbolic links.
  return agentSocketPath(existsSync(dataDir) ? realpathSync(dataDir) : dataDir);
}

/** What the agent knows already it tells at once. */
export const soon = { timeoutMs: 10_000 };

/** The tasks of this node: what else is told may be as it is because of them. */
export const lookAtTasks = (socketPath: string): Promise<TaskReport[]> =>
  askAgent(socketPath, 'GET', '/v1/tasks', soon) as Promise<TaskReport[]>;

/** What the agent knows now; a line on stderr says so where it may be old. */
export async function look<T>(socketPath: string, path: string): Promise<T> {
  const { store } = (await askAgent(socketPath, 'GET', '/v1/agent', soon)) as AgentReport;
  if (store?.since !== undefined) process.stderr.write(`${silentStore(store.since)}\n`);
  return (await askAgent(socketPath, 'GET', path, soon)) as T;
}
