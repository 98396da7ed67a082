/** Finds where each event leads, box by box, and under which conditions: the arrows of a picture and their labels. */
import type { AnyStateNode } from 'xstate';
import { type Arrow, arrowsFrom, isHidden, isTransient } from './walk.js';

/** Maps a state to its box in a picture; undefined if the state is not drawn. */
export type BoxOf = (node: AnyStateNode) => string | undefined;

/** Lines of labels, by the box where the arrow starts, then by the box where it ends. Each event has one line. */
export type Labels = Map<string, Map<string, string[]>>;

interface Outcome {
  source: AnyStateNode;
  event: string;
  /** Empty without a condition. */
  conditions: string[];
  to: string;
}

interface End {
  to: string;
  condition: string;
}

const otherwise = 'otherwise';
/** Characters in one line of a label. */
const longestLine = 44;

/** Makes the labels of all arrows between different boxes. */
export function labelsBetween(sources: AnyStateNode[], fromBox: BoxOf, toBox: BoxOf): Labels {
  const labels: Labels = new Map();
  const drawn = sources.filter((node) => !isHidden(node) && fromBox(node) !== undefined);
  for (const [from, inside] of grouped(drawn, (node) => fromBox(node) ?? '')) {
    const outcomes = inside.flatMap((node) => outcomesOf(node, toBox, from));
    const leaving = outcomes.filter(({ to }) => to !== from);
    const ends = grouped(leaving, ({ to }) => to);
    labels.set(from, new Map([...ends].map(([to, some]) => [to, linesOf(some, outcomes, inside)])));
  }
  return labels;
}

export interface Rest {
  node: AnyStateNode;
  /** Guard under which a transient start leads to the node; empty if it always does. */
  condition: string;
  /** Event by which the start `new`, which is never stored, leads to the node. */
  event?: string;
}

/** States in which the machine comes to rest after it enters this state. */
export function restsOf(entered: AnyStateNode): Rest[] {
  const [first] = entered.type === 'compound' ? (entered.initial.target ?? []) : [];
  if (first) return restsOf(first);
  if (!isHidden(entered)) return [{ node: entered, condition: '' }];
  const ways = arrowsFrom(entered);
  return ways.flatMap(({ to, guard, event }) => {
    const how = isTransient(entered)
      ? { condition: guard === '' && ways.length > 1 ? otherwise : inWords(guard) }
      : { condition: '', event };
    return to ? restsOf(to).map(({ node }) => ({ node, ...how })) : [];
  });
}

/** Finds where each event leads from this state. Leaves out conditions that make no difference. */
function outcomesOf(source: AnyStateNode, toBox: BoxOf, home: string): Outcome[] {
  return [...grouped(arrowsFrom(source), ({ event }) => event)].flatMap(([event, ways]) => {
    const ends = ways.flatMap((way, at) => endsOf(way, at > 0, toBox, home));
    const isAlwaysThere = ways.at(-1)?.guard === '' && new Set(ends.map(({ to }) => to)).size === 1;
    return [...grouped(ends, ({ to }) => to)].map(([to, some]) => ({
      ...{ source, event, to },
      conditions: isAlwaysThere ? [] : conditionsOf(some),
    }));
  });
}

/** Joins the conditions of ends in one box. An end without condition, or with `otherwise`, covers the others. */
function conditionsOf(ends: End[]): string[] {
  const all = ends.map(({ condition }) => condition);
  if (all.includes('')) return [];
  return all.includes(otherwise) ? [otherwise] : [...new Set(all)];
}

function endsOf({ to, guard }: Arrow, isAlternative: boolean, toBox: BoxOf, home: string): End[] {
  const own = guard === '' && isAlternative ? otherwise : inWords(guard);
  if (!to) return [{ to: home, condition: own }];
  const rests = restsOf(to).map(({ node, condition }) => ({ to: toBox(node) ?? home, condition }));
  const isOne = new Set(rests.map((rest) => rest.to)).size === 1;
  return rests.slice(0, isOne ? 1 : undefined).map((rest) => ({
    to: rest.to,
    condition: [...new Set([own, isOne ? '' : rest.condition])].filter((part) => part !== '').join(', '),
  }));
}

