/**
 * Machine as a pure function: an event goes in; the next snapshot and all requested actions come out, as data. Nothing
 * runs here. Uses the compiled plan of a machine, or XState's own interpreter. Knows XState, but no store and no
 * mailbox. Next: actor.ts
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type ActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
  createMachine,
  type ExecutableActionObject,
  type StateValue,
} from 'xstate';
import { type AnswerParams, failureIn, type MessageParams } from '../../../machines/kit/host.js';
import type { Asked } from '../../../machines/plan/compiled-actions.js';
import { type PlannedMachine, type PlannedStep, plannedOf } from '../../../machines/plan/planned-machine.js';
import { asData, isData, isStillData } from './data.js';

/** Snapshot of a machine that has not ended, as stored: plain JSON, without children. */
export interface PersistedSnapshot {
  value: StateValue;
  context: object;
  historyValue?: Record<string, { id: string }[]>;
}

/** Result of one event. */
export interface MachineStep {
  snapshot: AnyMachineSnapshot;
  /** Invokes of the states that were entered, in order. */
  started: StartedEffect[];
  timers: TimerChange[];
  messages: MessageParams[];
  /** Events that the machine emitted, for broadcast. */
  emitted: AnyEventObject[];
  answer: AnswerParams | undefined;
}

export interface StartedEffect {
  id: string;
  src: string;
  input: unknown;
}

/** A delayed `raise` without an id cannot be cancelled. */
type TimerChange = { id: string; cancelled: true } | { id: string | undefined; delayMs: number; event: AnyEventObject };

interface StandingTimer {
  id: string;
  delayMs: number;
  event: AnyEventObject;
}

/** Limit of transitions per event, above which the machine counts as an endless loop. */
const maxMicrosteps = 1_000;

/** Actions that XState 5.33 hands to an executor, and our own two. Observed at run time; XState does not type them. */
type HostableAction = { info: ExecutableActionObject['info'] } & (
  | { type: 'xstate.spawnChild'; params: { id: string; src: string } }
  | { type: 'xstate.raise'; params: { id: string | undefined; delay: number | undefined; event: AnyEventObject } }
  | { type: 'xstate.cancel'; params: { sendId: string } }
  | { type: 'xstate.emit'; params: { event: AnyEventObject } }
  | { type: 'xstate.stopChild' }
  | { type: 'messages'; params: MessageParams[] }
  | { type: 'answer'; params: AnswerParams }
);

const hostable: ReadonlySet<string> = new Set<HostableAction['type']>([
  'xstate.spawnChild',
  'xstate.raise',
  'xstate.cancel',
  'xstate.emit',
  'xstate.stopChild',
  'messages',
  'answer',
]);

const isHostable = (action: { type: string }): action is HostableAction => hostable.has(action.type);

const watchedGuard =
  (guard: (...given: never[]) => unknown, onError: (error: unknown) => void) =>
  (...given: never[]): unknown => {
    try {
      return guard(...given);
    } catch (error) {
      onError(error);
      throw error;
    }
  };

const hosted = new WeakMap<AnyStateMachine, HostedMachine>();

export class HostedMachine {
  /** Returns the shared instance for all engines of this process, so that each machine is prepared once. */
  static of(machine: AnyStateMachine): HostedMachine {
    const known = hosted.get(machine) ?? new HostedMachine(machine);
    hosted.set(machine, known);
    return known;
  }

  readonly #machine: AnyStateMachine;
  readonly #scope: ActorScope<AnyMachineSnapshot, AnyEventObject>;
  /** Invokes by id and src. */
  readonly #invokes = new Map<string, InvokeDefinition>();
  readonly #planned: PlannedMachine | undefined;
  /** Ids of active invokes, by the states of a snapshot: actors in the same states share the list. */
  readonly #active = new WeakMap<readonly AnyStateNode[], readonly string[]>();
  #asked: Asked[] = [];

