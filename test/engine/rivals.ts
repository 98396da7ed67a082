/**
 * Runs one actor twice: by plan, as the engine hosts it, and by XState alone, with XState's invokes and an executor.
 * Each continues from its own snapshots. After each step, both must look the same.
 */
import { deepStrictEqual } from 'node:assert/strict';
import {
  type ActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
  createMachine,
  StateMachine,
} from 'xstate';
import type { Asked } from '../../machines/plan/compiled-actions.js';
import { PlannedMachine, type PlannedStep } from '../../machines/plan/planned-machine.js';
import { invokesOf } from '../../src/engine/machine/hosted-machine.js';

/** Tells how a step was taken, and whether it threw. */
export interface Outcome {
  isPlanned: boolean;
  thrown: unknown;
}

/** Limit of microsteps, above which a machine counts as an endless loop. */
const most = 100;

type Seen = ReturnType<typeof seenIn> | { thrown: unknown };

class Rival {
  readonly machine: AnyStateMachine;
  readonly scope: ActorScope<AnyMachineSnapshot, AnyEventObject>;
  #asked: Asked[] = [];

  constructor(machine: AnyStateMachine) {
    const actors = Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, undefined]));
    this.machine = StateMachine.prototype.provide.call(machine, { actors });
    this.machine.options.maxIterations = Math.min(this.machine.options.maxIterations ?? most, most);
    const self = createActor(createMachine({}));
    const nothing = (): void => {};
    this.scope = {
      ...{ self, id: machine.id, sessionId: machine.id, system: self.system },
      ...{ logger: nothing, defer: nothing, emit: nothing, stopChild: nothing },
      actionExecutor: (action) => {
        this.#asked.push(action);
      },
    };
  }

  begin(input: object): PlannedStep {
    this.#asked = [];
    return { snapshot: this.machine.getInitialSnapshot(this.scope, input), asked: this.#asked };
  }

  step(snapshot: AnyMachineSnapshot, event: AnyEventObject): PlannedStep {
    this.#asked = [];
    return { snapshot: this.machine.transition(snapshot, event, this.scope), asked: this.#asked };
  }

  restored({ value, context, historyValue }: AnyMachineSnapshot): AnyMachineSnapshot {
    const persisted = JSON.parse(JSON.stringify({ value, context }));
    const ended = { output: undefined, error: undefined, children: {}, historyValue };
    return this.machine.restoreSnapshot({ status: 'active', ...ended, ...persisted }, this.scope);
  }
}

export class Rivals {
  readonly #xstate: Rival;
  readonly #ours: Rival;
  readonly #plan: PlannedMachine;
  #now: { xstate: AnyMachineSnapshot; ours: AnyMachineSnapshot } | undefined;

  constructor(machine: AnyStateMachine) {
    this.#xstate = new Rival(machine);
    this.#ours = new Rival(machine);
    takeInvokes(this.#ours.machine.root);
    this.#plan = new PlannedMachine(this.#ours.machine, this.#ours.scope);
  }

  get snapshot(): AnyMachineSnapshot {
    if (!this.#now) throw new Error('it was not begun');
    return this.#now.ours;
  }

  begin(input: object): Outcome {
    const planned = this.#plan.begin(input);
    return this.#compare(
      planned,
      () => planned ?? this.#ours.begin(input),
      () => this.#xstate.begin(input),
    );
  }

  step(event: AnyEventObject): Outcome {
    const { ours, xstate } = this.#now ?? { ours: this.snapshot, xstate: this.snapshot };
    const before = JSON.stringify(ours.context);
    const planned = this.#plan.step(ours, event);
    const outcome = this.#compare(
      planned,
      () => planned ?? this.#ours.step(ours, event),
      () => this.#xstate.step(xstate, event),
    );
    deepStrictEqual(JSON.stringify(ours.context), before, 'the snapshot before was changed');
    return outcome;
  }

  restart(): void {
    const { ours } = this.#now ?? { ours: this.snapshot };
    this.#now = { ours: this.#ours.restored(ours), xstate: this.#xstate.restored(ours) };
  }

  #compare(planned: PlannedStep | undefined, ours: () => PlannedStep, xstate: () => PlannedStep): Outcome {
    const [theirStep, theirSeen] = attempted(xstate);
    const [ourStep, ourSeen] = attempted(ours);
    deepStrictEqual(ourSeen, theirSeen);
    const thrown = 'thrown' in theirSeen ? theirSeen.thrown : undefined;
    if (ourStep && theirStep) this.#now = { ours: inOrder(ourStep.snapshot), xstate: theirStep.snapshot };
    return { isPlanned: planned !== undefined, thrown };
  }
}

function takeInvokes(node: AnyStateNode): void {
  invokesOf(node);
  for (const child of Object.values(node.states)) takeInvokes(child);
}

/** Sorts the active states as plans and the engine do: XState reverses them where a machine ends. */
function inOrder(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  const nodes = snapshot._nodes.toSorted((one, other) => one.order - other.order);
  return nodes.every((node, at) => node === snapshot._nodes[at]) ? snapshot : { ...snapshot, _nodes: nodes };
}

/** Treats a step that ends in an error like a step that throws. */
function attempted(step: () => PlannedStep): [PlannedStep | undefined, Seen] {
  try {
    const taken = step();
    if (taken.snapshot.status === 'error') return [undefined, { thrown: taken.snapshot.error }];
    return [taken, seenIn(taken)];
  } catch (thrown) {
    return [undefined, { thrown }];
  }
}

function seenIn({ snapshot, asked }: PlannedStep) {
  const { value, context, status, output, error, tags, historyValue, matches, hasTag, can, getMeta, toJSON } = snapshot;
  return {
    ...{ value, context, status, output, error, tags: [...tags] },
    history: Object.entries(historyValue).map(([id, nodes]) => [id, nodes.map((node) => node.id)]),
    nodes: snapshot._nodes.map(({ id }) => id).sort(),
    methods: { matches, hasTag, can, getMeta, toJSON },
    properties: Object.keys(snapshot),
    asked: asked.filter(isSeen).map((one) => {
      const { context, event } = one.info;
      return { type: one.type, context, event, params: paramsIn(one) };
    }),
  };
}

/** Drops requests that a host ignores: a raise already handled, the end of a child that does not exist. */
const isSeen = ({ type, params }: Asked): boolean =>
  type !== 'xstate.stopChild' &&
  (type !== 'xstate.raise' || (params instanceof Object && 'delay' in params && typeof params.delay === 'number'));

/** Removes actors from parameters, as each side has its own. */
function paramsIn({ type, params }: Asked): unknown {
  if (!(params instanceof Object)) return params;
  if (type === 'xstate.spawnChild' && 'id' in params && 'src' in params) return { id: params.id, src: params.src };
  return type === 'xstate.sendTo' && 'event' in params ? params.event : params;
}
