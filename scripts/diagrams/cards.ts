/** Makes the cards of a machine: each shows a state, its call and its words, and where every event leads from it. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { saidIn } from '../../machines/kit/state-words.js';
import {
  type Arrow,
  activitiesOf,
  arrowsFrom,
  callOf,
  inWords,
  isHidden,
  isTransient,
  nodesOf,
  pathOf,
} from './walk.js';

export interface Card {
  /** States that differ only in their names, words and calls. */
  states: CardState[];
  rows: Row[];
  /** State that users see, if it has another name; else ''. */
  shownAs: string;
  isFailure: boolean;
}

interface CardState {
  name: string;
  /** Call to the plugin, and other effects that run meanwhile. */
  runs: string;
  /** Statement of the machine about the state; '' where the name says enough. */
  words: string;
}

interface Row {
  events: Event[];
  /** State to which all of them lead; '' if they change no state. */
  to: string;
}

interface Event {
  name: string;
  /** Conditions of which one has to hold. Empty: the event leads there in any case. */
  conditions: string[];
}

/** Events that the machine gives itself, in words. */
const ownEvents: Record<string, string> = {
  always: '',
  settle: 'any request',
  'after untilDue': 'pause over',
  'admission ended': 'wait over',
  'admission failed': 'wait over',
};

/** Makes a card of each innermost state, one of the start, and one of the events that lead away from any state. */
export function cardsOf(machine: AnyStateMachine): Card[] {
  const { root } = machine;
  const leaves = nodesOf(root).filter((node) => node.type !== 'compound' && !isHidden(node));
  const starts = restsOf(root).map(({ to, event, condition }) => ({
    to,
    name: event,
    conditions: covering([condition]),
  }));
  const anywhere = waysFrom([root], '').filter(({ to }) => to !== '');
  return [
    plainCard('start', '', starts),
    ...joined(leaves.map((node) => cardOf(machine, node))),
    ...(anywhere.length > 0 ? [plainCard('any state', 'whose card has no row for the event', anywhere)] : []),
  ];
}

const plainCard = (name: string, words: string, ways: Way[]): Card => ({
  ...{ states: [{ name, runs: '', words }], rows: rowsOf(ways) },
  ...{ shownAs: '', isFailure: false },
});

function cardOf(machine: AnyStateMachine, node: AnyStateNode): Card {
  const name = pathOf(node);
  const around = withParents(node);
  const calling = saidIn(machine, `${name}.calling`);
  const resting = saidIn(machine, name);
  const said = calling ?? resting;
  const runs = activitiesOf(node).filter((activity) => activity !== 'awaitAdmission');
  const why = isTransient(node) ? 'never rests: takes the first row that holds' : (said?.why ?? '');
  const unneeded = calling && resting ? `while no call is needed: ${resting.why}` : '';
  const words = [name.endsWith(why) ? '' : why, unneeded, node.type === 'final' ? 'the end' : ''];
  const shownAs = around.flatMap(({ meta }): string[] => meta?.shownAs ?? [])[0] ?? '';
  return {
    states: [{ name, runs: runs.join(', '), words: words.filter((part) => part !== '').join('; ') }],
    rows: rowsOf(waysFrom(around, name)),
    shownAs: name.split('.')[0] === shownAs ? '' : shownAs,
    isFailure: said?.health === 'failed',
  };
}

/** The state and those around it, without the machine itself. */
const withParents = (node: AnyStateNode): AnyStateNode[] => (node.parent ? [node, ...withParents(node.parent)] : []);

/** Puts states on one card that lead to the same states in the same way, as the calls of an actor do. */
function joined(cards: Card[]): Card[] {
  const alike = grouped(cards, ({ rows, states }) =>
    rows.length > 0 ? JSON.stringify(rows) : (states[0]?.name ?? ''),
  );
  return [...alike.values()].flatMap((some) =>
    some.slice(0, 1).map((first) => ({ ...first, states: some.flatMap(({ states }) => states) })),
  );
}

interface Way extends Event {
  to: string;
}

/** Event and its conditions in words. */
export const textOf = ({ name, conditions }: Event): string =>
  [name, conditions.length > 0 ? `[${conditions.join(' or ')}]` : ''].filter((part) => part !== '').join(' ');

function rowsOf(ways: Way[]): Row[] {
  const rows = [...grouped(ways, ({ to }) => to)].map(([to, some]) => ({
    to,
    events: [...grouped(some, textOf).values()].flatMap((same) => same.slice(0, 1)),
  }));
  return rows.toSorted((one, other) => Number(one.to === '') - Number(other.to === ''));
}

/** Reads where events lead. An inner state comes before those around it: what it does in any case hides theirs. */
function waysFrom(nodes: AnyStateNode[], name: string): Way[] {
  // A request that raises `settle` is one of any request.
  const own = nodes.flatMap(arrowsFrom).filter(({ to, actions }) => to || !actions.includes('settle'));
  const arrows = grouped(own, ({ event }) => event);
  arrows.delete('*');
  return [...arrows].flatMap(([event, all]) => {
    const last = all.findIndex(({ guard }) => guard === '');
    const taken = last < 0 ? all : all.slice(0, last + 1);
    const ends = taken.flatMap((arrow, at) => endsOf(arrow, at > 0, name));
    const isCertain = last >= 0 && new Set(ends.map(({ to }) => to)).size === 1;
    return [...grouped(ends, ({ to }) => to)].map(([to, some]) => ({
      ...{ to, name: nameOf(event, nodes) },
      conditions: isCertain ? [] : covering(some.map(({ condition }) => condition)),
    }));
  });
}

const otherwise = 'otherwise';

/** Leaves out conditions that another one covers. '': in any case. */
function covering(conditions: string[]): string[] {
  if (conditions.includes('')) return [];
  return conditions.includes(otherwise) ? [otherwise] : [...new Set(conditions)];
}

/** Name of the event. Calls of an actor end alike. */
function nameOf(event: string, nodes: AnyStateNode[]): string {
  if (event === 'always' && !nodes.some(isTransient)) return 'at once';
  const [, id, outcome] = /^(.+) (ended|failed)$/.exec(event) ?? [];
  const isCall = nodes.some((node) => callOf(node) && node.invoke.some((one) => one.id === id));
  const ofCall = outcome === 'ended' ? 'the call ended' : 'the agent ended during the call';
  return ownEvents[event] ?? (isCall ? ofCall : event);
}

interface End {
  to: string;
  condition: string;
}

function endsOf({ to, guard }: Arrow, isAlternative: boolean, name: string): End[] {
  const own = guard === '' && isAlternative ? otherwise : inWords(guard);
  if (!to) return [{ to: '', condition: own }];
  return restsOf(to).map((rest) => ({
    to: rest.to === name ? '' : rest.to,
    condition: [own, rest.condition].filter((part) => part !== '').join(', '),
  }));
}

interface Rest extends End {
  /** Event by which the start `new`, which is never stored, leads to the state; else ''. */
  event: string;
}

/** States in which the machine comes to rest after it enters this state. */
function restsOf(entered: AnyStateNode): Rest[] {
  const [first] = entered.type === 'compound' ? (entered.initial.target ?? []) : [];
  if (first) return restsOf(first);
  if (!isHidden(entered)) return [{ to: pathOf(entered), condition: '', event: '' }];
  return arrowsFrom(entered).flatMap(({ to, guard, event }, at) =>
    (to ? restsOf(to) : []).map((rest) => ({
      to: rest.to,
      condition: guard === '' && at > 0 && isTransient(entered) ? otherwise : inWords(guard),
      event: ownEvents[event] ?? event,
    })),
  );
}

function grouped<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
