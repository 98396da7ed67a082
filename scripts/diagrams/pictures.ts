/** Makes the charts of a machine: an overview with one box per top-level state, and a detail of each compound state. */
import type { IState, IStateMachine, ITransition } from 'state-machine-cat';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { type Frame, framed, framesOf } from './frames.js';
import { type BoxOf, type Labels, labelsBetween, restsOf } from './outcomes.js';
import { activitiesOf, arrowsFrom, isHidden, isScheduler, nodesOf, topStatesOf } from './walk.js';

const faint = '#888888';
const quiet = '#bbbbbb';
const start: IState = { name: 'initial', type: 'initial' };

/** Colours dark enough for letters on white, and different enough for most eyes. */
const palette = [
  '#1f4e9c',
  '#b3261e',
  '#1b7a3d',
  '#7a3ea8',
  '#9a5b00',
  '#00707a',
  '#a0236a',
  '#4a5a00',
  '#3b3b98',
  '#7d4427',
];

/** Gives arrows the colour of the box where they start, so that readers can follow many arrows. */
function coloured({ states, transitions = [] }: IStateMachine): IStateMachine {
  const plain = states.filter(({ type, color }) => type === 'regular' && color === undefined);
  const colours = new Map(plain.map(({ name }, at) => [name, palette[at % palette.length] ?? faint]));
  const colourOf = (name: string): { color: string } | undefined => {
    const color = colours.get(name);
    return color === undefined ? undefined : { color };
  };
  return {
    states: states.map((state) => ({ ...colourOf(state.name), ...state })),
    transitions: transitions.map((arrow) => ({ ...colourOf(arrow.from), ...arrow })),
  };
}

const box = (name: string, more: Partial<IState> = {}): IState => ({
  ...{ name, type: 'regular', typeExplicitlySet: true },
  ...more,
});

/** Text of the calls and effects in a box. Waits for admission are left out: the name of the state says so. */
const doing = (states: AnyStateNode[]): Partial<IState> => {
  const bodies = [...new Set(states.flatMap(activitiesOf))].filter((body) => body !== 'awaitAdmission');
  return bodies.length > 0 ? { actions: bodies.map((body) => ({ type: 'activity', body })) } : {};
};

const arrowsOf = (labels: Labels): ITransition[] =>
  [...labels].flatMap(([from, ends]) => [...ends].map(([to, lines]) => ({ from, to, label: lines.join('\n') })));

const startsOf = (entered: AnyStateNode, nameOf: (node: AnyStateNode) => string): ITransition[] =>
  restsOf(entered).map(({ node, condition, event = '' }) => ({
    from: start.name,
    to: nameOf(node),
    label: condition === '' ? event : `[${condition}]`,
  }));

/** Most arrows of an overview whose ways into a failure have words. */
const mostWithWords = 15;

/** Makes the overview: one box per top-level state. Changes within a state are in its detail. @param frames around some of the boxes */
export function overviewOf(machine: AnyStateMachine, frames: Frame[] = framesOf(machine)): IStateMachine {
  const states = topStatesOf(machine).filter((node) => !isHidden(node));
  const scheduler = schedulerOf(machine);
  const topOf = (node: AnyStateNode): string => node.path[0] ?? anyState;
  const labels = labelsBetween(nodesOf(machine.root), topOf, topOf);
  const arrows = arrowsOf(labels);
  /** The table, and the picture within the failed state if there is one, have the words of ways into it and out of it. */
  const quietened = (arrow: ITransition): ITransition =>
    !scheduler && arrows.length > mostWithWords && [arrow.from, arrow.to].includes('failed')
      ? { from: arrow.from, to: arrow.to, color: quiet }
      : arrow;
  const ends = states.filter(({ type }) => type === 'final').map(({ key }) => ({ key, name: `final ${key}` }));
  const chart = coloured({
    states: [
      start,
      ...states.map((node) =>
        box(node.key, node === scheduler ? { note: noteOf(labels, node.key) } : doing(nodesOf(node))),
      ),
      ...(labels.get(anyState)?.size
        ? [box(anyState, { color: faint, label: hasExceptions(machine.root) ? 'any other state' : anyState })]
        : []),
      ...ends.map(({ name }): IState => ({ name, type: 'final' })),
    ],
    transitions: [
      ...startsOf(machine.root, topOf),
      ...arrows.map((arrow) => (arrow.to === scheduler?.key ? backOf(arrow) : quietened(arrow))),
      ...ends.map(({ key, name }) => ({ from: key, to: name })),
    ],
  });
  return framed(chart, frames, faint);
}

