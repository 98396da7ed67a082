/**
 * Asks and watches the actors of one machine, with the types of that machine. An address begins with the id of its machine:
 * so the state and the context of an actor at that address are of that machine's types.
 */
import type { AnyEventObject, AnyStateMachine, ContextFrom, EventFromLogic, StateValueFrom } from 'xstate';
import type { Stamped } from '../../machines/kit/host.js';
import type { ActorSystem, ActorView, AskOptions } from './actor-system.js';
import { pages } from './storage/pages.js';
import type { StorePage } from './store.js';

/** An actor as committed last. */
export interface ViewOf<M extends AnyStateMachine> extends ActorView {
  state: StateValueFrom<M>;
  context: ContextFrom<M>;
}

/** An event as it is sent: the engine adds the stamp. */
export type EventOf<M extends AnyStateMachine> = Unstamped<EventFromLogic<M>>;
type Unstamped<E> = E extends AnyEventObject ? Omit<E, keyof Stamped> & Pick<E, 'type'> : never;

/** An actor in a listing. */
export type Row<M extends AnyStateMachine> = [address: string, view: ViewOf<M>];

/** A commit of an actor. `view` is absent once the actor is gone. */
export interface CommitOf<M extends AnyStateMachine> {
  address: string;
  view: ViewOf<M> | undefined;
}

/** What holds views of actors, with those of the machine. */
type Typed<M extends AnyStateMachine, T> = T extends ActorView
  ? ViewOf<M>
  : T extends [string, ActorView]
    ? Row<M>
    : T extends Promise<infer Held>
      ? Promise<Typed<M, Held>>
      : T extends Generator<infer Held>
        ? Generator<Typed<M, Held>, void>
        : T extends StorePage<infer Held>
          ? StorePage<Typed<M, Held>>
          : T;

/** A page of a listing. */
export interface PageRange {
  /** The listed addresses begin with it; default: all of the machine. */
  prefix?: string;
  limit?: number;
  /** The `next` of the page before. */
  after?: string | undefined;
}

/** Default limit of a page. */
export const pageSize = 512;

export class ActorsOf<M extends AnyStateMachine> {
  /** All addresses of the machine's actors begin with it. */
  readonly prefix: string;
  readonly #system: ActorSystem;
  readonly #machine: M;

  constructor(system: ActorSystem, machine: M) {
    this.#system = system;
    this.#machine = machine;
    this.prefix = prefixOf(machine);
  }

  /** @see Engine.ask */
  ask(address: string, event: EventOf<M>, options?: AskOptions): Promise<unknown> {
    return this.#system.ask(address, event, options);
  }

  /** @see Engine.read */
  read(address: string, signal?: AbortSignal): Promise<ViewOf<M> | undefined> {
    return this.#typed(address, this.#system.read(address, signal));
  }

  /** @see Engine.peek */
  peek(address: string): ViewOf<M> | undefined {
    return this.#typed(address, this.#system.peek(address));
  }

  /** @see Engine.has */
  has(address: string): boolean {
    return this.#system.has(address);
  }

  /** @see Engine.views */
  views(prefix = this.prefix): Generator<Row<M>, void> {
    return this.#typed(prefix, this.#system.views(prefix));
  }

  /** @see Engine.page */
  page({ prefix = this.prefix, limit = pageSize, after }: PageRange = {}): Promise<StorePage<Row<M>>> {
    return this.#typed(prefix, this.#system.page({ prefix, limit, ...(after !== undefined && { after }) }));
  }

  /** Lists all actors of the machine, in memory or not, in the order of addresses. @throws StagecraftError as `page` does */
  all(prefix = this.prefix): AsyncGenerator<Row<M>, void> {
    return pages((after) => this.page({ prefix, ...after }));
  }

  /** Calls back after each commit of an actor of the machine; the returned function ends it. */
  observe(observer: (commit: CommitOf<M>) => void): () => void {
    return this.#system.observe(({ address, seq, state, context }) => {
      if (!address.startsWith(this.prefix)) return;
      const view = state !== undefined && context ? { seq, state, context } : undefined;
      observer({ address, view: this.#typed(address, view) });
    });
  }

  #typed<T>(address: string, views: T): Typed<M, T> {
    return viewOf(this.#machine, address, views);
  }
}

const prefixOf = ({ id }: AnyStateMachine): string => `${id}/`;

/** What was read at an address, with the types of its machine. @throws TypeError for an address of another machine */
export function viewOf<M extends AnyStateMachine, T>(machine: M, address: string, views: T): Typed<M, T>;
export function viewOf(machine: AnyStateMachine, address: string, views: unknown): unknown {
  if (!address.startsWith(prefixOf(machine))) throw new TypeError(`${address} is not an actor of '${machine.id}'`);
  return views;
}
