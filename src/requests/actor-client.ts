/**
 * Client of the actors of one machine, for requests of users: refuses bad keys, asks, reads, lists, follows, and waits for
 * goals in committed state. A closed client refuses requests and ends all waits.
 */
import type { AnyStateMachine } from 'xstate';
import type { z } from 'zod';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type EventOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { followAs, type TopicReader } from '../engine/topics/topic-reader.js';
import { Waiters } from '../engine/waiters.js';
import { type ErrorCode, messageOf, StagecraftError } from '../errors.js';
import { type Page, type Paging, pageOfActors } from './actor-pages.js';
import { checked } from './fields.js';

/** Kind of actor that users name by a key. */
export interface ActorSubject<M extends AnyStateMachine, Key> {
  machine: M;
  /** Checks a key. @throws {StagecraftError} INVALID_ARGUMENT */
  keyOf(given: unknown): Key;
  addressOf(key: Key): string;
  /** Name for users, e.g. `volume default/data`. */
  nameOf(key: Key): string;
  /** Describes the actor's state; follows `it is` in messages. */
  describe(view: ViewOf<M>): string;
  /** Makes the error for a key without an actor. */
  notFound(key: Key): StagecraftError;
}

export interface ActorClientPorts {
  engine: ActorSystem;
  clock: Clock;
}

/** State that a request waits for. */
export interface ActorGoal<M extends AnyStateMachine, Key, T> {
  key: Key;
  /** Describes the goal; follows `was` in messages. */
  goal: string;
  /** Says what happens to the request if the wait fails; default: the request stands, and the work goes on. */
  standing?: string | undefined;
  /** Returns the awaited result, or undefined. An exception ends the wait. */
  reached(view: ViewOf<M>): T | undefined;
  /** Result if the actor is deleted; absent: a deletion is an error. */
  gone?: T | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

type Awaited<Key> = Pick<ActorGoal<AnyStateMachine, Key, unknown>, 'key' | 'goal' | 'standing'>;

const stands = 'the request stands, and the work goes on';

export class ActorClient<M extends AnyStateMachine, Key> {
  readonly actors: ActorsOf<M>;
  readonly clock: Clock;
  readonly #engine: ActorSystem;
  readonly #subject: ActorSubject<M, Key>;
  readonly #waiters = new Waiters();
  protected readonly closing = new Closing();

