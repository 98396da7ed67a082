/** Arguments that ask for help, such as `help GROUP COMMAND`, put into the one form that commander handles. */
import type { Command } from 'commander';

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
