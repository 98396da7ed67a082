/** Checks the hand-written text of a machine (docs/machines/prose/) against its chart. */
import type { AnyStateMachine } from 'xstate';
import { arrowsFrom, isHidden, nodesOf, pathOf, topStatesOf } from './walk.js';

/**
 * A text is some sentences, then a list with one line for each top-level state, in any order. In backquotes stand only names
 * of the chart: its states, events and effects.
 * @returns faults; empty: none
 */
export function faultsOf(machine: AnyStateMachine, prose: string): string[] {
  const listed = [...prose.matchAll(/^- `([^`]+)`: /gm)].map(([, name = '']) => name);
  const tops = topStatesOf(machine).filter((node) => !isHidden(node));
  const missing = tops.filter(({ key }) => listed.filter((name) => name === key).length !== 1);
  const known = namesOf(machine);
  const unknown = [...prose.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).filter((name) => !known.has(name));
  return [
    ...missing.map(({ key }) => `needs one line that begins with "- \`${key}\`: "`),
    ...[...new Set(unknown)].map((name) => `names \`${name}\`, which is no state, event or effect of ${machine.id}`),
  ];
}

function namesOf(machine: AnyStateMachine): Set<string> {
  const nodes = nodesOf(machine.root);
  return new Set([
    ...nodes.flatMap((node) => [pathOf(node), node.key]),
    ...nodes.flatMap((node) => arrowsFrom(node).map(({ event }) => event)),
    ...nodes.flatMap(({ invoke }) => invoke.map(({ src }) => String(src))),
  ]);
}
