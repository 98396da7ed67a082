/** Where each event leads from each state of a part, as a text that a person can review. `UPDATE=1` writes those texts anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import { isLeaf, pathOf, statesOf } from './states-of.js';

/** An event by name, and the data that it finds. */
export type Case<TEvent, TData> = [name: string, event: TEvent, data?: TData];

const leavesOf = (machine: AnyStateMachine): string[] => statesOf(machine).filter(isLeaf).map(pathOf);

/** Steps a part with plain data, as it is stored. */
export type Step<TEvent, TData> = (data: TData & { at: string }, event: TEvent) => { at: string };

function outcomeOf<TEvent, TData extends object>(
  step: Step<TEvent, TData>,
  at: string,
  [, event, data]: Case<TEvent, TData>,
): string {
  const before = { ...(data as TData), at };
  let after: { at: string };
  try {
    after = step(before, event);
  } catch (error) {
    expect(String(error)).to.match(/does not expect|is no longer/);
    return refusal;
  }
  if (after.at !== at) return `→ ${after.at}`;
  return JSON.stringify(after) === JSON.stringify(before) ? 'stays' : 'stays, with other data';
}

const refusal = 'refused';

/** One block for each state: a line for each outcome, with the events that have it. */
export function textOf<TEvent, TData extends object>(
  machine: AnyStateMachine,
  step: Step<TEvent, TData>,
  cases: Case<TEvent, TData>[],
): string {
  const blocks = leavesOf(machine).map((at) => {
    const byOutcome = new Map<string, string[]>();
    for (const one of cases) {
      const outcome = outcomeOf(step, at, one);
      byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), one[0]]);
    }
    const lines = [...byOutcome].filter(([outcome]) => outcome !== refusal);
    return [at, ...lines.map(([outcome, names]) => `  ${outcome}: ${names.join('; ')}`)].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}

export function holdsAsText(file: URL, text: string): void {
  if (process.env.UPDATE) writeFileSync(file, text);
  expect(text).to.equal(readFileSync(file, 'utf8'));
}

/** Of events that some state takes. */
export const typesOf = (machine: AnyStateMachine): string[] => [
  ...new Set(statesOf(machine).flatMap(([node]) => [...(node?.transitions.keys() ?? [])])),
];
