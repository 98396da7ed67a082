/** Checks the hand-written prose of a machine (docs/machines/prose/) against its chart. */
import type { AnyStateMachine } from 'xstate';
import { arrowsFrom, inWords, isHidden, nodesOf, pathOf, topStatesOf } from './walk.js';

/**
 * Checks that the prose has one list line for each top-level state, in any order. Backquoted names must be states, events or
 * effects of the chart.
 * @returns faults; empty if there are none
 */
export function faultsOf(machine: AnyStateMachine, prose: string): string[] {
  const listed = linesIn(prose, '- ');
  const tops = topStatesOf(machine).filter((node) => !isHidden(node));
  const missing = tops.filter(({ key }) => listed.filter((name) => name === key).length !== 1);
  const known = namesOf(machine);
  const unknown = [...prose.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).filter((name) => !known.has(name));
  return [
    ...missing.map(({ key }) => `needs one line that begins with "- \`${key}\`: "`),
    ...[...new Set(unknown)].map((name) => `names \`${name}\`, which is no state, event or effect of ${machine.id}`),
  ];
}

/**
 * Checks that the prose, or the common text, has a line for each event and each condition. Ends of effects and timers need
 * none: the index explains them.
 * @param common text for all parts; `*.done` stands for all events that end with `.done`
 * @returns faults; empty if there are none
 */
export function unexplainedIn(machine: AnyStateMachine, prose: string, common: string): string[] {
  const arrows = nodesOf(machine.root).flatMap(arrowsFrom);
  const isOf = (event: string, name: string): boolean =>
    name.startsWith('*') ? event.endsWith(name.slice(1)) : event === name;
  const explained = [...linesIn(prose, '- on '), ...linesIn(common, '- on ')];
  const conditions = [...linesIn(prose, '- if '), ...linesIn(common, '- if ')];
  const events = arrows
    .map(({ event }) => event)
    .filter((event) => event !== 'always' && !/^after | (ended|failed)$/.test(event))
    .filter((event) => !explained.some((name) => isOf(event, name)));
  const guards = arrows
    .map(({ guard }) => inWords(guard))
    .filter((guard) => guard !== '' && !conditions.includes(guard));
  return [
    ...[...new Set(events)].map((event) => `needs a line that begins with "- on \`${event}\`: "`),
    ...[...new Set(guards)].map((guard) => `needs a line that begins with "- if \`${guard}\`: "`),
  ];
}

/** Names at the start of list lines. Several names in one line are separated by commas. */
const linesIn = (prose: string, start: '- ' | '- on ' | '- if '): string[] =>
  prose
    .split('\n')
    .filter((line) => line.startsWith(`${start}\``))
    .flatMap((line) => line.slice(start.length).split(': ')[0]?.split(', ') ?? [])
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
