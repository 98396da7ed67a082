/** `stagecraft history`: what happened to an actor, as a table with one line per step. */
import type { Command } from 'commander';
import type { HistoryPage } from '../api/actor-routes.js';
import type { Client } from '../client/client.js';
import { countIn, misuse } from './arguments.js';
import { type LookOptions, lookAll, lookAtAgent, soon } from './connection.js';
import { print, printJson } from './output.js';
import { lineChars, table } from './print.js';
import { type InNamespace, inNamespace } from './resource-commands.js';

interface HistoryOptions extends LookOptions, InNamespace {
  limit?: number;
  before?: number;
}

export function addHistory(program: Command): void {
  inNamespace(
    lookAll(
      program
        .command('history <address> [name]')
        .description(
          'show what happened to an actor, step by step: its address as in actor list, or volume, snapshot, group-snapshot, mount, node, task or alloc with its NAME',
        ),
    ),
    'volume',
  )
    .option('--limit <n>', 'show this many steps, the newest; default 200', countIn)
    .option('--before <seq>', 'show the steps before this one', countIn)
    .action(showHistory);
}

/**
 * Address that a command names: as it is given, or by kind and name.
 * @param nodeHere the node of tasks and allocs; absent: they can't be named so
 */
export async function addressIn(
  given: string,
  name: string | undefined,
  { namespace }: InNamespace,
  nodeHere?: () => Promise<string>,
): Promise<string> {
  if (name === undefined) return given;
  const address = (...parts: string[]): string => parts.map(encodeURIComponent).join('/');
  if (given === 'snapshot') return address('volume-snapshot', namespace, name);
  if (given === 'volume' || given === 'group-snapshot') return address(given, namespace, name);
  if (given === 'node') return address(given, name);
  if (nodeHere && given === 'mount') return address(given, await nodeHere(), namespace, name);
  if (nodeHere && (given === 'task' || given === 'alloc')) return address(given, await nodeHere(), name);
  const kinds = ['volume', 'snapshot', 'group-snapshot', 'node', ...(nodeHere ? ['mount', 'task', 'alloc'] : [])];
  const meant = kinds.find((kind) => kind.startsWith(given.slice(0, 3)));
  const hint = meant === undefined ? '' : ` (did you mean ${meant} ${name}?)`;
  throw misuse(
    `'${given} ${name}': give an address as stagecraft actor list shows it, or ${kinds.join(', ')} with a name${hint}`,
  );
}

/** The node of the agent. */
export const agentNode =
  ({ agent }: Client) =>
  async (): Promise<string> =>
    (await agent.status(soon)).nodeId;

async function showHistory(given: string, name: string | undefined, options: HistoryOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const address = await addressIn(given, name, options, agentNode(agent));
  const { limit, before } = options;
  const query = { ...(limit !== undefined && { limit }), ...(before !== undefined && { before }) };
  const page = await agent.actors.history({ params: { address }, query, ...soon });
  if (options.json) printJson(page);
  else print(historyTable(page, lineChars(options)));
}

type Line = HistoryPage['lines'][number];

/** Day and time of day (UTC), to the millisecond. */
const momentOf = (at: number): string => new Date(at).toISOString().slice(0, 23).replace('T', ' ');

const dayOf = (at: number): string => momentOf(at).slice(0, 10);

export const fromTo = (before = '', after = ''): string => {
  if (before === after) return after;
  return `${before || 'nothing'} → ${after || 'gone'}`;
};

/** `340 ms`, `2.3 s`, `6 min 12 s`, `3 h 5 min`, `2 d 3 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}

function detailsOf({ at, parts, attempt, message, nextAttemptAtMs }: Line): string {
  return [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(message === undefined ? [] : [message]),
    ...parts.map(({ id, before, after }) => `${id}: ${fromTo(before, after)}`),
    ...(nextAttemptAtMs === undefined ? [] : [`next attempt in ${durationText(nextAttemptAtMs - at)}`]),
  ].join('; ');
}

export function historyTable({ address, lines, before, older }: HistoryPage, maxChars?: number): string {
  const [first] = lines;
  if (!first) return older === undefined ? `nothing is known of ${address}` : `${address}: ${older}`;
  const day = dayOf(first.at);
  // Days are told once, unless there are several.
  const isOneDay = lines.every(({ at }) => dayOf(at) === day);
  const rows = lines.map((line) => [
    String(line.seq),
    isOneDay ? momentOf(line.at).slice(11) : momentOf(line.at),
    line.from,
    line.what,
    line.tookMs === undefined ? '-' : durationText(line.tookMs),
    fromTo(line.before, line.after),
    detailsOf(line),
  ]);
  const text = table(['SEQ', 'TIME', 'FROM', 'WHAT', 'TOOK', 'STATE', 'DETAILS'], rows, maxChars);
  const more = before === undefined ? older : `older: --before ${before}`;
  return `${address}, since ${day}\n${text}${more === undefined ? '' : `\n(${more})`}`;
}
