#!/usr/bin/env node
/**
 * The command line: arguments, printing, exit codes.
 * 0 done, 1 failed, 2 usage, 3 no agent or driver reached.
 */
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { agentSocketPath, startAgent } from '../agent/agent.js';
import type { ActorReport, AgentReport, PluginReport } from '../agent/api.js';
import { loadConfig } from '../agent/config.js';
import { parseSize } from '../driver/capacity.js';
import { startDriver } from '../driver/driver.js';
import { messageOf, StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { AgentError, askAgent } from './client.js';
import { addDriverCheck } from './driver-check.js';
import { actorTable, oneLine, pluginDetails, pluginTable, silentStore } from './print.js';
import { firstSignal } from './signals.js';

const exitCodes = { failed: 1, usage: 2, notReachable: 3 };

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface ReachOptions {
  config?: string;
  socket?: string;
}

function socketOf({ config, socket }: ReachOptions): string {
  if (socket !== undefined) return socket;
  const { dataDir } = loadConfig(config);
  // The agent goes by the name without symbolic links.
  return agentSocketPath(existsSync(dataDir) ? realpathSync(dataDir) : dataDir);
}

async function runAgent({ config }: { config?: string }): Promise<void> {
  const asked = firstSignal(); // before the start, which a signal doesn't cut short: its end follows at once
  const agent = await startAgent(loadConfig(config), (line) => print(oneLine(line)));
  // A failure is told by `ended`.
  asked.then(() => agent.stop()).catch(() => {});
  await agent.ended;
}

interface DriverArguments {
  endpoint?: string;
  nodeId: string;
  dataDir?: string;
  capacity?: number;
  attach?: boolean;
  peerNode: string[];
  maxVolumesPerNode?: number;
  getSnapshot?: boolean;
}

async function runDriver({ endpoint, dataDir, capacity, peerNode, ...options }: DriverArguments): Promise<void> {
  const target = endpoint ?? process.env.CSI_ENDPOINT;
  if (!target) throw new CommanderError(exitCodes.usage, 'usage', 'error: give --endpoint, or set CSI_ENDPOINT');
  const kept = dataDir ?? process.env.STAGECRAFT_TASK_DIR;
  if (!kept) throw new CommanderError(exitCodes.usage, 'usage', 'error: give --data-dir: the volumes are kept there');
  const asked = firstSignal();
  const driver = await startDriver({
    endpoint: target,
    dataDir: resolve(kept),
    capacityBytes: capacity,
    peerNodes: peerNode,
    ...options,
  });
  print(`hostpath driver ${packageVersion()} serves ${target}, its volumes are in ${resolve(kept)}`);
  await asked;
  await driver.stop();
}

function sizeIn(text: string): number {
  try {
    return parseSize(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

const collect = (value: string, before: string[]): string[] => [...before, value];

function countIn(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** What the agent knows already it tells at once. */
const soon = { timeoutMs: 10_000 };

/** What the agent knows now; a line on stderr says so where it may be old. */
async function look<T>(socketPath: string, path: string): Promise<T> {
  const { store } = (await askAgent(socketPath, 'GET', '/v1/agent', soon)) as AgentReport;
  if (store?.since !== undefined) process.stderr.write(`${silentStore(store.since)}\n`);
  return (await askAgent(socketPath, 'GET', path, soon)) as T;
}

async function listPlugins(options: ReachOptions & { json?: boolean }): Promise<void> {
  const plugins = await look<PluginReport[]>(socketOf(options), '/v1/plugins');
  print(options.json ? JSON.stringify(plugins, null, 2) : pluginTable(plugins));
}

async function showPlugin(name: string, options: ReachOptions & { json?: boolean }): Promise<void> {
  const query = new URLSearchParams({ name });
  const plugins = await look<PluginReport[]>(socketOf(options), `/v1/plugins?${query}`);
  if (plugins.length === 0)
    throw new AgentError('PLUGIN_NOT_FOUND', `there is no plugin '${name}': see stagecraft plugin list`);
  print(options.json ? JSON.stringify(plugins, null, 2) : plugins.map(pluginDetails).join('\n\n'));
}

async function listActors(options: ReachOptions & { json?: boolean }): Promise<void> {
  const actors = await look<ActorReport[]>(socketOf(options), '/v1/actors');
  print(options.json ? JSON.stringify(actors, null, 2) : actorTable(actors));
}

async function releaseActor(address: string, options: ReachOptions & { json?: boolean }): Promise<void> {
  const socketPath = socketOf(options);
  await askAgent(socketPath, 'POST', '/v1/actors/release', { body: { address } });
  if (!options.json) return print(`${address} is in service`);
  const actors = await look<ActorReport[]>(socketPath, '/v1/actors');
  // One that has nothing to do may have left memory, and the list.
  const released: ActorReport = actors.find((actor) => actor.address === address) ?? { address };
  print(JSON.stringify(released, null, 2));
}

async function drain(options: ReachOptions): Promise<void> {
  await askAgent(socketOf(options), 'POST', '/v1/drain');
  print('drained: the plugin processes are stopped, and the agent has ended');
}

function makeProgram(): Command {
  const program = new Command('stagecraft')
    .description('Runs CSI storage plugins without Kubernetes.')
    .version(packageVersion())
    .exitOverride();
  const reach = (command: Command): Command =>
    command
      .option('--config <file>', 'the configuration that the agent was started with')
      .option('--socket <path>', "the agent's socket, instead of the one of the configuration");

  program
    .command('agent')
    .description('run everything of this node in one process, until SIGTERM or SIGINT; plugin processes then stay')
    .option('--config <file>', 'a YAML file; see docs/configuration.md')
    .action(runAgent);
  program
    .command('driver')
    .description('run the bundled host-path CSI driver')
    .option('--endpoint <url>', 'unix:///path/of/csi.sock (default: CSI_ENDPOINT of the environment)')
    .requiredOption('--node-id <id>', 'what NodeGetInfo answers')
    .option('--data-dir <path>', 'holds its volumes, and what it knows of them (default: STAGECRAFT_TASK_DIR)')
    .option('--capacity <size>', 'what its volumes may have together, e.g. 100Gi (default: their file system)', sizeIn)
    .option('--attach', 'have volumes published to nodes by the controller before they are used there')
    .option('--peer-node <id>', 'with --attach: a node besides --node-id; any number of times', collect, [])
    .option('--max-volumes-per-node <n>', 'how many may be published to a node by the controller', countIn)
    .option('--get-snapshot', 'offer GetSnapshot, which is new in CSI: some callers refuse a driver that has it')
    .action(runDriver);
  addDriverCheck(program, print);
  const plugin = program.command('plugin').description('look at plugins');
  reach(plugin.command('list').description('all plugins and how they are'))
    .option('--json', 'for programs')
    .action(listPlugins);
  reach(plugin.command('status <name>').description('all that is known of one plugin'))
    .option('--json', 'for programs')
    .action(showPlugin);
  const actor = program.command('actor').description('look at the machines behind it all');
  reach(actor.command('list').description('every machine of this node, its state, and which are out of service'))
    .option('--json', 'for programs')
    .action(listActors);
  reach(
    actor
      .command('release <address>')
      .description('take one back into service that crashed too often or was unreadable'),
  )
    .option('--json', 'for programs: the actor as actor list --json has it')
    .action(releaseActor);
  reach(program.command('drain').description('stop the plugin processes in order, then the agent')).action(drain);
  return program;
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const code = error instanceof StagecraftError || error instanceof AgentError ? error.code : undefined;
  if (code === 'CONFIG_INVALID') return exitCodes.usage;
  return code === 'NOT_REACHABLE' ? exitCodes.notReachable : exitCodes.failed;
}

for (const stream of [process.stdout, process.stderr]) {
  // Whoever read along is gone; that is no reason to end.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  await makeProgram().parseAsync();
} catch (error) {
  // commander has told its own faults already
  if (!(error instanceof CommanderError) || error.code === 'usage') process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = exitCodeFor(error);
}
