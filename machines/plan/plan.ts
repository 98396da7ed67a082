/**
 * What leads out of the states of a machine, worked out once from its state nodes, where XState works it out in each step:
 * which transitions come into question, what is left and entered, and what is done on the way.
 * Not planned for: parallel states, states that end something, histories. Who goes by it: planned-machine.ts
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  pathToStateValue,
  type StateValue,
} from 'xstate';
import { type CompiledAction, CompiledActions, type CompiledGuard, type Scope, unplanned } from './compiled-actions.js';

/** A transition that may be taken. */
export interface EnabledTransition {
  /** Absent where nothing can speak against it. */
  check: CompiledGuard | undefined;
  move: Move;
}

/** Actions on leaving states, on the transition, and on entering states. */
export interface Move {
  deeds: CompiledAction[];
  to: Configuration;
}

/** Without an event: of those that need none. */
type CandidatesOf = (from: Configuration, event?: string) => EnabledTransition[];
type Transition = Pick<AnyTransitionDefinition, 'source' | 'target' | 'reenter' | 'actions'>;

/** Limit per configuration: names of events come from outside, and may be endless. */
const mostEventsKnown = 1_000;

/** States that a machine is in at the same time: one within the other, from its root to one that has none within. */
export class Configuration {
  readonly nodes: AnyStateNode[];
  /** `'failed.refused'` for the state value `{ failed: 'refused' }`. */
  readonly path: string;
  readonly #template: AnyMachineSnapshot;
  readonly #candidatesOf: CandidatesOf;
  readonly #byEvent = new Map<string, EnabledTransition[]>();
  #eventless: EnabledTransition[] | undefined;

  /** @param template a snapshot in these states, made by XState; another one differs from it by its context */
  constructor(nodes: AnyStateNode[], template: AnyMachineSnapshot, candidatesOf: CandidatesOf) {
    this.nodes = nodes;
    this.path = nodes.at(-1)?.path.join('.') ?? '';
    freeze(template.value);
    this.#template = template;
    this.#candidatesOf = candidatesOf;
  }

