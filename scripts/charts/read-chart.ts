/** Reads the states and transitions of a machine, for its layout. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { StateWords } from '../../machines/kit/state-words.js';
import type { LineMove, StateBox } from '../../src/page/chart/layout.js';
import { activitiesOf, arrowsFrom, isHidden, isScheduler, isTransient, nodesOf } from '../diagrams/walk.js';

/** A state without its position. */
export type ReadState = Pick<StateBox, 'path' | 'passes' | 'initial' | 'health' | 'unneeded' | 'runs'> & {
  /** '' at the top. */
  parent: string;
  role: 'state' | 'group' | 'hub' | 'start' | 'final';
};

export interface ReadChart {
  machine: string;
  version: string;
  states: ReadState[];
  /** Every transition with a target, except those of the whole machine. */
  transitions: (LineMove & { from: string; to: string })[];
  stays: Record<string, string[]>;
  anywhere: LineMove[];
}

/** Calls and effects of a state, without waits for admission: the name of the state says so. */
const runsOf = (node: AnyStateNode): string[] => activitiesOf(node).filter((activity) => activity !== 'awaitAdmission');

/** Least number of states that a hub chooses from. */
const leastChoice = 5;

const pathOf = ({ path }: AnyStateNode): string => path.join('.');

export function readChart(machine: AnyStateMachine): ReadChart {
  const { root } = machine;
  const chart: ReadChart = {
    machine: machine.id,
    version: String(machine.version ?? '1'),
    states: nodesOf(root)
      .filter((node) => node !== root)
      .map(stateOf),
    transitions: [],
    stays: {},
    anywhere: [],
  };
  for (const node of nodesOf(root)) {
    for (const { to, event, guard } of arrowsFrom(node)) {
      const condition = guard ? { guard } : {};
      if (!to) addOnce(chart.stays, pathOf(node), event);
      else if (node === root) chart.anywhere.push({ event, ...condition, to: pathOf(to) });
      else chart.transitions.push({ event, ...condition, from: pathOf(node), to: pathOf(to) });
    }
  }
  return chart;
}

function stateOf(node: AnyStateNode): ReadState {
  const runs = runsOf(node);
  const health = healthOf(node);
  const unneeded: StateBox['unneeded'] = node.meta?.words?.unneeded?.health;
  return {
    path: pathOf(node),
    parent: node.parent ? pathOf(node.parent) : '',
    role: roleOf(node),
    ...(isTransient(node) && { passes: true as const }),
    ...(node.parent?.initial.target?.[0] === node && { initial: true as const }),
    ...(health && { health }),
    ...(unneeded && { unneeded }),
    ...(runs.length > 0 && { runs }),
  };
}

/** Health that the state says, or one around it. */
function healthOf(node: AnyStateNode): StateBox['health'] {
  const { health, words } = saidBy(node);
  return words === undefined ? undefined : (health ?? 'by-call');
}

/** Words of the state. A state adds to those of the state around it. */
const saidBy = ({ parent, meta }: AnyStateNode): Partial<StateWords> => ({ ...(parent && saidBy(parent)), ...meta });

function roleOf(node: AnyStateNode): ReadState['role'] {
  if (node.type === 'final') return 'final';
  if (node.type === 'compound') return 'group';
  const isTop = node.path.length === 1;
  if (isTop && isHidden(node)) return 'start';
  const choices = new Set(arrowsFrom(node).map(({ to }) => to?.path[0]));
  return isTop && isScheduler(node) && choices.size >= leastChoice ? 'hub' : 'state';
}

function addOnce(lists: Record<string, string[]>, key: string, item: string): void {
  const list = lists[key] ?? [];
  if (!list.includes(item)) lists[key] = [...list, item];
}
