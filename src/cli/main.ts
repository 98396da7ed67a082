#!/usr/bin/env node
/**
 * The command line: what runs here itself, and exit codes. What is asked of a running agent: plugins.ts, tasks.ts,
 * volumes.ts, snapshots.ts, allocs.ts, mounts.ts, nodes.ts, actors.ts, drain.ts. What only one command needs is loaded by that command.
 * The exit code: 0 done, 2 usage, else as the table of error codes says.
 */
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { loadConfig } from '../agent/config.js';
import { findConfig } from '../agent/find-config.js';
import { errorTable, isErrorCode, messageOf, StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { addActorCommands } from './actors.js';
import { addAllocCommands } from './allocs.js';
import { collect, countIn, sizeIn } from './arguments.js';
import { AgentError } from './client.js';
import { configDefault, print } from './connection.js';
import { addDrain } from './drain.js';
import { addDriverCheck } from './driver-check.js';
import { commandsOf, withHelpLast } from './help.js';
import { addMountCommands } from './mounts.js';
import { addNodeCommands } from './nodes.js';
import { addPluginCommands } from './plugins.js';
import { oneLine } from './print.js';
import { firstSignal } from './signals.js';
import { addSnapshotCommands } from './snapshots.js';
import { addTaskCommands } from './tasks.js';
import { addVolumeCommands } from './volumes.js';

const usageExit = 2;

async function runAgent({ config }: { config?: string }): Promise<void> {
  const asked = firstSignal(); // before the start, which a signal doesn't cut short: its end follows at once
  const { startAgent } = await import('../agent/agent.js');
  const agent = await startAgent(loadConfig(findConfig(config)), (line) => print(oneLine(line)));
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
    ...options,
  });
  print(`hostpath driver ${packageVersion()} serves ${target}, its volumes are in ${resolve(kept)}`);
  await asked;
  await driver.stop();
}

/** Whether what is told is for a program. */
const isForPrograms = process.argv.includes('--json');

/** A line that helps with what is wrong with the arguments; empty where there is none. */
function adviceOn(fault: string, program: Command): string {
  const { group, command } = commandIn(withHelpLast(process.argv.slice(2), program), program);
  if (fault.startsWith('error: unknown command') && !fault.includes('Did you mean')) return commandsOf(group);
  if (fault.startsWith('error: unknown option') && !command)
    return '(options stand behind the command: stagecraft task list --config agent.yaml)\n';
  const hasList = group.commands.some((one) => one.name() === 'list');
  if (fault.startsWith('error: missing required argument') && command?.name() === 'status' && hasList)
    return `(see stagecraft ${group.name()} list)\n`;
  return '';
}

/** The command that is named before any option, and the group that it is in; no command: only groups are. */
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
    // What is wrong is told at the end, in one line.
    // Before the commands, which take it over.
    .configureOutput({
      outputError: (text, write) => write(`${text}${adviceOn(text, program)}`),
      ...(isForPrograms && { writeErr: () => {} }),
    });

  program
    .command('agent')
    .description('run everything of this node in one process, until SIGTERM or SIGINT; plugin processes then stay')
    .option('--config <file>', `a YAML file; ${configDefault}; see docs/configuration.md`)
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
  addPluginCommands(program);
  addTaskCommands(program);
  addVolumeCommands(program);
  addSnapshotCommands(program);
  addAllocCommands(program);
  addMountCommands(program);
  addNodeCommands(program);
  addActorCommands(program);
  addDrain(program);
  return program;
}

/** In the form that was asked for. */
const told = (error: unknown): string =>
  isForPrograms ? JSON.stringify({ code: codeOf(error), message: plainMessageOf(error) }) : messageOf(error);

function codeOf(error: unknown): string {
  if (error instanceof CommanderError) return 'INVALID_ARGUMENT';
  return error instanceof StagecraftError || error instanceof AgentError ? error.code : 'INTERNAL';
}

/** In one line. */
const plainMessageOf = (error: unknown): string =>
  error instanceof CommanderError ? error.message.replace(/^error: /, '').replaceAll('\n', ' ') : messageOf(error);

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExit;
  const code = codeOf(error);
  return (isErrorCode(code) ? errorTable[code].exit : undefined) ?? 1;
}

for (const stream of [process.stdout, process.stderr]) {
  // Whoever read along is gone; that is no reason to end.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

try {
  const program = makeProgram();
  await program.parseAsync(withHelpLast(process.argv.slice(2), program), { from: 'user' });
} catch (error) {
  const isFault = !(error instanceof CommanderError) || error.exitCode !== 0;
  // To people commander has told its own faults already.
  const isTold = error instanceof CommanderError && error.code !== 'usage' && !isForPrograms;
  if (isFault && !isTold) process.stderr.write(`${told(error)}\n`);
  process.exitCode = exitCodeFor(error);
  if (error instanceof StagecraftError && error.code === 'DATA_DIR_GONE') process.exit();
}
