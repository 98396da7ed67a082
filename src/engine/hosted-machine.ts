/**
 * A machine, driven through XState's pure interface: an event goes in, the next snapshot and all that it asks for
 * come out, as data; nothing runs. One scope per machine is built once and used for every actor of its kind.
 * Knows XState, but no store and no mailbox. What becomes of a step: actor.ts
 */
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
import type { AnswerParams, MessageParams } from '../../machines/host.js';

/** The snapshot of a machine that has not ended, as it is stored: plain JSON, without children. */
export interface PersistedSnapshot {
  value: StateValue;
  context: object;
  historyValue?: Record<string, { id: string }[]>;
}

/** What one event led to. */
export interface Step {
  snapshot: AnyMachineSnapshot;
  /** Invokes of states that were entered, in order. */
  started: StartedEffect[];
  timers: TimerChange[];
  messages: MessageParams[];
  /** Events that the machine emitted, to be broadcast. */
  emitted: AnyEventObject[];
  answer: AnswerParams | undefined;
}

export interface StartedEffect {
  id: string;
  src: string;
  input: unknown;
}

export type TimerChange = { id: string; cancelled: true } | { id: string; delayMs: number; event: AnyEventObject };

/** Transitions that one event may cause before it counts as a loop without end. */
const maxMicrosteps = 1_000;

interface InvokeDefinition {
  id: string;
  src: string;
  input?: unknown;
}

/** What XState 5.33 hands to an executor, and our own two; seen, not typed there. */
type HostableAction = { info: ExecutableActionObject['info'] } & (
  | { type: 'xstate.spawnChild'; params: { id: string } }
  | { type: 'xstate.raise'; params: { id: string; delay: number | undefined; event: AnyEventObject } }
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

export class HostedMachine {
  readonly #machine: AnyStateMachine;
  readonly #scope: ActorScope<AnyMachineSnapshot, AnyEventObject>;
  readonly #invokes = new Map<string, InvokeDefinition>();
  #actions: ExecutableActionObject[] = [];

  constructor(machine: AnyStateMachine) {
    const unboundActors = Object.fromEntries(
      Object.keys(machine.implementations.actors).map((src) => [src, undefined]),
    );
    // Without logic XState makes no child actor for an invoke: the engine runs it, after the commit.
    this.#machine = machine.provide({ actors: unboundActors });
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
        this.#actions.push(action);
      },
    };
  }

  get name(): string {
    return this.#machine.id;
  }

  get version(): string {
    return this.#machine.version ?? '1';
  }

  /** The first step of an actor. Throws what its context, guards and actions throw. */
  begin(input: object): Step {
    return this.#collect(() => this.#machine.getInitialSnapshot(this.#scope, input));
  }

  /** Throws what guards and actions throw; the snapshot given is not changed. */
  step(snapshot: AnyMachineSnapshot, event: AnyEventObject): Step {
    return this.#collect(() => this.#machine.transition(snapshot, event, this.#scope));
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
   * @throws Error if the machine has no such state
   */
  restore(persisted: PersistedSnapshot): AnyMachineSnapshot {
    const ended = { output: undefined, error: undefined };
    const whole = { status: 'active' as const, ...ended, historyValue: {}, children: {}, ...persisted };
    return this.#machine.restoreSnapshot(whole, this.#scope);
  }

  /** Ids of the invokes that this snapshot's states keep running. */
  activeInvokes(snapshot: AnyMachineSnapshot): Set<string> {
    if (snapshot.status !== 'active') return new Set();
    return new Set(snapshot._nodes.flatMap((node) => node.invoke.map((invoke) => invoke.id)));
  }

  #index(node: AnyStateNode): void {
    for (const { id, src, input } of node.invoke) {
      if (typeof src !== 'string')
        throw new Error(`${node.id}: name the actor of every invoke, so that it can be found`);
      this.#invokes.set(id, { id, src, input });
    }
    for (const child of Object.values(node.states)) this.#index(child);
  }

  #collect(transition: () => AnyMachineSnapshot): Step {
    this.#actions = [];
    const snapshot = transition();
    if (snapshot.status === 'error') throw snapshot.error;
    const step: Step = { snapshot, started: [], timers: [], messages: [], emitted: [], answer: undefined };
    for (const action of this.#actions) {
      if (!isHostable(action)) {
        throw new Error(`the machine asks for the action '${action.type}', which no host runs: use emit or messages`);
      }
      this.#sort(action, step);
    }
    return step;
  }

  #sort(action: HostableAction, step: Step): void {
    switch (action.type) {
      case 'xstate.spawnChild':
        step.started.push(this.#startedEffect(action.params.id, action.info));
        break;
      case 'xstate.raise': {
        const { id, delay, event } = action.params;
        // Without a delay XState has taken it within the same step already.
        if (typeof delay === 'number') step.timers.push({ id, delayMs: delay, event });
        break;
      }
      case 'xstate.cancel':
        step.timers.push({ id: action.params.sendId, cancelled: true });
        break;
      case 'xstate.emit':
        step.emitted.push(action.params.event);
        break;
      case 'messages':
        step.messages.push(...action.params);
        break;
      case 'answer':
        step.answer = action.params;
        break;
      case 'xstate.stopChild': // told by the states that are active afterwards
        break;
    }
  }

  /** XState leaves the input of an actor without logic unresolved. */
  #startedEffect(id: string, info: ExecutableActionObject['info']): StartedEffect {
    const invoke = this.#invokes.get(id);
    if (!invoke) throw new Error(`the machine spawns '${id}', which is no invoke of its states`);
    const input = typeof invoke.input === 'function' ? invoke.input(info) : invoke.input;
    return { id, src: invoke.src, input };
  }
}
