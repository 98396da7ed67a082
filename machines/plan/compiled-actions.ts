/**
 * A machine's actions and guards, made ready: each becomes one function, made once and called in every step.
 * Knows no states. What XState keeps in an action or a guard is not typed there: the types here are what is seen in 5.33.
 * Where they are put in order: plan.ts
 */
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, ExecutableActionObject } from 'xstate';

/** Request of an action to the host of the machine, in the form of XState. */
export type Asked = Pick<ExecutableActionObject, 'type' | 'info' | 'params'>;

/** Arguments of the machine's functions. */
type Known = ExecutableActionObject['info'];

export type Scope = Pick<Known, 'self' | 'system'>;

/** A step on its way. */
export interface Running {
  context: Known['context'];
  /** The event given, or one that was raised on the way. */
  event: AnyEventObject;
  /** From before the present transition. */
  states: { snapshotWith(context: Known['context']): AnyMachineSnapshot };
  /** Events to handle within this step. */
  raised: AnyEventObject[];
  asked: Asked[];
}

/** Changes the context, raises or asks for something. */
export type CompiledAction = (running: Running) => void;
/** Any value counts as true or false. */
export type CompiledGuard = (running: Running, told: Pick<Known, 'context' | 'event'>) => unknown;

const notPlannedFor = new Error('not planned for');

/** Leaves the step to XState, which begins it anew. */
export const unplanned = (): never => {
  throw notPlannedFor;
};

type Call<T> = (known: object, params?: unknown) => T;
type Given<T> = T | Call<T>;
/** A deed, to be told what it is told with its parameters. */
type Work = (running: Running, known: Known, params: unknown) => void;

/** XState's own actions, as far as they are planned for: functions with properties. */
type BuiltIn =
  | { type: 'xstate.assign'; assignment: Given<Record<string, unknown>> }
  | { type: 'xstate.raise'; event: Given<AnyEventObject>; id?: string | undefined; delay?: unknown }
  | { type: 'xstate.cancel'; sendId: Given<string> }
  | { type: 'xstate.emit'; event: Given<AnyEventObject> }
  | { type: 'xstate.enqueueActions'; collect: Call<void> };
type BuiltInOf<T extends BuiltIn['type']> = Extract<BuiltIn, { type: T }>;

const isCall = <T>(given: Given<T>): given is Call<T> => typeof given === 'function';
const callOf = <T>(given: Given<T>): Call<T> => (isCall(given) ? given : () => given);
const isOfXState = (action: Call<unknown>): action is Call<unknown> & BuiltIn => 'resolve' in action;

const nothing = (): undefined => undefined;

/** By name, with parameters or without: `'count'`, `{ type: 'count', params }`. */
function reference(to: unknown): { name: string; params: (running: Running) => unknown } {
  if (isCall(to)) return { name: to.name || '(anonymous)', params: nothing };
  if (typeof to === 'string') return { name: to, params: nothing };
  if (!(to instanceof Object && 'type' in to)) return unplanned();
  const given = 'params' in to ? to.params : undefined;
  return {
    name: String(to.type),
    params: isCall(given) ? ({ context, event }) => given({ context, event }) : () => given,
  };
}

export class CompiledActions {
  readonly #machine: AnyStateMachine;
  readonly #scope: Scope;

  constructor(machine: AnyStateMachine, scope: Scope) {
    this.#machine = machine;
    this.#scope = scope;
  }

  /** @param guard a function or a reference to one */
  check(guard: unknown): CompiledGuard {
    const { name, params } = reference(guard);
    const call: unknown = isCall(guard) ? guard : this.#machine.implementations.guards[name];
    if (!isCall(call)) return unplanned;
    if (!('check' in call)) return (running, told) => call(told, params(running));
    // XState's own: and, or, not, stateIn. They look at a whole snapshot.
    const { check } = call;
    if (typeof check !== 'function') return unplanned;
    return (running, told) => {
      params(running);
      return check(running.states.snapshotWith(told.context), told, call);
    };
  }

  /** @param action a function or a reference to one, which need not be there: a host knows what is asked by its name */
  deed(action: unknown): CompiledAction {
    const { name, params } = reference(action);
    const call: unknown = isCall(action) ? action : this.#machine.implementations.actions[name];
    if (call !== undefined && !isCall(call)) return unplanned;
    if (call && isOfXState(call)) return this.#deedOf(this.#workOf(call), params);
    return this.#deedOf(({ asked }, info, given) => asked.push({ type: name, info, params: given }), params);
  }

