/** Where each event leads from each state of a part, as a text that a person can review. `UPDATE=1` writes those texts anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { type AnyEventObject, type AnyStateMachine, type AnyStateNode, pathToStateValue } from 'xstate';
import { isLeaf, metaOf, pathOf, statesOf } from './states-of.js';

/** An event by name, and the data that it finds. */
export type Case<TEvent, TData> = [name: string, event: TEvent, data?: TData];

/** Cases that find the record, with what each says besides. */
export const meeting = <TEvent, TData extends object>(
  record: TData,
  cases: [name: string, event: TEvent, besides?: Partial<TData>][],
): Case<TEvent, TData>[] => cases.map(([name, event, besides]) => [name, event, { ...record, ...besides }]);

const leavesOf = (machine: AnyStateMachine): AnyStateNode[][] => statesOf(machine).filter(isLeaf);

/** Steps a part with plain data, as it is stored. */
export type Step<TEvent, TData> = (data: TData & { at: string }, event: TEvent) => { at: string };

/** Values by the name that the text gives them. */
export type Names = Record<string, unknown>;

type Transition = ReturnType<AnyStateMachine['getTransitionData']>[number];

const refusal = 'refused';

/** A state, the name that users see, and the call that it wants: `in-doubt, shown as pending-publish, wants to publish`. */
function headOf(nodes: AnyStateNode[]): string {
  const { shownAs, call } = metaOf(nodes);
  return [pathOf(nodes), ...(shownAs ? [`shown as ${shownAs}`] : []), ...(call ? [`wants to ${call}`] : [])].join(', ');
}

/** Change of the data: `tries = again, no holds`. */
function changesOf(before: object, after: object, names: Names): string[] {
  const inWords = (value: unknown): string => {
    const name = Object.keys(names).find((one) => isDeepStrictEqual(names[one], value));
    if (name !== undefined || !(value instanceof Object)) return name ?? JSON.stringify(value);
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key}: ${inWords(inner)}`)
      .join(', ')} }`;
  };
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((key) => key !== 'at' && !isDeepStrictEqual(was.get(key), is.get(key)))
    .map((key) => (is.has(key) ? `${key} = ${inWords(is.get(key))}` : `no ${key}`));
}

function outcomeOf<TEvent, TData extends object>(
  step: Step<TEvent, TData>,
  at: string,
  [, event, data]: Case<TEvent, TData>,
  names: Names | undefined,
): string {
  const before = { ...(data as TData), at };
  let after: { at: string };
  try {
    after = step(before, event);
  } catch (error) {
    expect(String(error)).to.match(/does not expect|is no longer/);
    return refusal;
  }
  const to = after.at === at ? 'stays' : `→ ${after.at}`;
  const changes = changesOf(before, after, names ?? {});
  if (names) return changes.length > 0 ? `${to} (${changes.join(', ')})` : to;
  return after.at === at && changes.length > 0 ? `${to}, with other data` : to;
}

/**
 * Writes a block for each state: a line for each outcome, with the events that have it.
 * @param names the text also says what the state means, and what becomes of the data; a variant of an event (`retry, busy`) is left out where it does
 *   the same as the event itself
 */
export function textOf<TEvent, TData extends object>(
  machine: AnyStateMachine,
  step: Step<TEvent, TData>,
  cases: Case<TEvent, TData>[],
  names?: Names,
): string {
  const blocks = leavesOf(machine).map((nodes) => {
    const at = pathOf(nodes);
    const outcomes = new Map(cases.map((one) => [one[0], outcomeOf(step, at, one, names)]));
    const byOutcome = new Map<string, string[]>();
    for (const [name, outcome] of outcomes) {
      const [plain = ''] = name.split(',');
      if (outcome === refusal || (names && name !== plain && outcomes.get(plain) === outcome)) continue;
      byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), name]);
    }
    return [
      names ? headOf(nodes) : at,
      ...[...byOutcome].map(([outcome, all]) => `  ${outcome}: ${all.join('; ')}`),
    ].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

/** Transitions that an event has in a state, in their order; the last is undefined where guards may let none pass. */
function waysOf(nodes: AnyStateNode[], type: string): (Transition | undefined)[] {
  const all = nodes.flatMap(({ transitions }) => transitions.get(type) ?? []);
  const sure = all.findIndex(({ guard }) => !guard);
  return sure < 0 ? [...all, undefined] : all.slice(0, sure + 1);
}

/** Transitions that no case takes: `in-doubt: publish, way 2`. */
export function missedWays<TEvent extends AnyEventObject, TData extends object>(
  machine: AnyStateMachine,
  cases: Case<TEvent, TData>[],
): string[] {
  const takenBy = (at: string, [, event, context]: Case<TEvent, TData>): Transition | undefined =>
    machine.getTransitionData(machine.resolveState({ value: pathToStateValue(at.split('.')), context }), event)[0];
  const missed = (at: string, nodes: AnyStateNode[], type: string): string[] => {
    const taken = cases.filter(([, event]) => event.type === type).map((one) => takenBy(at, one));
    return waysOf(nodes, type).flatMap((way, index) =>
      taken.includes(way) ? [] : [`${at}: ${type}, way ${index + 1}`],
    );
  };
  return leavesOf(machine)
    .filter(([node]) => node?.type !== 'final')
    .flatMap((nodes) => typesOf(machine).flatMap((type) => missed(pathOf(nodes), nodes, type)));
}

export function holdsAsText(file: URL, text: string): void {
  if (process.env.UPDATE) writeFileSync(file, text);
  expect(text).to.equal(readFileSync(file, 'utf8'));
}

/** Types of the events that the machine takes in some state, or in all of them. */
export const typesOf = (machine: AnyStateMachine): string[] => [
  ...new Set(statesOf(machine).flatMap((nodes) => nodes.flatMap(({ transitions }) => [...transitions.keys()]))),
];
