/**
 * One input of a machine and what it asks for, told by XState alone: the harness's own opinion, apart from the engine's
 * hosted-machine.ts. Every step begins from stored text, as if the process had died before each of them.
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
  StateMachine,
} from 'xstate';
import type { AnswerParams, MessageParams } from '../../machines/kit/host.js';

export interface Asked {
  /** As text would give it back; absent where the actor is gone. */
  snapshot: { value: unknown; context: unknown } | undefined;
  started: { id: string; src: string; input: unknown }[];
  timers: ({ id: string; cancelled: true } | { id: string | undefined; delayMs: number; event: AnyEventObject })[];
  messages: MessageParams[];
  emitted: AnyEventObject[];
  answer: AnswerParams | undefined;
  /** Ids of invokes whose states are active afterwards. */
  active: Set<string>;
}

interface Given {
  snapshot: object | undefined;
  input: object | undefined;
  event: AnyEventObject | undefined;
}

export class Stepper {
  readonly #machine: AnyStateMachine;
  readonly #scope: ActorScope<AnyMachineSnapshot, AnyEventObject>;
  /** What each invoke is given, by its id. */
  readonly #inputs = new Map<string, unknown>();
  #actions: ExecutableActionObject[] = [];

  constructor(machine: AnyStateMachine) {
    const actors = Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, undefined]));
    // Its own copy, where the engine's is shared: what the engine does to that must not show here.
    this.#machine = StateMachine.prototype.provide.call(machine, { actors });
    this.#index(this.#machine.root);
    const self = createActor(createMachine({}));
    const nothing = (): void => {};
    this.#scope = {
      ...{ self, id: machine.id, sessionId: machine.id, system: self.system },
      ...{ logger: nothing, defer: nothing, emit: nothing, stopChild: nothing },
      actionExecutor: (action) => {
        this.#actions.push(action);
      },
    };
  }

  /** Throws what the machine throws. */
  step({ snapshot, input, event }: Given): Asked {
    this.#actions = [];
    const before = input
      ? this.#machine.getInitialSnapshot(this.#scope, input)
      : this.#restored(snapshot ?? { value: {}, context: {} });
    const after = event ? this.#machine.transition(before, event, this.#scope) : before;
    if (after.status === 'error') throw after.error;
    return this.#asked(after);
  }

  #restored(snapshot: object): AnyMachineSnapshot {
    const ended = { output: undefined, error: undefined, historyValue: {}, children: {} };
    const restored = this.#machine.restoreSnapshot({ status: 'active', ...ended, ...snapshot }, this.#scope);
    return { ...restored, _nodes: restored._nodes.toSorted((one, other) => one.order - other.order) };
  }

  #asked(after: AnyMachineSnapshot): Asked {
    const isGone = after.status === 'done' || after.hasTag('absent');
    const asked: Asked = {
      snapshot: isGone ? undefined : plain({ value: after.value, context: after.context }),
      ...{ started: [], timers: [], messages: [], emitted: [], answer: undefined },
      active: new Set(after._nodes.flatMap((node) => node.invoke.map(({ id }) => id))),
    };
    for (const action of this.#actions) this.#sort(action, asked);
    return asked;
  }

  /** The parameters of XState's own actions are not typed. */
  #sort({ type, params, info }: { type: string; params?: unknown; info: unknown }, asked: Asked): void {
    const given: Record<string, unknown> = params instanceof Object ? { ...params } : {};
    switch (type) {
      case 'xstate.spawnChild': {
        const id = String(given.id);
        asked.started.push({ id, src: String(given.src), input: plain(this.#inputOf(id, info)) ?? null });
        break;
      }
      case 'xstate.raise':
        if (typeof given.delay !== 'number' || !isEvent(given.event)) break;
        asked.timers.push({
          id: given.id === undefined ? undefined : String(given.id),
          delayMs: given.delay,
          event: plain(given.event),
        });
        break;
      case 'xstate.cancel':
        asked.timers.push({ id: String(given.sendId), cancelled: true });
        break;
      case 'xstate.emit':
        if (isEvent(given.event)) asked.emitted.push(plain(given.event));
        break;
      case 'messages':
        if (isMessages(params)) asked.messages.push(...plain(params));
        break;
      case 'answer':
        if (isAnswer(params)) asked.answer = plain(params);
        break;
    }
  }

  #inputOf(id: string, info: unknown): unknown {
    const input = this.#inputs.get(id);
    return typeof input === 'function' ? input(info) : input;
  }

  #index(node: AnyStateNode): void {
    for (const { id, input } of node.invoke) this.#inputs.set(id, input);
    for (const child of Object.values(node.states)) this.#index(child);
  }
}

/** As it comes back from text. */
export const plain = <T>(value: T): T => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

const isEvent = (value: unknown): value is AnyEventObject => value instanceof Object && 'type' in value;
const isMessages = (value: unknown): value is MessageParams[] => Array.isArray(value);
const isAnswer = (value: unknown): value is AnswerParams =>
  value instanceof Object && ('value' in value || 'error' in value);
