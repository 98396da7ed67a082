/** Checks the hand-written prose of a machine (docs/machines/prose/) against its chart. */
import type { AnyStateMachine } from 'xstate';
import { arrowsFrom, inWords, isHidden, nodesOf, pathOf, topStatesOf } from './walk.js';

/**
 * Checks that the prose has one list line for each top-level state, in any order. Backquoted names must be states, events or
 * effects of the chart.
 * @returns faults; empty if there are none
 */
export function faultsOf(machine: AnyStateMachine, prose: string): string[] {
  const listed = linesIn(prose);
  const tops = topStatesOf(machine).filter((node) => !isHidden(node));
  const missing = tops.filter(({ key }) => listed.filter((name) => name === key).length !== 1);
  const known = namesOf(machine);
  const unknown = [...prose.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).filter((name) => !known.has(name));
  return [
    ...missing.map(({ key }) => `needs one line that begins with "- \`${key}\`: "`),
    ...[...new Set(unknown)].map((name) => `names \`${name}\`, which is no state, event or effect of ${machine.id}`),
  ];
}

/** Names at the start of list lines. Several names in one line are separated by commas. */
const linesIn = (prose: string): string[] =>
  prose
    .split('\n')
    .filter((line) => line.startsWith('- `'))
    .flatMap((line) => line.slice(2).split(': ')[0]?.split(', ') ?? [])
    .map((name) => name.replaceAll('`', ''));

function namesOf(machine: AnyStateMachine): Set<string> {
  const nodes = nodesOf(machine.root);
  const arrows = nodes.flatMap(arrowsFrom);
  return new Set([
    ...nodes.flatMap((node) => [pathOf(node), node.key]),
    ...arrows.flatMap(({ event, guard }) => [event, inWords(guard)]),
    ...nodes.flatMap(({ invoke }) => invoke.map(({ src }) => String(src))),
  ]);
}
