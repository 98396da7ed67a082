#!/usr/bin/env node
/**
 * Entry point of the command line: help, errors on stderr, exit codes. For the commands, see commands.ts.
 * Exit codes: 0 done, 2 usage, others from the table in errors.ts.
 */
import { Command, CommanderError } from 'commander';
import { AgentError } from '../client/agent-error.js';
import { errorTable, isErrorCode, messageOf, StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { addCommands } from './commands.js';
import { isClosed, print, warn, warnJson } from './output.js';

const usageExit = 2;

/** With `--json` the output is for a program, and errors are JSON, too. */
const isForPrograms = process.argv.includes('--json');

/** Commands for the verbs of other tools, in which people begin with the verb. */
const verbs: Record<string, string> = {
  get: 'volume list',
  ls: 'volume list',
  ps: 'task list',
  rm: 'volume delete',
  describe: 'volume status',
};

/** Adds a hint to commander's message about wrong arguments. */
function advised(fault: string, program: Command): string {
  const { group } = commandIn(withHelpLast(process.argv.slice(2), program), program);
  const [, unknown = ''] = /^error: unknown command '(.*)'/.exec(fault) ?? [];
  const meant = group === program ? verbs[unknown] : undefined;
  // Commander suggests names that are spelled alike, such as agent for get.
  if (meant !== undefined) return `error: unknown command '${unknown}'\n(the noun comes first: stagecraft ${meant})\n`;
  return `${fault}${adviceOn(fault, program)}`;
}

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

async function makeProgram(args: string[]): Promise<Command> {
  const program = new Command('stagecraft')
    .description('Runs CSI storage plugins without Kubernetes.')
    .version(packageVersion())
    .exitOverride()
    // Set before commands are added, as they copy these settings.
    // With --json commander prints no errors: the end of this file prints them as JSON, in one line.
    .configureOutput({
      outputError: (text, write) => write(advised(text, program)),
      writeOut: (text) => print(text.trimEnd()),
      writeErr: (text) => {
        if (!isForPrograms) warn(text.trimEnd());
      },
    });
  await addCommands(
    program,
    args.filter((argument) => !isHelp(argument)),
  );
  return program;
}

/** Prints an error on stderr: as JSON with `--json`, else as text. */
const report = (error: unknown): void =>
  isForPrograms ? warnJson({ code: codeOf(error), message: plainMessageOf(error) }) : warn(messageOf(error));

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
function withHelpLast(args: string[], program: Command): string[] {
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
const commandsOf = (group: Command): string =>
  `(commands: ${group.commands.map((command) => command.name()).join(', ')})\n`;

for (const stream of [process.stdout, process.stderr]) {
  // A reader that has closed the pipe or the terminal does not end the command.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosed(error)) throw error;
  });
}

try {
  const args = process.argv.slice(2);
  const program = await makeProgram(args);
  await program.parseAsync(withHelpLast(args, program), { from: 'user' });
} catch (error) {
  const isFault = !(error instanceof CommanderError) || error.exitCode !== 0;
  // Without --json commander has printed its own errors already.
  const isTold = error instanceof CommanderError && error.code !== 'usage' && !isForPrograms;
  if (isFault && !isTold) report(error);
  process.exitCode = exitCodeFor(error);
  if (error instanceof StagecraftError && error.code === 'DATA_DIR_GONE') process.exit();
}
