/** What the rest of the house may ask of a host of actors. The engine is one; so is an engine whose lease others may hold. */
import type { AnyEventObject, StateValue } from 'xstate';
import type { CommitNotice } from './actor/actor-ports.js';
import type { Cursor, Range, StorePage } from './store.js';
import type { FollowedRow } from './topics/event-ids.js';
import type { TopicReader } from './topics/topic-reader.js';

export interface AskOptions {
  /** A repeat with the same id gets the same answer, also after a restart. */
  requestId?: string | undefined;
  /** Ends the wait: ABORTED, or STORE_UNAVAILABLE where its reason is a TimeOver. What was not begun is not done then. */
  signal?: AbortSignal | undefined;
}

/** An actor as committed last. */
export interface ActorView {
  seq: number;
  state: StateValue;
  context: object;
}

/** An actor in a listing. */
export type ActorRow = [address: string, view: ActorView];

export interface ActorSystem {
  /**
   * Sends an actor an event. Resolves with its answer once that is committed; waits for a store that gives no answer
   * for five seconds.
   * @throws StagecraftError what the machine answers; ACTOR_NOT_FOUND, ACTOR_CRASHED, ACTOR_QUARANTINED,
   *   INVALID_ARGUMENT, STORE_UNAVAILABLE, FENCED, NOT_LEADER, RUNTIME_CLOSED
   */
  ask(address: string, event: AnyEventObject, options?: AskOptions): Promise<unknown>;

  /**
   * The committed state of an actor, loaded if it is not in memory; undefined if there is none.
   * @throws StagecraftError ACTOR_QUARANTINED, ACTOR_NOT_FOUND where it is not of this runtime, STORE_UNAVAILABLE, ABORTED,
   *   RUNTIME_CLOSED
   */
  read(address: string, signal?: AbortSignal): Promise<ActorView | undefined>;

  /**
   * A page of the committed actors under a prefix, in the order of addresses, in memory or not.
   * @throws StagecraftError STORE_UNAVAILABLE, RUNTIME_CLOSED
   */
  page(range: Range): Promise<StorePage<ActorRow>>;

  /** The committed state of an actor in memory. */
  peek(address: string): ActorView | undefined;

  /** Whether an actor is in memory, also one that is being loaded, or is out of service. */
  has(address: string): boolean;

  /** The committed state of each actor in memory whose address begins with the prefix. */
  views(prefix: string): Generator<ActorRow>;

  /** Calls back after each commit, in order per actor; the returned function ends it. */
  observe(observer: (notice: CommitNotice) => void): () => void;

  /** @see Topics.follow */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow>;

  /** Trouble with the store: it answers nothing, or has left a call unanswered for `forMs`. Absent: none. */
  storeTrouble(forMs?: number): Error | undefined;
}