  constructor(machine: AnyStateMachine) {
    this.#machine = withoutLogic(machine);
    if (!Number.isFinite(this.#machine.options.maxIterations)) this.#machine.options.maxIterations = maxMicrosteps;
    this.#index(this.#machine.root);
    const self = createActor(createMachine({}));
    this.#scope = {
      self,
      id: machine.id,
      sessionId: machine.id,
      system: self.system,
      logger: () => {},
      defer: () => {},
      emit: () => {},
      stopChild: () => {},
      actionExecutor: (action) => {
        this.#asked.push(action);
      },
    };
    this.#planned = plannedOf(this.#machine, this.#scope);
  }

  get name(): string {
    return this.#machine.id;
  }

  get version(): string {
    return this.#machine.version ?? '1';
  }

  /** Takes the first step of an actor. Throws what its context, guards and actions throw. */
  begin(input: object): MachineStep {
    const planned = this.#planned?.begin(input);
    return this.#collect(planned ?? this.#unplanned(() => this.#machine.getInitialSnapshot(this.#scope, input)));
  }

  /** Throws what guards and actions throw; leaves the given snapshot unchanged. */
  step(snapshot: AnyMachineSnapshot, event: AnyEventObject): MachineStep {
    const planned = this.#planned?.step(snapshot, event);
    const taken = planned ?? this.#unplanned(() => this.#machine.transition(snapshot, event, this.#scope));
    return this.#collect(taken, snapshot.context);
  }

  /** The same machine, which tells of each error of a guard: XState hides those behind errors of its own. */
  watched(onGuardError: (error: unknown) => void): HostedMachine {
    const guards = Object.entries(this.#machine.implementations.guards).map(([name, guard]) => [
      name,
      typeof guard === 'function' && !('check' in guard) ? watchedGuard(guard, onGuardError) : guard,
    ]);
    return new HostedMachine(this.#machine.provide({ guards: Object.fromEntries(guards) }));
  }

  persist(snapshot: AnyMachineSnapshot): PersistedSnapshot {
    const persisted: PersistedSnapshot = { value: snapshot.value, context: snapshot.context };
    for (const [id, nodes] of Object.entries(snapshot.historyValue)) {
      persisted.historyValue ??= {};
      persisted.historyValue[id] = nodes.map((node) => ({ id: node.id }));
    }
    return persisted;
  }

  /**
   * @param persisted a fresh parse: it becomes part of the snapshot
   * @throws {Error} if the machine has no such state
   */
  restore(persisted: PersistedSnapshot): AnyMachineSnapshot {
    const ended = { output: undefined, error: undefined };
    const whole = { status: 'active' as const, ...ended, historyValue: {}, children: {}, ...persisted };
    // XState drops an unknown history, and accepts half a state as a whole one.
    for (const { id } of Object.values(persisted.historyValue ?? {}).flat()) this.#machine.getStateNodeById(id);
    const restored = normal(this.#machine.restoreSnapshot(whole, this.#scope));
    if (!isDeepStrictEqual(restored.value, persisted.value)) {
      throw new Error(`${this.name} has no state ${JSON.stringify(persisted.value)}`);
    }
    const hasEnded = restored._nodes.some(({ type, parent }) => type === 'final' && parent === this.#machine.root);
    return hasEnded
      ? Object.assign(restored, { status: 'done' as const })
      : (this.#planned?.shared(restored) ?? restored);
  }

  /** Returns the ids of invokes that the snapshot's states keep running. */
  activeInvokes({ status, _nodes: nodes }: AnyMachineSnapshot): readonly string[] {
    if (status !== 'active') return [];
    let active = this.#active.get(nodes);
    if (!active) {
      active = nodes.flatMap((node) => invokesOf(node).map(({ id }) => id));
      this.#active.set(nodes, active);
    }
    return active;
  }

  /** Returns the effects and timers that the states would have begun on entry: for a snapshot that was migrated. */
  standing(
    snapshot: AnyMachineSnapshot,
    stamp: { at: number; random: number },
  ): { started: StartedEffect[]; timers: StandingTimer[] } {
    if (snapshot.status !== 'active') return { started: [], timers: [] };
    const info = { context: snapshot.context, event: { type: 'xstate.init', ...stamp } };
    const started = snapshot._nodes.flatMap((node) =>
      invokesOf(node).map((invoke) => this.#startedEffect(invoke, info)),
    );
    const timers = new Map<string, StandingTimer>();
    for (const { delay, eventType: id } of snapshot._nodes.flatMap(({ after }) => after)) {
      timers.set(id, { id, delayMs: this.#delayOf(delay, info), event: { type: id } });
    }
    return { started, timers: [...timers.values()] };
  }

  #delayOf(delay: unknown, info: { context: object; event: AnyEventObject }): number {
    const named = typeof delay === 'string' ? this.#machine.implementations.delays[delay] : delay;
    const delayMs: unknown = typeof named === 'function' ? named(info, undefined) : named;
    if (typeof delayMs === 'number' && Number.isFinite(delayMs)) return delayMs;
    throw new Error(`the delay '${String(delay)}' is ${String(delayMs)}: it must be a finite number of milliseconds`);
  }

  #index(node: AnyStateNode): void {
    for (const { id, src, input } of invokesOf(node)) {
      if (src.startsWith('xstate.invoke.'))
        throw new Error(`${node.id}: name the actor of every invoke, so that it can be found`);
      const name = invokeName({ id, src });
      const other = this.#invokes.get(name);
      if (other && !isDeepStrictEqual(other.input, input)) {
        throw new Error(`${node.id}: another invoke of '${src}' has the id '${id}': give each its own`);
      }
      this.#invokes.set(name, { id, src, input });
    }
    for (const child of Object.values(node.states)) this.#index(child);
  }

  #unplanned(transition: () => AnyMachineSnapshot): PlannedStep {
    this.#asked = [];
    return { snapshot: transition(), asked: this.#asked };
  }

  /** @param before context before the step: plain data */
  #collect(taken: PlannedStep, before: object = {}): MachineStep {
    const snapshot = normal(taken.snapshot, before);
    if (snapshot.status === 'error') throw errorOf(snapshot.error);
    const step: MachineStep = { snapshot, started: [], timers: [], messages: [], emitted: [], answer: undefined };
    for (const action of taken.asked) {
      if (!isHostable(action)) {
        throw new Error(`the machine asks for the action '${action.type}', which no host runs: use emit or messages`);
      }
      this.#sort(action, step);
    }
    return step;
  }

  #sort(action: HostableAction, step: MachineStep): void {
    switch (action.type) {
      case 'xstate.spawnChild':
        step.started.push(this.#startedEffect(action.params, action.info));
        break;
      case 'xstate.raise': {
        const { id, delay, event } = action.params;
        // XState has handled a raise without a delay within the same step.
        if (typeof delay !== 'number') break;
        if (!Number.isFinite(delay))
          throw new Error(`the delay of '${event.type}' is ${delay}: it must be a finite number of milliseconds`);
        step.timers.push({ id, delayMs: delay, event: asData(event) });
        break;
      }
      case 'xstate.cancel':
        step.timers.push({ id: action.params.sendId, cancelled: true });
        break;
      case 'xstate.emit':
        step.emitted.push(action.params.event);
        break;
      case 'messages':
        for (const message of action.params) {
          if ('event' in message && message.event.type.startsWith('xstate.'))
            throw new Error(
              `the machine sends '${message.event.type}' to ${message.to}: XState's own events are no messages`,
            );
          step.messages.push(message);
        }
        break;
      case 'answer':
        step.answer = action.params;
        break;
      case 'xstate.stopChild': // the active states show it
        break;
    }
  }

  /** Resolves the input, as XState does not for an actor without logic. */
  #startedEffect(
    spawned: { id: string; src: string },
    info: Pick<ExecutableActionObject['info'], 'context' | 'event'>,
  ): StartedEffect {
    const invoke = this.#invokes.get(invokeName(spawned));
    if (!invoke) throw new Error(`the machine spawns '${spawned.id}', which is no invoke of its states`);
    const input = typeof invoke.input === 'function' ? invoke.input(info) : invoke.input;
    return { id: invoke.id, src: invoke.src, input: isData(input) ? input : asData({ input }).input };
  }
}

const noTags: ReadonlySet<string> = new Set<string>();

const invokeName = ({ id, src }: { id: string; src: string }): string => `${id} ${src}`;

/**
 * Returns the error of a machine that ended because no transition takes it. Such an error is data, flattened by the
 * engine.
 */
const errorOf = (error: unknown): Error =>
  error instanceof Error
    ? error
    : new Error(`no transition takes the error: ${failureIn({ type: '', error }).message}`);

/**
 * Makes the snapshot as a store would return it: states in document order, a context of plain data. XState loses that
 * order when parallel states are left and entered. Without this, a machine could behave differently after a restart.
 */
function normal(snapshot: AnyMachineSnapshot, before: object = {}): AnyMachineSnapshot {
  // Shares one empty set, as XState makes a new one with each change, and every actor in memory holds one.
  if (snapshot.tags.size === 0 && snapshot.tags !== noTags) Object.assign(snapshot, { tags: noTags });
  const inOrder = snapshot._nodes.every(({ order }, at, nodes) => at === 0 || (nodes[at - 1]?.order ?? 0) < order);
  if (inOrder && isStillData(before, snapshot.context)) return snapshot;
  const nodes = snapshot._nodes.toSorted((one, other) => one.order - other.order);
  return { ...snapshot, _nodes: nodes, context: asData(snapshot.context) };
}

interface InvokeDefinition {
  id: string;
  src: string;
  input?: unknown;
}

/** Removes the logic of all invokes, so that XState makes no child actors. */
function withoutLogic(machine: AnyStateMachine): AnyStateMachine {
  const { actors } = machine.implementations;
  return machine.provide({ actors: Object.fromEntries(Object.keys(actors).map((src) => [src, undefined])) });
}

const invokes = new WeakMap<AnyStateNode, InvokeDefinition[]>();

/**
 * Returns the invokes of a state, and removes them from XState. XState would make two more snapshots per step for
 * children that do not exist here. The last entry action of the state requests the invoke instead.
 */
export function invokesOf(node: AnyStateNode): InvokeDefinition[] {
  const known = invokes.get(node);
  if (known) return known;
  const taken = node.invoke.splice(0).map(({ id, src, input }) => ({ id, src: String(src), input }));
  for (const params of taken) node.entry.push({ type: 'xstate.spawnChild', params });
  invokes.set(node, taken);
  return taken;
}
