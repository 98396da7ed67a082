/** `stagecraft history`: what happened to an actor, one line per step. */
import type { Command } from 'commander';
import { countIn } from './arguments.js';
import { type LookOptions, lookAll, lookAtAgent, print, printJson, soon } from './connection.js';
import { lineChars } from './print.js';
import { historyTable } from './print-history.js';
import { type InNamespace, inNamespace } from './requests.js';

interface HistoryOptions extends LookOptions, InNamespace {
  limit?: number;
  before?: number;
}

export function addHistory(program: Command): void {
  inNamespace(
    lookAll(
      program
        .command('history <address> [name]')
        .description("show what happened to an actor, step by step: its address as in actor list, or 'volume NAME'"),
    ),
    'volume',
  )
    .option('--limit <n>', 'show this many steps, the newest; default 200', countIn)
    .option('--before <seq>', 'show the steps before this one', countIn)
    .action(showHistory);
}

/** Address that a command names: as it is given, or of a volume by its name. */
export const addressIn = (given: string, name: string | undefined, { namespace }: InNamespace): string =>
  given === 'volume' && name !== undefined ? ['volume', namespace, name].map(encodeURIComponent).join('/') : given;

async function showHistory(given: string, name: string | undefined, options: HistoryOptions): Promise<void> {
  const address = addressIn(given, name, options);
  const { limit, before } = options;
  const query = { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }) };
  const page = await (await lookAtAgent(options)).actors.history({ params: { address }, query, ...soon });
  if (options.json) printJson(page);
  else print(historyTable(page, lineChars(options)));
}