  #deedOf(work: Work, params: (running: Running) => unknown): CompiledAction {
    const { self, system } = this.#scope;
    return (running) =>
      work(running, { context: running.context, event: running.event, self, system }, params(running));
  }

  #workOf(action: BuiltIn): Work {
    switch (action.type) {
      case 'xstate.assign':
        return this.#assign(action);
      case 'xstate.raise':
        return this.#raise(action);
      case 'xstate.cancel': {
        const sendId = callOf(action.sendId);
        return ({ asked }, info, params) =>
          asked.push({ type: 'xstate.cancel', info, params: { sendId: sendId(info, params) } });
      }
      case 'xstate.emit': {
        const event = callOf(action.event);
        return ({ asked }, info, params) =>
          asked.push({ type: 'xstate.emit', info, params: { event: event(info, params) } });
      }
      case 'xstate.enqueueActions':
        return this.#enqueue(action);
      default:
        return unplanned;
    }
  }

  #assign({ assignment }: BuiltInOf<'xstate.assign'>): Work {
    const change = isCall(assignment)
      ? assignment
      : (known: object, params: unknown) => each(assignment, known, params);
    return (running, { context, event, self, system }, params) => {
      const known = { context, event, spawn: unplanned, self, system };
      running.context = merged(context, change(known, params));
    };
  }

  #raise({ event, id, delay }: BuiltInOf<'xstate.raise'>): Work {
    if (typeof event === 'string') return unplanned;
    const eventOf = callOf(event);
    const delayOf = callOf<unknown>(typeof delay === 'string' ? this.#machine.implementations.delays[delay] : delay);
    return ({ asked, raised }, info, params) => {
      const now = eventOf(info, params);
      const delayMs = delayOf(info, params);
      if (typeof delayMs !== 'number') raised.push(now);
      else asked.push({ type: 'xstate.raise', info, params: { event: now, id, delay: delayMs } });
    };
  }

  /**
   * Runs enqueued actions as soon as all are known. Reuses one `enqueue` function for each machine: making it is
   * expensive.
   */
  #enqueue({ collect }: BuiltInOf<'xstate.enqueueActions'>): Work {
    let present: Running;
    let queued: Work[] = [];
    const put = (work: Work): void => void queued.push(work);
    const leave = (): void => put(unplanned);
    const enqueue = Object.assign((action: unknown) => put(this.deed(action)), {
      assign: (assignment: BuiltInOf<'xstate.assign'>['assignment']) =>
        put(this.#assign({ type: 'xstate.assign', assignment })),
      raise: (event: AnyEventObject, { id, delay }: { id?: string; delay?: unknown } = {}) =>
        put(this.#raise({ type: 'xstate.raise', event, id, delay })),
      cancel: (sendId: string) => put(this.#workOf({ type: 'xstate.cancel', sendId })),
      emit: (event: AnyEventObject) => put(this.#workOf({ type: 'xstate.emit', event })),
      ...{ sendTo: leave, sendParent: leave, spawnChild: leave, stopChild: leave },
    });
    const check = (guard: unknown): unknown => {
      const { context, event } = present;
      return this.check(guard)(present, { context, event });
    };
    return (running, { context, event, self, system }, params) => {
      present = running;
      queued = [];
      const all = queued;
      collect({ context, event, enqueue, check, self, system }, params);
      for (const work of all) work(running, { context: running.context, event, self, system }, undefined);
    };
  }
}

/** Each property by its own assignment: a function, or the value itself. */
function each(assignments: Record<string, unknown>, known: object, params: unknown): Record<string, unknown> {
  let changed = assignments;
  for (const key of Object.keys(assignments)) {
    const given = assignments[key];
    if (!isCall(given)) continue;
    if (changed === assignments) changed = { ...assignments };
    changed[key] = given(known, params);
  }
  return changed;
}

/**
 * Returns `{ ...known, ...change }`. Node 20 gives each object that a spread adds keys to a hidden class of its own, which
 * makes this one and all its copies slow.
 */
function merged<T extends object>(known: T, change: Partial<T>): T;
function merged(known: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  for (const key in change) if (!(key in known)) return mergedByKey(known, change);
  return { ...known, ...change };
}

function mergedByKey(known: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const key in known) all[key] = known[key];
  for (const key in change) all[key] = change[key];
  return all;
}
