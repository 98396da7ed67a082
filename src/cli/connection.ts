/** Shared parts of the commands that ask a running agent: options that name the agent, requests, output. */

import { existsSync, realpathSync } from 'node:fs';
import type { Command } from 'commander';
import { dataDirIn, findConfig } from '../agent/find-config.js';
import { agentSocketPath } from '../agent/places.js';
import type { StoredAt } from '../agent/stored-past.js';
import { AgentError } from '../client/agent-error.js';
import { type Client, createClient } from '../client/client.js';
import { misuse } from './arguments.js';
import { warn } from './output.js';

export interface ReachOptions {
  config?: string;
  socket?: string;
}

export interface LookOptions extends ReachOptions {
  json?: boolean;
  wide?: boolean;
}

/** Text on the default of `--config`, for help. */
export const configDefault = 'default: STAGECRAFT_CONFIG, else ./stagecraft.yaml, else /etc/stagecraft/agent.yaml';

/** Adds the options that name an agent: `--config` and `--socket`. */
export const addReachOptions = (command: Command): Command =>
  command
    .option('--config <file>', `the configuration of the agent; ${configDefault}`)
    .option(
      '--socket <path>',
      "the agent's socket, instead of the one of the configuration; default: STAGECRAFT_SOCKET",
    );

/** Adds the options of `addReachOptions`, and `--json`. */
export const lookAt = (command: Command, json = 'for programs'): Command =>
  addReachOptions(command).option('--json', json);

/** Adds the options of `lookAt`, and `--wide`: without it lines of lists are cut to the terminal. */
export const lookAll = (command: Command): Command =>
  lookAt(command).option('--wide', 'do not cut lines to the width of the terminal');

/** Path of the agent's socket. Options win over STAGECRAFT_SOCKET, which wins over the default configuration. */
async function socketOf({ config, socket }: ReachOptions): Promise<string> {
  if (socket !== undefined) return socket;
  const { STAGECRAFT_SOCKET: named } = process.env;
  if (config === undefined && named) return named;
  const dataDir = await dataDirIn(findConfig(config));
  // The agent names its socket after the data directory's path without symbolic links.
  return agentSocketPath(existsSync(dataDir) ? realpathSync(dataDir) : dataDir);
}

/** Time limit for requests that the agent answers from memory, without waiting. */
export const soon = { idleTimeoutMs: 10_000 };

/** The agent that the options name. */
export const agentAt = async (options: ReachOptions): Promise<Client> =>
  createClient({ socketPath: await socketOf(options), explain: inCommandWords });

/** The same, to read from it. Warns on stderr if what it says may be old, as its store does not answer. */
export async function lookAtAgent(options: ReachOptions): Promise<Client> {
  const agent = await agentAt(options);
  const { store } = await agent.agent.status(soon);
  if (store?.since !== undefined) warn(silentStore(store.since));
  return agent;
}

const silentStore = (since: number): string =>
  `the store has not answered since ${new Date(since).toISOString()}: what you see may be old, changes are refused`;

/** Errors of the agent in the words of the command line: advice for users of the library becomes the matching command. */
export function inCommandWords({ code, message, answer }: AgentError): AgentError {
  if (code === 'PLUGIN_NOT_FOUND' && message.startsWith('no plugin is registered'))
    return new AgentError(
      code,
      message.replace(/: [^:]*$/, ': see stagecraft plugin list, and task list for plugins that did not start'),
      answer,
    );
  const isGroup = code === 'SNAPSHOT_NOT_FOUND' && /^(there is no )?group /.test(message);
  const subject = isGroup
    ? 'group-snapshot'
    : /^(TASK|VOLUME|SNAPSHOT|NODE|ALLOC|MOUNT)_NOT_FOUND$/.exec(code)?.[1]?.toLowerCase();
  const said = subject ? message.replace(/: list (them|what)[^:]*$/, `: see stagecraft ${subject} list`) : message;
  return new AgentError(code, said, answer);
}

/** Adds the options that name a store, to read it without an agent. */
export const fromStore = (command: Command): Command =>
  command
    .option('--data-dir <dir>', 'read this data directory, or copy of one, that no agent runs on')
    .option('--redis <url>', 'read the store in this Redis, or in a copy of it, without asking an agent')
    .option('--redis-prefix <prefix>', 'what the keys of that store begin with; default stagecraft:');

/** The store that is to be read; undefined: an agent is asked. */
export function storedAt({ dataDir, redis, redisPrefix }: StoredAt): StoredAt | undefined {
  if (dataDir !== undefined && redis !== undefined) throw misuse('--data-dir and --redis name two stores: give one');
  if (redisPrefix !== undefined && redis === undefined) throw misuse('--redis-prefix needs --redis');
  if (redis !== undefined) return { redis, ...(redisPrefix !== undefined && { redisPrefix }) };
  return dataDir === undefined ? undefined : { dataDir };
}
