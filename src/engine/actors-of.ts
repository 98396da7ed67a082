/**
 * Typed view of the actors of one machine. Each address begins with the id of its machine, so the prefix decides the
 * types of state and context.
 */

import type { AnyEventObject, AnyStateMachine, ContextFrom, EventFromLogic, StateValueFrom } from 'xstate';
import type { Stamped } from '../../machines/kit/host.js';
import type { CommitNotice } from './actor/actor-ports.js';
import type { ActorPage, ActorSystem, ActorView, AskOptions, UnreadableActor } from './actor-system.js';
import { askedBy } from './asked-by.js';
import { pages } from './storage/pages.js';

/** Committed state of an actor, typed by its machine. */
export interface ViewOf<M extends AnyStateMachine> extends ActorView {
  state: StateValueFrom<M>;
  context: ContextFrom<M>;
}

/** Event of the machine without its stamp, which the engine adds. */
export type EventOf<M extends AnyStateMachine> = Unstamped<EventFromLogic<M>>;
type Unstamped<E> = E extends AnyEventObject ? Omit<E, keyof Stamped> & Pick<E, 'type'> : never;

type Row<M extends AnyStateMachine> = [address: string, view: ViewOf<M>];

/** Commit of an actor. `view` is absent once the actor is deleted. */
export interface CommitOf<M extends AnyStateMachine> {
  address: string;
  view: ViewOf<M> | undefined;
  /** Event that led to the commit, as far as known. */
  event?: AnyEventObject | undefined;
  /** Broadcasts of the commit, as far as known. */
  events: readonly { topic: string; event: AnyEventObject }[];
}

/** Replaces ActorView by the machine's ViewOf inside rows, promises, generators and pages. */
type Typed<M extends AnyStateMachine, T> = T extends ActorView
  ? ViewOf<M>
  : T extends [string, ActorView]
    ? Row<M>
    : T extends Promise<infer Held>
      ? Promise<Typed<M, Held>>
      : T extends Generator<infer Held>
        ? Generator<Typed<M, Held>, void>
        : T extends ActorPage<infer Held>
          ? ActorPage<Typed<M, Held>>
          : T;

interface PageRange {
  /** Common prefix of the listed addresses; default: all actors of the machine. */
  prefix?: string;
  limit?: number;
  /** `next` of the previous page. */
  after?: string | undefined;
}

export const pageSize = 512;

export class ActorsOf<M extends AnyStateMachine> {
  /** Common prefix of all addresses of the machine's actors. */
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

  /** Sends what the runtime has found by itself: the journal names the runtime, as no caller has asked for it. */
  report(address: string, event: EventOf<M>): Promise<unknown> {
    return askedBy('runtime', () => this.#system.ask(address, event));
  }

  /** @see Engine.read */
  read(address: string, signal?: AbortSignal): Promise<ViewOf<M> | undefined> {
    const known = this.#system.readNow(address);
    return this.#typed(address, known ? Promise.resolve(known.view) : this.#system.read(address, signal));
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
  page({ prefix = this.prefix, limit = pageSize, after }: PageRange = {}): Promise<ActorPage<Row<M>>> {
    return this.#typed(prefix, this.#system.page({ prefix, limit, ...(after !== undefined && { after }) }));
  }

  /**
   * Lists all actors of the machine, in memory or not, ordered by address. @param skipped called for each whose record can't
   * be read @throws {StagecraftError} as `page` does
   */
  all(skipped?: (actor: UnreadableActor) => void): AsyncGenerator<Row<M>, void> {
    return pages(async (after) => {
      const page = await this.page(after);
      if (skipped) page.skipped?.forEach(skipped);
      return page;
    });
  }

  /** Calls `observer` for each step of an actor of the machine, after its commit. @returns a function that unsubscribes */
  observe(observer: (commit: CommitOf<M>) => void): () => void {
    return this.#system.observe((notice) => {
      const { address, entry, events = none } = notice;
      if (!address.startsWith(this.prefix)) return;
      observer({
        address,
        view: this.#typed(address, hasView(notice) ? notice : undefined),
        event: entry.event,
        events,
      });
    });
  }

  #typed<T>(address: string, views: T): Typed<M, T> {
    return viewOf(this.#machine, address, views);
  }
}

const none: readonly never[] = Object.freeze([]);

/** Whether the actor exists after the commit. */
const hasView = (notice: CommitNotice): notice is CommitNotice & ActorView =>
  notice.state !== undefined && notice.context !== undefined;

const prefixOf = ({ id }: AnyStateMachine): string => `${id}/`;

/**
 * Adds the machine's types to views read at an address. @throws {TypeError} if the address belongs to another machine
 */
export function viewOf<M extends AnyStateMachine, T>(machine: M, address: string, views: T): Typed<M, T>;
export function viewOf(machine: AnyStateMachine, address: string, views: unknown): unknown {
  if (!address.startsWith(prefixOf(machine))) throw new TypeError(`${address} is not an actor of '${machine.id}'`);
  return views;
}

/** Orders listings by address, the order in which stores list. */
export const byAddress =
  <T>(addressOf: (one: T) => string) =>
  (one: T, other: T): number =>
    addressOf(one) < addressOf(other) ? -1 : 1;
