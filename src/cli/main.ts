#!/usr/bin/env node
/**
 * Entry point of the command line: the commands `agent` and `driver`, errors on stderr, exit codes.
 * Commands that ask a running agent are in plugins.ts, volumes.ts and so on.
 * Each command imports its heavy modules only when it runs. Exit codes: 0 done, 2 usage, others from the table in errors.ts.
 */
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { loadConfig } from '../agent/config.js';
import { findConfig } from '../agent/find-config.js';
import { AgentError } from '../client/agent-error.js';
import { errorTable, isErrorCode, messageOf, StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { addActorCommands } from './actors.js';
import { addAllocCommands } from './allocs.js';
import { collect, countIn, sizeIn } from './arguments.js';
import { addCluster } from './cluster.js';
import { configDefault, print } from './connection.js';
import { addDrain } from './drain.js';
import { addDriverCheck } from './driver-check.js';
import { addEvents } from './events.js';
import { addHistory } from './history.js';
import { addInspect } from './inspect.js';
import { addJournalCommands } from './journal.js';
import { addMountCommands } from './mounts.js';
import { addNodeCommands } from './nodes.js';
import { addPluginCommands } from './plugins.js';
import { oneLine } from './print.js';
import { addReplay } from './replay.js';
import { firstSignal } from './signals.js';
import { addSnapshotCommands } from './snapshots.js';
import { addTaskCommands } from './tasks.js';
import { addVolumeCommands } from './volumes.js';
import { addWhy } from './why.js';

const usageExit = 2;

async function runAgent({ config }: { config?: string }): Promise<void> {
  const asked = firstSignal(); // before the start: a signal during the start ends the agent right after it
  const { startAgent } = await import('../agent/agent.js');
  const agent = await startAgent(loadConfig(findConfig(config)), (line) => print(oneLine(line)));
  // A failure to stop also rejects `agent.ended`, awaited below.
  asked.then(() => agent.stop()).catch(() => {});
  await agent.ended;
}

interface DriverArguments {
  endpoint?: string;
  nodeId: string;
  dataDir?: string;
  capacity?: number;
  attach?: boolean;
  shared?: boolean;
  peerNode: string[];
  maxVolumesPerNode?: number;
  getSnapshot?: boolean;
}

async function runDriver({
  endpoint,
  dataDir,
  capacity,
  peerNode,
  shared,
  ...options
}: DriverArguments): Promise<void> {
  const target = endpoint ?? process.env.CSI_ENDPOINT;
  if (!target) throw new CommanderError(usageExit, 'usage', 'error: give --endpoint, or set CSI_ENDPOINT');
  const kept = dataDir ?? process.env.STAGECRAFT_TASK_DIR;
  if (!kept) throw new CommanderError(usageExit, 'usage', 'error: give --data-dir: the volumes are kept there');
  const asked = firstSignal();
  const { startDriver } = await import('../driver/driver.js');
  const driver = await startDriver({
    endpoint: target,
    dataDir: resolve(kept),
    capacityBytes: capacity,
    peerNodes: peerNode,
    ...(shared && { isShared: true }),
    ...options,
  });
  print(`hostpath driver ${packageVersion()} serves ${target}, its volumes are in ${resolve(kept)}`);
  await asked;
  await driver.stop();
}

/** With `--json` the output is for a program, and errors are JSON, too. */
const isForPrograms = process.argv.includes('--json');

/** Returns a hint to print below commander's message about wrong arguments, or an empty string. */
function adviceOn(fault: string, program: Command): string {
  const { group, command } = commandIn(withHelpLast(process.argv.slice(2), program), program);
  if (fault.startsWith('error: unknown command') && !fault.includes('Did you mean')) return commandsOf(group);
  if (fault.startsWith('error: unknown option') && !command)
    return '(options come after the command: stagecraft task list --config agent.yaml)\n';
  const hasList = group.commands.some((one) => one.name() === 'list');
  if (fault.startsWith('error: missing required argument') && command?.name() === 'status' && hasList)
    return `(see stagecraft ${group.name()} list)\n`;
  return '';
}

/** Finds the command named before any option, and its group. If the arguments name only groups, there is no command. */
function commandIn([arg, ...args]: string[], group: Command): { group: Command; command?: Command } {
  const named = group.commands.find((one) => one.name() === arg);
  if (!named) return { group };
  return named.commands.length > 0 ? commandIn(args, named) : { group, command: named };
}

function makeProgram(): Command {
  const program = new Command('stagecraft')
    .description('Runs CSI storage plugins without Kubernetes.')
    .version(packageVersion())
    .exitOverride()
    // Set before commands are added, as they copy these settings.
    // With --json commander prints no errors: the end of this file prints them as JSON, in one line.
    .configureOutput({
      outputError: (text, write) => write(`${text}${adviceOn(text, program)}`),
      ...(isForPrograms && { writeErr: () => {} }),
    });

  program
    .command('agent')
    .description('run the agent of this node until SIGTERM or SIGINT; plugin processes keep running after it')
    .option('--config <file>', `a YAML file; ${configDefault}; see docs/configuration.md`)
    .action(runAgent);
  program
    .command('driver')
    .description('run the bundled host-path CSI driver')
    .option('--endpoint <url>', 'unix:///path/of/csi.sock (default: CSI_ENDPOINT of the environment)')
    .requiredOption('--node-id <id>', 'the id of this node, as NodeGetInfo answers it')
    .option('--data-dir <path>', 'directory of the volumes and their records (default: STAGECRAFT_TASK_DIR)')
    .option('--capacity <size>', 'total size of all volumes, e.g. 100Gi (default: the size of the file system)', sizeIn)
    .option('--attach', 'offer ControllerPublishVolume: volumes are published to a node before their use there')
    .option('--peer-node <id>', 'with --attach: another node besides --node-id; repeatable', collect, [])
    .option('--shared', 'with --attach: other hosts share the data directory, each with a driver of its own')
    .option('--max-volumes-per-node <n>', 'with --attach: how many volumes may be published to one node', countIn)
    .option('--get-snapshot', 'offer GetSnapshot, which is new in CSI: some callers refuse a driver that offers it')
    .action(runDriver);
  addDriverCheck(program, print);
  addPluginCommands(program);
  addTaskCommands(program);
  addVolumeCommands(program);
  addSnapshotCommands(program);
  addAllocCommands(program);
  addMountCommands(program);
  addNodeCommands(program);
  addCluster(program);
  addActorCommands(program);
  addEvents(program);
  addHistory(program);
  addWhy(program);
  addReplay(program);
  addJournalCommands(program);
  addInspect(program);
  addDrain(program);
  return program;
}

/** Formats an error for stderr: as JSON with `--json`, else as text. */
const told = (error: unknown): string =>
  isForPrograms ? JSON.stringify({ code: codeOf(error), message: plainMessageOf(error) }) : messageOf(error);

function codeOf(error: unknown): string {
  if (error instanceof CommanderError) return 'INVALID_ARGUMENT';
  return error instanceof StagecraftError || error instanceof AgentError ? error.code : 'INTERNAL';
}

/** Returns the message without commander's prefix, in one line. */
const plainMessageOf = (error: unknown): string =>
  error instanceof CommanderError ? error.message.replace(/^error: /, '').replaceAll('\n', ' ') : messageOf(error);

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit;
  const code = codeOf(error);
  return (isErrorCode(code) ? errorTable[code].exit : undefined) ?? 1;
}

