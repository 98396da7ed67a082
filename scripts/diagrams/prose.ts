/** Checks the hand-written text of a machine (docs/machines/prose/) against its chart. */
import type { AnyStateMachine } from 'xstate';
import { inWords } from './outcomes.js';
import { arrowsFrom, isHidden, nodesOf, pathOf, topStatesOf } from './walk.js';

/**
 * A text is some sentences, then a list with one line for each top-level state, in any order. In backquotes stand only names
 * of the chart: its states, events and effects.
 * @returns faults; empty: none
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
 * The text of a part has a line for each event and each condition too, but for those that the common text explains, and for the
 * ends of effects and times, which the index explains.
 * @param common of the words that all parts share; `*.done` stands for all events that end so
 * @returns faults; empty: none
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

/** The names at the beginning of the lines of a list: several in one line have a comma between them. */
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
