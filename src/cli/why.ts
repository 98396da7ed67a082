/** `stagecraft why`: how an actor is, what it waits for, since when, and what to do. */
import type { Command } from 'commander';
import type { ActorDetail, EffectInFlight, HistoryPage } from '../api/actor-routes.js';
import { StagecraftError } from '../errors.js';
import { type LookOptions, lookAt, lookAtAgent, soon } from './connection.js';
import { addressIn, agentNode, durationText, fromTo } from './history.js';
import { print, printJson } from './output.js';
import { factsTable } from './print.js';
import { type InNamespace, inNamespace } from './resource-commands.js';

export function addWhy(program: Command): void {
  inNamespace(
    lookAt(
      program
        .command('why <address> [name]')
        .description(
          'say how an actor is, what it waits for and what to do: its address, or volume, snapshot, group-snapshot, mount, node, task or alloc with its NAME',
        ),
    ),
    'volume',
  ).action(explain);
}

async function explain(given: string, name: string | undefined, options: LookOptions & InNamespace): Promise<void> {
  const agent = await lookAtAgent(options);
  const params = { address: await addressIn(given, name, options, agentNode(agent)) };
  const history = await agent.actors.history({ params, ...soon });
  const last = history.lines.at(-1);
  const detail = await agent.actors.inspect({ params, ...soon }).catch((error: unknown) => {
    if (!(error instanceof StagecraftError && error.code === 'ACTOR_NOT_FOUND' && last)) throw error;
    const message = `${params.address} is no more since ${new Date(last.at).toISOString()}: see stagecraft history ${params.address}`;
    throw new StagecraftError(error.code, message, { cause: error });
  });
  if (options.json) printJson({ ...detail, history: history.lines });
  else print(whyText(detail, history, Date.now()));
}

type Line = HistoryPage['lines'][number];

const clockOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Line of the last step that changed its state, or that of one of its parts. */
const lastChange = (lines: readonly Line[]): Line | undefined =>
  lines.findLast(({ before, after, parts }) => before !== after || parts.length > 0);

/** Line of the last call that was not answered OK; none if the same call was answered OK after it. */
function lastFailure(lines: readonly Line[]): Line | undefined {
  const at = lines.findLastIndex(({ rpc, tone }) => rpc !== undefined && (tone === 'failed' || tone === 'in-doubt'));
  const failed = lines[at];
  const isOver = lines.slice(at + 1).some(({ rpc, tone }) => rpc === failed?.rpc && tone === 'done');
  return isOver ? undefined : failed;
}

const due = (atMs: number | undefined, nowMs: number): string => {
  if (atMs === undefined) return '';
  return atMs > nowMs ? `, next attempt in ${durationText(atMs - nowMs)}` : ', next attempt now';
};

const callText = ({ rpc, src, sentAtMs, attempt }: EffectInFlight, nowMs: number): string => {
  const notSent = rpc === undefined ? '' : ', not sent yet';
  const sent = sentAtMs === undefined ? notSent : `, sent ${durationText(nowMs - sentAtMs)} ago`;
  return `${rpc ?? src}${sent}${attempt === undefined ? '' : `, attempt ${attempt}`}`;
};

function failureText({ what, message, attempt, tookMs, at }: Line, nowMs: number): string {
  const details = [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(tookMs === undefined ? [] : [`after ${durationText(tookMs)}`]),
    `${durationText(nowMs - at)} ago`,
  ];
  return `${what} (${details.join(', ')})${message === undefined || message === '' ? '' : `: ${message}`}`;
}

/** Prints why an actor is as it is. */
export function whyText(detail: ActorDetail, { lines }: HistoryPage, nowMs: number): string {
  const { address, state, health, why, machine, version, seq, effects, waits, trouble, unread } = detail;
  const change = lastChange(lines);
  const failure = lastFailure(lines);
  const [first] = trouble;
  const facts: [string, string][] = [
    ['actor', address],
    ['is', `${health.replace('-', ' ')}: ${why}`],
    ['state', `${state} (machine ${machine} ${version}, step ${seq})`],
  ];
  if (change) {
    const how = [
      ...(change.before === change.after ? [] : [fromTo(change.before, change.after)]),
      ...change.parts.map(({ id, before, after }) => `${id} ${fromTo(before, after)}`),
    ];
    facts.push(['since', `${clockOf(change.at)}, for ${durationText(nowMs - change.at)}: ${how.join('; ')}`]);
  }
  for (const { what, dueAtMs } of waits) facts.push(['waits', `${what}${due(dueAtMs, nowMs)}`]);
  for (const effect of effects) facts.push([effect.rpc === undefined ? 'at work' : 'call', callText(effect, nowMs)]);
  if (unread > 0) facts.push(['unread', `${unread} messages of other actors`]);
  if (failure) facts.push(['last failure', failureText(failure, nowMs)]);
  const nothing = waits.length > 0 ? 'nothing here: see what it waits for' : 'nothing to do';
  facts.push(['advice', first ? todoText(first) : nothing]);
  return factsTable(facts);
}

const todoText = ({ needs, todo, command }: ActorDetail['trouble'][number]): string => {
  if (needs === 'nothing') return 'nothing: it goes on by itself';
  return [todo, command].filter(Boolean).join(': ');
};