const anyState = 'any state';

const schedulerOf = (machine: AnyStateMachine): AnyStateNode | undefined => topStatesOf(machine).find(isScheduler);

/** Whether an inner state handles an event itself that leads away from all other states. */
function hasExceptions(whole: AnyStateNode): boolean {
  const leading = new Set(arrowsFrom(whole).flatMap(({ to, event }) => (to ? [event] : [])));
  const inner = nodesOf(whole).filter((node) => node !== whole);
  return inner.some((node) => arrowsFrom(node).some(({ event }) => leading.has(event)));
}

/** Makes a faint arrow without label back to the scheduler, whose note names the events of all such arrows. */
const backOf = ({ from, to }: ITransition): ITransition => ({ from, to, color: faint });

function noteOf(labels: Labels, scheduler: string): string[] {
  const events = [...labels.values()].flatMap((ends) => ends.get(scheduler) ?? []);
  const plain = events.map((line) => line.replace(/ [[(].*/, ''));
  const back = plain
    .map((event) => event.replace(/^.*Admission (ended|failed).*$/, 'the end of a wait'))
    .map((event) => (/ (ended|failed)$/.test(event) ? 'the end of a call' : event));
  return [
    'Scheduler: picks the next piece of work, and never rests.',
    'Every other state leads back to it (grey), on:',
    ...linesOf([...new Set(back)]),
  ];
}

const mostInLine = 3;

const linesOf = (events: string[]): string[] =>
  Array.from({ length: Math.ceil(events.length / mostInLine) }, (_, at) =>
    events.slice(at * mostInLine, (at + 1) * mostInLine).join(', '),
  ).map((line, at, all) => (at < all.length - 1 ? `${line},` : line));

/** Makes the detail of one top-level state: inner states, ways out, and ways in where no inner arrow leads. */
export function detailOf(machine: AnyStateMachine, key: string): IStateMachine {
  const top = machine.root.states[key];
  if (!top) throw new Error(`${machine.id} has no state ${key}`);
  const whole = `any ${key}`;
  const isInside = ({ path }: AnyStateNode): boolean => path[0] === key;
  const nameOf = (node: AnyStateNode): string => (node === top ? whole : node.path.join('.'));
  const toBox: BoxOf = (node) => (isInside(node) ? nameOf(node) : exitOf(machine, node));
  const [, ...within] = nodesOf(top);
  const inner = within.filter((node) => node.type !== 'compound' && !isHidden(node));
  const groups = within.filter((node) => node.type === 'compound');
  const names = inner.map(nameOf);
  const ways = [...startsOf(top, nameOf), ...arrowsOf(labelsBetween(nodesOf(top), nameOf, toBox))];
  const reached = new Set(ways.map(({ to }) => to));
  const outside = nodesOf(machine.root).filter((node) => !isInside(node));
  const into = arrowsOf(labelsBetween(outside, ({ path }) => path[0] ?? anyState, toBox))
    .filter(({ to }) => names.includes(to) && !reached.has(to))
    .map((arrow) => (arrow.from === schedulerOf(machine)?.key ? { from: arrow.from, to: arrow.to } : arrow));
  const transitions = [...ways, ...into];
  const drawn = new Set(transitions.flatMap(({ from, to }) => [from, to]));
  const drawnGroups = groups.filter((node) => drawn.has(nameOf(node)));
  const known = [start.name, whole, ...names, ...drawnGroups.map(nameOf)];
  const others = [...drawn].filter((name) => !known.includes(name));
  return coloured({
    states: [
      start,
      ...(drawn.has(whole)
        ? [box(whole, { label: `any ${hasExceptions(top) ? 'other ' : ''}of these`, color: faint })]
        : []),
      ...drawnGroups.map((node) => box(nameOf(node), { label: `any ${innerName(node)}`, ...doing([node]) })),
      ...inner.map((node) => box(nameOf(node), { label: innerName(node), ...doing([node]) })),
      ...others.map((name) => box(name, { color: faint })),
    ],
    transitions,
  });
}

const innerName = ({ path }: AnyStateNode): string => path.slice(1).join('.');

/** Names a state outside: by its top-level state if the arrow enters that at its start, else by the whole path. */
function exitOf(machine: AnyStateMachine, node: AnyStateNode): string {
  const [top = ''] = node.path;
  const state = machine.root.states[top];
  return state && restsOf(state).some((rest) => rest.node === node) ? top : node.path.join('.');
}