  snapshotWith(context: AnyMachineSnapshot['context']): AnyMachineSnapshot {
    return { ...this.#template, context };
  }

  /** In the order in which they are asked. */
  candidates(event: string): EnabledTransition[] {
    let known = this.#byEvent.get(event);
    if (!known) {
      known = this.#candidatesOf(this, event);
      if (this.#byEvent.size >= mostEventsKnown) this.#byEvent.clear();
      this.#byEvent.set(event, known);
    }
    return known;
  }

  eventless(): EnabledTransition[] {
    this.#eventless ??= this.#candidatesOf(this);
    return this.#eventless;
  }
}

export class Plan {
  readonly #machine: AnyStateMachine;
  readonly #deeds: CompiledActions;
  readonly #hasHistory: boolean;
  /** By the innermost of its states. */
  readonly #configurations = new Map<AnyStateNode, Configuration>();
  readonly #candidatesOf: CandidatesOf = (from, event) => this.#candidates(from, event);

  constructor(machine: AnyStateMachine, scope: Scope) {
    this.#machine = machine;
    this.#deeds = new CompiledActions(machine, scope);
    this.#hasHistory = hasHistory(machine.root);
  }

  /** Returns the configuration of a snapshot; undefined if its states are not planned for. */
  configurationOf({ machine, status, _nodes: nodes }: AnyMachineSnapshot): Configuration | undefined {
    const innermost = nodes.at(-1);
    if (!innermost || machine !== this.#machine || status !== 'active' || this.#hasHistory) return undefined;
    const configuration = this.#within(innermost);
    return configuration.nodes.length === nodes.length && !nodes.some(isParallel) ? configuration : undefined;
  }

  /** How an actor begins: in no state, where XState shows guards the first ones. */
  beginning(): { from: Configuration; move: Move } {
    const { root } = this.#machine;
    const template = { ...this.#machine.resolveState({ value: {}, context: {} }), _nodes: [root] };
    const from = new Configuration([], template, this.#candidatesOf);
    return { from, move: this.#move(from, { source: root, target: [root], reenter: true, actions: [] }) };
  }

  #within(innermost: AnyStateNode): Configuration {
    let known = this.#configurations.get(innermost);
    if (!known) {
      const template = this.#machine.resolveState({ value: pathToStateValue(innermost.path), context: {} });
      known = new Configuration(pathTo(innermost), template, this.#candidatesOf);
      this.#configurations.set(innermost, known);
    }
    return known;
  }

  /** Prefers inner states: an event that they handle reaches no outer state. */
  #candidates(from: Configuration, event?: string): EnabledTransition[] {
    const transitions = from.nodes
      .toReversed()
      .flatMap((node) => (event === undefined ? (node.always ?? []) : transitionsOf(node, event)));
    return transitions.map((transition) => ({
      check: transition.guard === undefined ? undefined : this.#deeds.check(transition.guard),
      move: this.#move(from, transition),
    }));
  }

  #move(from: Configuration, transition: Transition): Move {
    const { target, source, reenter, actions } = transition;
    const [goal, ...others] = target ?? [];
    if (!goal) return { deeds: this.#deedsOf(actions), to: from };
    const domain = domainOf(goal, transition);
    const left = from.nodes.filter((node) => isWithin(node, domain)).reverse();
    const passed = pathTo(goal).filter((node) => node !== goal && isWithin(node, domain));
    const reached = initialOf(goal);
    if (goal === source && !reenter) reached.shift(); // it is not left, only what is in it
    const entered = [...passed, ...reached];
    const innermost = entered.at(-1);
    const isPlanned =
      others.length === 0 && !this.#hasHistory && entered.every(({ type }) => type === 'atomic' || type === 'compound');
    if (!isPlanned) return { deeds: [unplanned], to: from };
    const deeds = this.#deedsOf([
      ...left.flatMap(({ exit }) => exit),
      ...actions,
      ...passed.flatMap(({ entry }) => entry),
      ...reached.flatMap(({ entry, initial }) => [...entry, ...initial.actions]),
    ]);
    return { deeds, to: innermost ? this.#within(innermost) : from };
  }

  #deedsOf(actions: readonly unknown[]): CompiledAction[] {
    return actions.map((action) => this.#deeds.deed(action));
  }
}

/** Returns transitions for the event itself, then those of wildcards, the most exact first. */
function transitionsOf({ transitions }: AnyStateNode, event: string): AnyTransitionDefinition[] {
  const wildcards = [...transitions.keys()].filter((name) => name !== event && isWildcardOf(name, event));
  const names = [event, ...wildcards.sort((one, other) => other.length - one.length)];
  return names.flatMap((name) => transitions.get(name) ?? []);
}

/** `a.*` stands for `a` too. */
function isWildcardOf(name: string, event: string): boolean {
  if (name === '*') return true;
  if (!name.endsWith('.*')) return false;
  const stem = name.slice(0, -2);
  return !stem.split('.').includes('*') && (event === stem || event.startsWith(`${stem}.`));
}

/** The state that is not left; absent where all are. */
function domainOf(goal: AnyStateNode, { source, reenter }: Transition): AnyStateNode | undefined {
  if (!reenter && (goal === source || isWithin(goal, source))) return source;
  const common = pathTo(goal).findLast((node) => node !== goal && isWithin(source, node));
  return common ?? (reenter ? undefined : source.machine.root);
}

function pathTo(node: AnyStateNode): AnyStateNode[] {
  return node.parent ? [...pathTo(node.parent), node] : [node];
}

/** The state, and those in it that are entered with it. */
function initialOf(node: AnyStateNode): AnyStateNode[] {
  const [first] = node.type === 'compound' ? node.initial.target : [];
  return first ? [node, ...initialOf(first)] : [node];
}

/** Every state is within none at all. */
const isWithin = ({ parent }: AnyStateNode, outer: AnyStateNode | undefined): boolean =>
  outer === undefined || (parent !== undefined && (parent === outer || isWithin(parent, outer)));

const isParallel = ({ type }: AnyStateNode): boolean => type === 'parallel';

const hasHistory = ({ type, states }: AnyStateNode): boolean =>
  type === 'history' || Object.values(states).some(hasHistory);

/** Every actor in these states has it, and shows it. */
function freeze(value: StateValue): void {
  if (typeof value !== 'object') return;
  Object.freeze(value);
  for (const inner of Object.values(value)) if (inner !== undefined) freeze(inner);
}
