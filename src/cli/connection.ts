/** Shared parts of the commands that ask a running agent: options that name the agent, requests, output. */

import { existsSync, realpathSync } from 'node:fs';
import type { Command } from 'commander';
import { dataDirIn, findConfig } from '../agent/find-config.js';
import { agentSocketPath } from '../agent/places.js';
import { type Client, createClient } from '../client/client.js';
import { inCommandWords } from './command-words.js';
import { warn } from './output.js';
import { silentStore } from './print.js';

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
