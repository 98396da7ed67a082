/**
 * Parts of an actor: small statecharts, kept as plain data in the record of their owner and stepped inside its steps.
 * A part makes no call, sets no timer and sends nothing: its owner makes the call and gives the part the outcome.
 */
import {
  type ActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type ContextFrom,
  createActor,
  createMachine,
  type EventFromLogic,
  type InputFrom,
  pathToStateValue,
  type StateValueFrom,
} from 'xstate';
import type { Asked } from '../plan/compiled-actions.js';
import type { Configuration } from '../plan/plan.js';
import { type PlannedMachine, plannedOf } from '../plan/planned-machine.js';
import { pathOf } from './state-path.js';

/** All paths of a state value: `'failed.refused'` of `{ failed: 'refused' }`. */
type PathOf<TValue> = TValue extends string
  ? TValue
  : TValue extends object
    ? { [Key in keyof TValue & string]: `${Key}.${PathOf<TValue[Key]>}` }[keyof TValue & string]
    : never;

/** Outer paths of a path: `'a'` and `'a.b'` of `'a.b.c'`. */
type OuterOf<TPath> = TPath extends `${infer Outer}.${infer Inner}` ? Outer | `${Outer}.${OuterOf<Inner>}` : never;

/** Drops outer states: XState's type counts a state with inner ones as a value of its own. */
type Innermost<TPath> = Exclude<TPath, OuterOf<TPath>>;

/** States that a chart can be in, as dotted paths. */
type StatePath<TMachine extends AnyStateMachine> = Innermost<PathOf<StateValueFrom<TMachine>>>;

/** Data of a part, and the path of its state: `{ at: 'pending-publish', … }`. */
export type Part<TMachine extends AnyStateMachine> = ContextFrom<TMachine> & { at: StatePath<TMachine> };

/** Statement of a chart about one of its phases. */
export interface PhaseMeta<TShown extends string, TKind extends string> {
  /** State that users see. */
  shownAs?: TShown;
  /** Kind of the call that the phase wants; absent: none. */
  call?: TKind;
}

type MetaOf<TMachine extends AnyStateMachine> = Partial<NonNullable<TMachine['root']['meta']>>;
type ShownBy<TMachine extends AnyStateMachine> = NonNullable<MetaOf<TMachine>['shownAs']>;

/** View of a part for people and programs. */
export interface PartView {
  /** Name of the part within its owner: `publication/worker-1`. */
  id: string;
  /** Name of the chart: docs/machines has a page with this name. `alloc-volume`: the table of steps in docs/mounts.md. */
  chart: string;
  /** Path of the state: `in-doubt.backing-off`. */
  at: string;
  /** The state in a few words. Absent: its name says enough. */
  words?: string;
  /** Last failure, or what the part waits for. */
  why?: string;
  /** Moment of the next attempt, in milliseconds since the epoch, only while the part waits for that moment. */
  nextAttemptAtMs?: number;
}

/** Compares the parts of an actor before and after a step. */
export function partChanges(
  before: readonly PartView[],
  after: readonly PartView[],
): { id: string; before?: string; part?: PartView }[] {
  const was = new Map(before.map((part) => [part.id, part]));
  const changes: { id: string; before?: string; part?: PartView }[] = [];
  for (const part of after) {
    const earlier = was.get(part.id);
    was.delete(part.id);
    const isSame = earlier?.at === part.at && earlier.why === part.why;
    if (!isSame) changes.push({ id: part.id, ...(earlier && { before: earlier.at }), part });
  }
  for (const { id, at } of was.values()) changes.push({ id, before: at });
  return changes;
}

/** Begins and steps the parts that one machine describes. Pure: the same part comes back where nothing changes. */
export class Chart<TMachine extends AnyStateMachine> {
  readonly #machine: TMachine;
  readonly #scope: ActorScope<AnyMachineSnapshot, AnyEventObject>;
  readonly #planned: PlannedMachine | undefined;
  /** Places by path. */
  readonly #places = new Map<string, Place<MetaOf<TMachine>>>();

  /** @param machine without parallel states, timers, invokes and messages; those throw in the step that asks for them */
  constructor(machine: TMachine) {
    this.#machine = machine;
    this.#scope = scopeOf(machine);
    this.#planned = plannedOf(machine, this.#scope);
  }

