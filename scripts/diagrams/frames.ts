/** Puts boxes of an overview into one frame: phases that users see as one state, the calls of a scheduler, and its rest. */
import type { IActionType, IState, IStateMachine, ITransition } from 'state-machine-cat';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { grouped } from './outcomes.js';
import { arrowsFrom, callOf, isScheduler, topStatesOf } from './walk.js';

export interface Frame {
  label: string;
  /** Keys of at least two top-level states. */
  keys: string[];
}

/** A state is in one frame at most. */
export function framesOf(machine: AnyStateMachine): Frame[] {
  const states = topStatesOf(machine);
  const scheduler = states.find(isScheduler);
  const labelOf = (node: AnyStateNode): string => {
    if (node.meta?.shownAs) return `shown as ${node.meta.shownAs}`;
    const isChosen = scheduler && arrowsFrom(scheduler).some(({ to }) => to === node);
    if (isChosen && callOf(node)) return 'a call is under way';
    return isChosen && isAtRest(node) ? 'no part wants a call' : '';
  };
  return [...grouped(states, labelOf)]
    .filter(([label, nodes]) => label !== '' && nodes.length > 1)
    .map(([label, nodes]) => ({ label, keys: nodes.map(({ key }) => key) }));
}

/** Whether it does nothing until the scheduler has to choose again. */
const isAtRest = (node: AnyStateNode): boolean =>
  node.type === 'atomic' && node.invoke.length === 0 && arrowsFrom(node).every(({ event }) => event === 'settle');

/** Draws the frames, and one arrow in place of those that all boxes of a frame share. A frame that shares all of them is one box. */
export function framed({ states, transitions = [] }: IStateMachine, frames: Frame[], color: string): IStateMachine {
  const arrows = frames.reduce(withShared, transitions);
  const all = frames.flatMap(({ keys }) => keys);
  const boxOf = ({ label, keys }: Frame): IState => {
    const inner = states.filter(({ name }) => keys.includes(name));
    const isWhole = !arrows.some(({ from, to }) => keys.includes(from) || keys.includes(to));
    return {
      ...{ name: label, type: 'regular', typeExplicitlySet: true, color },
      ...(isWhole ? { actions: inner.map(lineOf) } : { statemachine: { states: inner } }),
    };
  };
  return {
    states: [...states.filter(({ name }) => !all.includes(name)), ...frames.map(boxOf)],
    transitions: arrows,
  };
}

const lineOf = ({ name, actions = [] }: IState): IActionType => ({
  type: 'activity',
  body: `${name}: ${actions.map(({ body }) => body).join(', ')}`,
});

/** Replaces arrows that all boxes of the frame have, from or to the same box and for the same reason. */
function withShared(arrows: ITransition[], { label: frame, keys }: Frame): ITransition[] {
  const outer = arrows.map((arrow) => ({
    arrow,
    shared: {
      ...arrow,
      ...(arrow.label && { label: generalized(arrow.label) }),
      ...(keys.includes(arrow.from) ? { from: frame } : keys.includes(arrow.to) ? { to: frame } : {}),
    },
  }));
  const ways = grouped(outer, ({ shared: { from, to, label } }) => `${from} ${to} ${label}`);
  return [...ways.values()].flatMap((same) => {
    const [first] = same;
    const isOne = same.length === keys.length && first?.arrow !== undefined;
    return isOne ? [first.shared] : same.map(({ arrow }) => arrow);
  });
}

/** Leaves out which call it is. */
const generalized = (label: string): string =>
  [
    ...new Set(
      label
        .split('\n')
        .map((line) =>
          line.replace(/^\S+ (ended|failed)/, 'the call $1').replace(/^\[to call .*\]$/, '[a call is due]'),
        ),
    ),
  ].join('\n');