  constructor({ engine, clock }: ActorClientPorts, subject: ActorSubject<M, Key>) {
    this.actors = new ActorsOf(engine, subject.machine);
    this.clock = clock;
    this.#engine = engine;
    this.#subject = subject;
    this.actors.observe(({ address }) => this.#waiters.wake(address));
  }

  get isClosed(): boolean {
    return this.closing.reason !== undefined;
  }

  addressOf(key: Key): string {
    return this.#subject.addressOf(key);
  }

  notFound(key: Key): StagecraftError {
    return this.#subject.notFound(key);
  }

  /**
   * Resolves with the answer once the request is committed. A request that seems fulfilled is sent all the same: its opposite may not be
   * committed yet, or another runtime may lead, which only a commit shows.
   * @throws {StagecraftError} the reason of a refusal
   */
  ask(key: Key, request: EventOf<M>, limit?: AbortSignal): Promise<unknown> {
    return this.actors.ask(this.addressOf(key), request, { signal: limit });
  }

  /**
   * Sends a request, as `ask` does, to an actor that must exist: a request would create the record of an unknown one.
   * @throws {StagecraftError} INVALID_ARGUMENT, RUNTIME_CLOSED; the subject's error for a key without an actor
   */
  async askExisting(given: unknown, request: EventOf<M>): Promise<void> {
    const key = this.accept(given);
    if (!(await this.view(key))) throw this.notFound(key);
    await this.ask(key, request);
  }

  /** Returns the committed state; undefined if there is no such actor. @throws as ActorSystem.read */
  view(key: Key, limit?: AbortSignal): Promise<ViewOf<M> | undefined> {
    return this.actors.read(this.addressOf(key), limit);
  }

  /** Returns the committed state of an actor in memory; undefined if there is none. */
  peek(key: Key): ViewOf<M> | undefined {
    return this.actors.peek(this.addressOf(key));
  }

  /** Whether the actor exists, or may soon: its first request may be on its way to the store. */
  has(key: Key): boolean {
    return this.actors.has(this.addressOf(key));
  }

  /** As `view`, for a key that a user has given. @throws {StagecraftError} INVALID_ARGUMENT, RUNTIME_CLOSED */
  async get(given: unknown): Promise<ViewOf<M> | undefined> {
    return this.view(this.accept(given));
  }

  /**
   * Lists one page of the actors that match a filter. Actors created or deleted meanwhile may be missing; all others appear
   * once.
   * @param itemOf returns undefined for an actor that does not match
   * @throws {StagecraftError} INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE, RUNTIME_CLOSED
   */
  async list<F extends Paging, T>(
    schema: z.ZodType<F>,
    given: unknown,
    itemOf: (view: ViewOf<M>, filter: F) => T | undefined,
  ): Promise<Page<T>> {
    this.refuseIfClosed();
    const filter = checked(schema, given, 'the filter');
    return pageOfActors(this.actors, filter, (view) => itemOf(view, filter));
  }

  /**
   * Follows a topic of these actors with the options of a subscriber.
   * @throws {StagecraftError} INVALID_ARGUMENT, RUNTIME_CLOSED; while it is read: CURSOR_EXPIRED, EVENT_DAMAGED
   */
  updates<E>(topic: string, options: unknown, eventOf: (row: FollowedRow) => E | undefined): TopicReader<E> {
    this.refuseIfClosed();
    return followAs(this.#engine, topic, options).reading(eventOf);
  }

  /**
   * Resolves with the result once the goal is reached: each commit of the actor checks it again.
   * @throws {StagecraftError} the error that `reached` throws; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, and
   * the message names its state
   */
  async until<T>(awaited: ActorGoal<M, Key, T>): Promise<T> {
    const { key, goal, reached, gone, timeoutMs, signal } = awaited;
    const address = this.addressOf(key);
    // An idle actor may have been passivated already.
    if (!this.has(key)) await this.view(key, signal).catch((error: unknown) => this.#unreadable(error, awaited));
    const unfinished = (code: ErrorCode, why: string): StagecraftError => this.#unfinished(code, why, awaited);
    const look = (): T | undefined => {
      const view = this.#observed(awaited);
      const found = view && reached(view);
      if (found !== undefined) return found;
      const { reason } = this.closing;
      if (reason) throw unfinished(reason.code, reason.message);
      if (view || gone !== undefined) return view ? undefined : gone;
      const message = `${this.#subject.nameOf(key)} was deleted before it was ${goal}`;
      throw new StagecraftError('ABORTED', message, { address });
    };
    return this.#waiters.until(address, look, { clock: this.clock, timeoutMs, signal, failed: unfinished });
  }

  /** Checks the key of a request. @throws {StagecraftError} INVALID_ARGUMENT, RUNTIME_CLOSED */
  accept(given: unknown): Key {
    this.refuseIfClosed();
    return this.#subject.keyOf(given);
  }

  /** @throws {StagecraftError} the reason given to `close` */
  refuseIfClosed(): void {
    this.closing.refuseIfClosed();
  }

  /** Ends all waits with the error of `peek`, as another runtime leads now. */
  interrupt(): void {
    this.#waiters.wakeAll();
  }

  /** Ends all waits and refuses every later request. */
  close(reason?: StagecraftError): void {
    this.closing.close(reason);
    this.#waiters.wakeAll();
  }

  /**
   * Converts a failed read: only the wait has ended, as the request was committed before.
   * @throws {StagecraftError} with the same code, or the given error
   */
  #unreadable(error: unknown, { key, goal, standing = stands }: Awaited<Key>): never {
    if (!(error instanceof StagecraftError) || error.outcome !== 'refused') throw error;
    const why = error.cause === undefined ? '' : ` (${messageOf(error.cause)})`;
    const name = this.#subject.nameOf(key);
    const message = `the store has not answered${why}: it is not known whether ${name} was ${goal}; ${standing}`;
    throw new StagecraftError(error.code, message, { address: this.addressOf(key), outcome: 'unknown', cause: error });
  }

  /** Returns the committed state. @throws {StagecraftError} if another runtime leads and continues the request */
  #observed({ key, goal, standing }: Awaited<Key>): ViewOf<M> | undefined {
    try {
      return this.peek(key);
    } catch (cause) {
      if (!(cause instanceof StagecraftError)) throw cause;
      const now = standing ?? 'the request stands, and the work goes on there';
      const message = `before ${this.#subject.nameOf(key)} was ${goal}: ${cause.message}; ${now}`;
      throw new StagecraftError(cause.code, message, { address: this.addressOf(key), cause });
    }
  }

  /** Returns undefined also if another runtime leads: the ended wait has an error of its own. */
  #observedIfLed(key: Key): ViewOf<M> | undefined {
    try {
      return this.peek(key);
    } catch (error) {
      if (error instanceof StagecraftError) return undefined;
      throw error;
    }
  }

  #unfinished(code: ErrorCode, why: string, { key, goal, standing = stands }: Awaited<Key>): StagecraftError {
    const view = this.#observedIfLed(key);
    const now = view ? `it is ${this.#subject.describe(view)}` : 'look at it again';
    const message = `${why} before ${this.#subject.nameOf(key)} was ${goal}; ${standing}: ${now}`;
    return new StagecraftError(code, message, { address: this.addressOf(key) });
  }
}