/** Makes the lines of one arrow. Names the inner states if the event leads elsewhere from at least as many others. */
function linesOf(leaving: Outcome[], all: Outcome[], inside: AnyStateNode[]): string[] {
  const byText = grouped(leaving, ({ event, conditions }) => textOf(event, conditions));
  const lines = [...byText].map(([text, same]) => ({
    text,
    place: isUsual(same, all, inside) ? '' : placeText(placesOf(same, all)),
  }));
  const byPlace = [...grouped(lines, ({ place }) => place)].flatMap(([place, some]) =>
    place === ''
      ? some.map(({ text }) => text)
      : wrapped(
          some.map(({ text }) => text),
          place,
        ),
  );
  return joinedEnds(byPlace);
}

/** Names the places of a line. `due` and `backing-off` together are `no call`: no call is under way or waits. */
const placeText = (places: string[]): string =>
  places.join() === 'due,backing-off' ? ' (no call)' : ` (in ${places.join(', ')})`;

/** Joins texts into lines of at most `longestLine` characters where possible. */
function wrapped(texts: string[], place: string): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const longer = lines.length === 0 ? text : `${lines.pop()}, ${text}`;
    if (longer.length <= longestLine) lines.push(longer);
    else lines.push(longer.slice(0, -text.length - 1), text);
  }
  return [...lines.slice(0, -1), `${lines.at(-1)}${place}`];
}

function textOf(event: string, conditions: string[]): string {
  const condition = conditions.length > 0 ? `[${conditions.join(' or ')}]` : '';
  return [event === 'always' ? '' : event, condition].filter((part) => part !== '').join(' ');
}

/** Names of inner states; with the whole path if another state of the same name handles the event, too. */
function placesOf(same: Outcome[], all: Outcome[]): string[] {
  const here = same.map(({ source }) => source);
  const others = all.filter(({ event, source }) => event === same[0]?.event && !here.includes(source));
  const isShared = (key: string): boolean => others.some(({ source }) => source.key === key);
  return [...new Set(here.map(({ key, path }) => (isShared(key) ? path.slice(1).join('.') : key)))];
}

/** Whether a pattern covers the event, as `create.*` covers `create.done`. */
const isWithin = (event: string, pattern: string): boolean =>
  event === pattern || (pattern.endsWith('.*') && event.startsWith(pattern.slice(0, -1)));

/** Whether the event leads there from the box as a whole, or from most of the inner states that handle it. */
function isUsual(same: Outcome[], all: Outcome[], inside: AnyStateNode[]): boolean {
  const here = new Set(same.map(({ source }) => source));
  const [first] = same;
  const event = first?.event ?? '';
  const others = all.filter((one) => isWithin(one.event, event) && !here.has(one.source));
  const elsewhere = new Set(others.filter(({ to }) => to !== first?.to).map(({ source }) => source));
  for (const source of inside) if (!here.has(source) && isIgnored(event, source)) elsewhere.add(source);
  const isWhole = [...here].some((source) => [...elsewhere].every(({ parent }) => parent === source));
  return isWhole || here.size > elsewhere.size;
}

/** Whether a state around this innermost state ignores the event. */
function isIgnored(event: string, node: AnyStateNode): boolean {
  if (node.type === 'compound') return false;
  let around: AnyStateNode | undefined = node;
  while (around && !around.transitions.has(event)) around = around.parent;
  return around !== node && around?.transitions.get(event)?.every(({ target }) => !target) === true;
}

/** Joins `X ended` and `X failed` of one arrow into one line. */
function joinedEnds(lines: string[]): string[] {
  return lines.flatMap((line) => {
    const [, effect = '', outcome] = line.match(/^(.+) (ended|failed)$/) ?? [];
    if (!lines.includes(`${effect} ended`) || !lines.includes(`${effect} failed`)) return [line];
    return outcome === 'ended' ? [`${effect} ended or failed`] : [];
  });
}

function grouped<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Turns `isLastToResolve` into `last to resolve`. */
export const inWords = (guard: string): string =>
  guard
    .replace(/^is(?=[A-Z])/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
