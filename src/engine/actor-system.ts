/**
 * Port through which all other rooms ask, read and watch actors. Implemented by Engine (engine.ts), and by
 * ElectedEngine where several runtimes compete for one lease.
 */
import type { AnyEventObject, StateValue } from 'xstate';
import type { CommitNotice } from './actor/actor-ports.js';
import type { LiveEffect, LiveTimer } from './actor/actor-record.js';
import type { Cursor, Range, StorePage } from './store.js';
import type { FollowedRow } from './topics/event-ids.js';
import type { TopicReader } from './topics/topic-reader.js';

export interface AskOptions {
  /** Repeats with the same id get the same answer, also after a restart. */
  requestId?: string | undefined;
  /**
   * Ends the wait: with ABORTED, or with STORE_UNAVAILABLE if its reason is a TimeOver. A request that has not begun is
   * dropped.
   */
  signal?: AbortSignal | undefined;
}

/** Committed state of an actor. */
export interface ActorView {
  seq: number;
  /** Moment of its last commit, in milliseconds since the epoch. Absent: not known. */
  at?: number;
  state: StateValue;
  context: object;
}

/** Effects and timers that the state of an actor asks for. */
export interface ActorWork {
  /** `sentAtMs`: when the request went out, in milliseconds since the epoch. Absent: not sent yet. */
  effects: (LiveEffect & { sentAtMs?: number })[];
  timers: LiveTimer[];
}

/** An actor as it is now. */
export interface ActorInspection extends ActorView, ActorWork {
  /** Version of its machine. */
  version: string;
  /** Number of messages of other actors that it has still to apply. */
  unread: number;
  /** Why it is out of service; absent: it is in service. */
  quarantined?: string;
}

export type ActorRow = [address: string, view: ActorView];

/** Actor whose record can't be read. */
export interface UnreadableActor {
  address: string;
  reason: string;
}

/** Page of a listing. A record that can't be read is left out. */
export interface ActorPage<Row = ActorRow> extends StorePage<Row> {
  /** Actors left out. Absent: none was. */
  skipped?: UnreadableActor[];
}

export interface ActorSystem {
  /**
   * Sends an event to an actor. Resolves with the actor's answer once the step is committed. Waits five seconds for a
   * store that gives no answer.
   * @throws {StagecraftError} the error that the machine answers; ACTOR_NOT_FOUND, ACTOR_CRASHED, ACTOR_QUARANTINED,
   * INVALID_ARGUMENT, STORE_UNAVAILABLE, FENCED, NOT_LEADER, RUNTIME_CLOSED
   */
  ask(address: string, event: AnyEventObject, options?: AskOptions): Promise<unknown>;

  /**
   * Returns the committed state of an actor; undefined if no actor has the address. Loads the actor if it is not in
   * memory.
   * @throws {StagecraftError} ACTOR_QUARANTINED; ACTOR_NOT_FOUND if this runtime does not host the actor;
   * STORE_UNAVAILABLE, ABORTED, RUNTIME_CLOSED
   */
  read(address: string, signal?: AbortSignal): Promise<ActorView | undefined>;

  /**
   * Returns what `read` would resolve with, if that is known at once: the actor is in memory and in service. Else undefined.
   */
  readNow(address: string): { view: ActorView | undefined } | undefined;

  /**
   * Returns a page of the committed actors under a prefix, in memory or not, ordered by address. One whose record can't be
   * read stops nobody: it is left out, and named.
   * @throws {StagecraftError} STORE_UNAVAILABLE, RUNTIME_CLOSED
   */
  page(range: Range): Promise<ActorPage>;

  /** Returns the committed state of an actor in memory. */
  peek(address: string): ActorView | undefined;

  /**
   * Tells whether an actor is in memory. Actors that are loading or quarantined count; one that was looked up and does not
   * exist does not.
   */
  has(address: string): boolean;

  /** Iterates over the committed states of actors in memory whose address begins with the prefix. */
  views(prefix: string): Generator<ActorRow>;

  /** Calls `observer` for each step after its commit, in order per actor. `peek` may tell of a later step by then. @returns a function that unsubscribes */
  observe(observer: (notice: CommitNotice) => void): () => void;

  /** @see Topics.follow */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow>;

  /** Returns the trouble if the store answers nothing, or has left a call unanswered for `forMs` milliseconds. */
  storeTrouble(forMs?: number): Error | undefined;
}