const isHelp = (argument: string | undefined): boolean =>
  argument === 'help' || argument === '--help' || argument === '-h';

/**
 * Turns every way to ask for help into `GROUP COMMAND --help`. Next to an unknown command it drops the words for help,
 * so that commander refuses the command.
 */
export function withHelpLast(args: string[], program: Command): string[] {
  const names: string[] = [];
  let group = program;
  let isAsked = false;
  let rest = args;
  for (; rest.length > 0 && group.commands.length > 0; rest = rest.slice(1)) {
    const [argument = ''] = rest;
    const named = group.commands.find((command) => command.name() === argument);
    if (named) names.push(argument);
    else if (!isHelp(argument)) break;
    isAsked ||= !named;
    group = named ?? group;
  }
  const isUnknown = group.commands.length > 0 && rest[0]?.startsWith('-') === false;
  if (isUnknown) return [...names, ...rest.filter((argument) => !isHelp(argument))];
  return [...names, ...(isAsked ? ['--help'] : []), ...rest];
}

/** Lists the commands of a group, as a hint where commander finds no similar name. */
export const commandsOf = (group: Command): string =>
  `(commands: ${group.commands.map((command) => command.name()).join(', ')})\n`;

for (const stream of [process.stdout, process.stderr]) {
  // A reader that has closed the pipe does not end the command.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  const program = makeProgram();
  await program.parseAsync(withHelpLast(process.argv.slice(2), program), { from: 'user' });
} catch (error) {
  const isFault = !(error instanceof CommanderError) || error.exitCode !== 0;
  // Without --json commander has printed its own errors already.
  const isTold = error instanceof CommanderError && error.code !== 'usage' && !isForPrograms;
  if (isFault && !isTold) process.stderr.write(`${told(error)}\n`);
  process.exitCode = exitCodeFor(error);
  if (error instanceof StagecraftError && error.code === 'DATA_DIR_GONE') process.exit();
}
