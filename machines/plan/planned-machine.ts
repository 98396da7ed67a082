/**
 * Takes the steps of a machine by its plan, several times cheaper than XState, and with the same outcome. What it gives up,
 * XState begins anew: that is allowed, as guards and assignments are pure, and so XState alone says what is thrown.
 * What leads where: plan.ts. Who chooses between the two: hosted-machine.ts. Why: docs/decisions/0012-steps-by-plan.md
 */
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type Asked, type Running, type Scope, unplanned } from './compiled-actions.js';
import { type Configuration, type EnabledTransition, type Move, Plan } from './plan.js';

/** Result of one event. */
export interface PlannedStep {
  snapshot: AnyMachineSnapshot;
  /** Requests of the step's actions, in the order of the actions. */
  asked: Asked[];
}

interface OnItsWay extends Running {
  states: Configuration;
}

/** A machine after an event: its context and states, and requests of the step's actions. */
type Moved = Pick<OnItsWay, 'context' | 'states' | 'asked'>;

/** Events that XState takes otherwise than others. */
const ofXState: ReadonlySet<string> = new Set(['*', 'xstate.init', 'xstate.stop']);

export class PlannedMachine {
  readonly #machine: AnyStateMachine;
  readonly #scope: Scope;
  readonly #plan: Plan;
  #beginning: ReturnType<Plan['beginning']> | undefined;

  constructor(machine: AnyStateMachine, scope: Scope) {
    this.#machine = machine;
    this.#scope = scope;
    this.#plan = new Plan(machine, scope);
  }

  /** The first step of an actor; absent where XState is to take it. */
  begin(input: object): PlannedStep | undefined {
    return attempted(() => {
      this.#beginning ??= this.#plan.beginning();
      const { from, move } = this.#beginning;
      const event = { type: 'xstate.init', input };
      const running: OnItsWay = { context: this.#contextOf(input), event, states: from, raised: [], asked: [] };
      take(running, move);
      this.#rest(running);
      return { snapshot: running.states.snapshotWith(running.context), asked: running.asked };
    });
  }

  /** Absent where XState is to take it. The snapshot given is not changed; where nothing changes it is the next one too. */
  step(snapshot: AnyMachineSnapshot, event: AnyEventObject): PlannedStep | undefined {
    const from = this.configurationOf(snapshot);
    const moved = from && this.stepFrom(from, snapshot.context, event);
    if (!moved) return undefined;
    const { context, states, asked } = moved;
    const isSame = context === snapshot.context && states === from;
    return { snapshot: isSame ? snapshot : states.snapshotWith(context), asked };
  }

  /** Takes a step without making snapshots. */
  stepFrom(from: Configuration, context: Running['context'], event: AnyEventObject): Moved | undefined {
    if (ofXState.has(event.type)) return undefined;
    return attempted(() => {
      const running: OnItsWay = { context, event, states: from, raised: [], asked: [] };
      const move = chosen(running, from.candidates(event.type));
      if (move) take(running, move);
      else if (event.type.startsWith('xstate.error.actor')) return undefined;
      this.#rest(running);
      return running;
    });
  }

  /** States of a snapshot; absent where XState is to take its steps. */
  configurationOf(snapshot: AnyMachineSnapshot): Configuration | undefined {
    return this.#plan.configurationOf(snapshot);
  }

  /** Returns an equal snapshot that shares everything but the context among all actors in these states. */
  shared(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    return this.#plan.configurationOf(snapshot)?.snapshotWith(snapshot.context) ?? snapshot;
  }

  #contextOf(input: object): AnyMachineSnapshot['context'] {
    const { context } = this.#machine.config;
    if (typeof context !== 'function') return context || {};
    return Object.assign({}, context({ spawn: unplanned, input, self: this.#scope.self }));
  }

  /** Takes what needs no event, and what was raised, until nothing is left; the former anew after each change. */
  #rest(running: OnItsWay): void {
    const { maxIterations = Number.POSITIVE_INFINITY } = this.#machine.options;
    let isChanged = true;
    for (let taken = 1; ; taken += 1) {
      if (taken > maxIterations) unplanned();
      const { context, states } = running;
      const eventless = isChanged ? chosen(running, states.eventless()) : undefined;
      if (eventless) {
        take(running, eventless);
        isChanged = running.context !== context || running.states !== states;
        continue;
      }
      if (running.raised.length === 0) return;
      running.event = running.raised.shift() ?? unplanned();
      if (typeof running.event.type !== 'string') unplanned();
      const move = chosen(running, states.candidates(running.event.type));
      if (move) take(running, move);
      isChanged = true;
    }
  }
}

/** Ignores whatever the step throws: XState will throw it, too. */
function attempted<T>(step: () => T | undefined): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function chosen(running: Running, candidates: EnabledTransition[]): Move | undefined {
  const { context, event } = running;
  const told = { context, event };
  for (const { check, move } of candidates) if (!check || check(running, told)) return move;
  return undefined;
}

function take(running: OnItsWay, { deeds, to }: Move): void {
  for (const deed of deeds) deed(running);
  running.states = to;
}

/**
 * The compiled plan of a machine. Undefined where `STAGECRAFT_STEPS` is `xstate`: then XState takes every step, which tells a
 * fault of the plan from one of the machine.
 */
export const plannedOf = (machine: AnyStateMachine, scope: Scope): PlannedMachine | undefined =>
  globalThis.process?.env.STAGECRAFT_STEPS === 'xstate' ? undefined : new PlannedMachine(machine, scope);
