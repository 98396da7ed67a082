/** Finds where each event leads, box by box, and under which conditions: the arrows of a picture and their labels. */
import type { AnyStateNode } from 'xstate';
import { type Arrow, arrowsFrom, isHidden, isTransient, nodesOf } from './walk.js';

/** Maps a state to its box in a picture; undefined if the state is not drawn. */
export type BoxOf = (node: AnyStateNode) => string | undefined;

/** Lines of labels, by the box where the arrow starts, then by the box where it ends. Each event has one line. */
export type Labels = Map<string, Map<string, string[]>>;

interface Outcome {
  source: AnyStateNode;
  /** Name of the event. */
  event: string;
  /** Empty without a condition. */
  conditions: string[];
  to: string;
  /** Inner state that is entered, where no other picture shows it; else empty. */
  into: string;
}

interface End {
  to: string;
  into: string;
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
    return [...grouped(ends, ({ to, into }) => `${to} ${into}`).values()].map((some) => ({
      ...{ source, event, to: some[0]?.to ?? home, into: some[0]?.into ?? '' },
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

function endsOf({ from, to, guard }: Arrow, isAlternative: boolean, toBox: BoxOf, home: string): End[] {
  const own = guard === '' && isAlternative ? otherwise : inWords(guard);
  if (!to) return [{ to: home, into: '', condition: own }];
  const rests = restsOf(to).map(({ node, condition }) => ({ to: toBox(node) ?? home, condition }));
  const isOne = new Set(rests.map((rest) => rest.to)).size === 1;
  return rests.slice(0, isOne ? 1 : undefined).map((rest) => ({
    to: rest.to,
    into: isOne && from.path.length === 1 && rest.to === to.path[0] ? innerEntryOf(to) : '',
    condition: [...new Set([own, isOne ? '' : rest.condition])].filter((part) => part !== '').join(', '),
  }));
}

/** Names the inner state by which an arrow enters a top-level state; empty if it enters at its start. */
function innerEntryOf(node: AnyStateNode): string {
  let top = node;
  while (top.parent?.parent) top = top.parent;
  const [entered] = restsOf(node);
  const isStart = entered === undefined || restsOf(top).some((rest) => rest.node === entered.node);
  return isStart ? '' : entered.node.path.slice(1).join('.');
}

/** Makes the lines of one arrow. Names the inner states if the event leads elsewhere from at least as many others. */
function linesOf(leaving: Outcome[], all: Outcome[], inside: AnyStateNode[]): string[] {
  const lines = [...grouped(leaving, textOf)].map(([text, same]) => ({
    text,
    place: isUsual(same, all, inside) ? placeText('not in', exceptionsOf(same)) : placeText('in', placesOf(same, all)),
  }));
  const byPlace = [...grouped(lines, ({ place }) => place)].flatMap(([place, some]) => {
    const texts = some.map(({ text }) => text);
    return place === '' ? texts : wrapped(texts, place);
  });
  return joinedEnds(byPlace);
}

const placeText = (how: 'in' | 'not in', places: string[]): string =>
  places.length === 0 ? '' : `${how} ${places.join(', ')}: `;

/** Names the states inside which ignore the event, where it leads there from the state around them. */
function exceptionsOf([first, ...others]: Outcome[]): string[] {
  if (!first || others.length > 0) return [];
  const { source, event } = first;
  const leaves = nodesOf(source).filter((node) => node !== source && node.type === 'atomic');
  return leaves.filter((node) => isIgnoredWithin(source, event, node)).map(({ path }) => path.slice(1).join('.'));
}

function isIgnoredWithin(whole: AnyStateNode, event: string, leaf: AnyStateNode): boolean {
  for (let node: AnyStateNode | undefined = leaf; node && node !== whole; node = node.parent) {
    const ways = arrowsFrom(node).filter((arrow) => arrow.event === event);
    if (ways.length > 0) return ways.every(({ to }) => !to);
  }
  return false;
}

/** Joins texts into lines of at most `longestLine` characters where possible. The first begins with the place. */
function wrapped(texts: string[], place: string): string[] {
  const lines = [place];
  for (const text of texts) {
    const line = lines.pop() ?? '';
    const longer = line === place ? `${line}${text}` : `${line}, ${text}`;
    if (longer.length <= longestLine || line === place) lines.push(longer);
    else lines.push(`${line},`, `  ${text}`);
  }
  return lines;
}

function textOf({ event, conditions, into }: Outcome): string {
  const condition = conditions.length > 0 ? `[${conditions.join(' or ')}]` : '';
  const entry = into === '' ? '' : `→ ${into}`;
  return [event === 'always' ? '' : event, condition, entry].filter((part) => part !== '').join(' ');
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

export function grouped<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
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