  begin(input: InputFrom<TMachine>): Part<TMachine> {
    const planned = this.#planned?.begin(input);
    this.#refuseAsked(planned?.asked ?? []);
    return partOf(planned?.snapshot ?? this.#machine.getInitialSnapshot(this.#scope, input));
  }

  /**
   * @throws Error if no state that the part is in knows the event, or the part has ended: its owner has lost track of
   *   it
   */
  step(part: Part<TMachine>, event: EventFromLogic<TMachine>): Part<TMachine> {
    const { at } = part;
    const { template, states, events } = this.#placeOf(at);
    if (!events.has(event.type))
      throw new Error(`${this.#machine.id} does not expect '${event.type}' while it is ${at}`);
    const moved = states && this.#planned?.stepFrom(states, part, event);
    if (moved) {
      this.#refuseAsked(moved.asked);
      const { context, states: reached } = moved;
      if (context !== part) return partAt(reached.path, context);
      return reached === states ? part : partAt(reached.path, { ...context });
    }
    const next = this.#machine.transition({ ...template, context: part }, event, this.#scope);
    return next.context === part && pathOf(next.value) === at ? part : partOf(next);
  }

  /** Whether the state that the part is in, or one around it, takes the event. */
  takes({ at }: Part<TMachine>, type: string): boolean {
    return this.#placeOf(at).events.has(type);
  }

  /**
   * State that users see.
   * @throws Error if the chart says none of this phase
   */
  shownAs(part: { at: string }): ShownBy<TMachine> {
    const { shownAs } = this.metaOf(part);
    if (!shownAs) throw new Error(`${this.#machine.id} has no state to show to users while it is ${part.at}`);
    return shownAs;
  }

  /** Returns what the chart says of the phase. An inner state adds to what the state around it says. */
  metaOf({ at }: { at: string }): MetaOf<TMachine> {
    return this.#placeOf(at).meta;
  }

  #refuseAsked(asked: readonly Asked[]): void {
    for (const { type } of asked) refuse(this.#machine, type);
  }

  #placeOf(at: string): Place<MetaOf<TMachine>> {
    let known = this.#places.get(at);
    if (!known) {
      const template = this.#machine.resolveState({ value: pathToStateValue(at.split('.')), context: {} });
      const nodes: AnyStateNode[] = template._nodes;
      const hasEnded = nodes.some(({ type }) => type === 'final');
      const events = new Set(hasEnded ? [] : nodes.flatMap(({ transitions }) => [...transitions.keys()]));
      const fromOutside = nodes.toSorted((one, other) => one.path.length - other.path.length);
      const meta: MetaOf<TMachine> = Object.assign({}, ...fromOutside.map((node) => node.meta));
      known = { template, states: this.#planned?.configurationOf(template), events, meta };
      this.#places.set(at, known);
    }
    return known;
  }
}

/** State that a part can be in. */
interface Place<TMeta> {
  /** A snapshot in that state, without its context. */
  template: AnyMachineSnapshot;
  /** Configuration of the plan; absent: XState takes all steps. */
  states: Configuration | undefined;
  /** Events that the state or one around it takes; none if the part has ended. */
  events: ReadonlySet<string>;
  meta: TMeta;
}

/** Whether the part is in this state, or in one within it. */
export const isIn = <TPath extends string>(
  { at }: { at: TPath },
  state: NoInfer<TPath> | OuterOf<NoInfer<TPath>>,
): boolean => at === state || at.startsWith(`${state}.`);

/** Outermost state that the part is in. */
export function topState({ at }: { at: string }): string {
  const dot = at.indexOf('.');
  return dot < 0 ? at : at.slice(0, dot);
}

function refuse({ id }: AnyStateMachine, type: string): never {
  throw new Error(`${id} is a part, and asks for '${type}': that is for its owner to do`);
}

function scopeOf(machine: AnyStateMachine): ActorScope<AnyMachineSnapshot, AnyEventObject> {
  const self = createActor(createMachine({}));
  const nothing = (): void => {};
  return {
    ...{ self, id: machine.id, sessionId: machine.id, system: self.system },
    ...{ logger: nothing, defer: nothing, emit: nothing, stopChild: nothing },
    actionExecutor: ({ type }) => refuse(machine, type),
  };
}

function partOf<TMachine extends AnyStateMachine>({
  status,
  error,
  value,
  context,
}: AnyMachineSnapshot): Part<TMachine> {
  if (status === 'error') throw error;
  return partAt(pathOf(value), { ...context });
}

/**
 * Makes a part of a context that nothing else has. Makes another object if something in it is undefined: one that loses a
 * property is slow in V8 from then on.
 */
function partAt<TMachine extends AnyStateMachine>(
  path: string,
  context: AnyMachineSnapshot['context'],
): Part<TMachine> {
  const part = hasUndefined(context) ? definedIn(context) : context;
  part.at = path;
  return part;
}

function hasUndefined(context: AnyMachineSnapshot['context']): boolean {
  for (const key in context) if (context[key] === undefined) return true;
  return false;
}

function definedIn(context: AnyMachineSnapshot['context']): AnyMachineSnapshot['context'] {
  const defined: AnyMachineSnapshot['context'] = {};
  for (const key in context) if (context[key] !== undefined) defined[key] = context[key];
  return defined;
}
