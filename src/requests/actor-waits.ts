/** Waits for the goal of a request to an actor; each commit of the actor checks the goal again. */
import type { AnyStateMachine } from 'xstate';
import type { ActorsOf, ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { Waiters } from '../engine/waiters.js';
import { type ErrorCode, messageOf, StagecraftError } from '../errors.js';

interface ActorWaitsOptions<M extends AnyStateMachine> {
  actors: ActorsOf<M>;
  clock: Clock;
  /** Describes the actor's state; follows `it is` in messages. */
  describe(view: ViewOf<M>): string;
}

/** Names in the messages of a wait. */
interface Awaited {
  address: string;
  /** Name of the subject for users, e.g. `volume default/data`. */
  name: string;
  /** Describes the goal; follows `was` in messages. */
  goal: string;
  /** Says what happens to the request if the wait fails; default: the request stands, and the work goes on. */
  standing?: string | undefined;
}

interface ActorGoal<M extends AnyStateMachine, T> extends Awaited {
  /** Returns the awaited result, or undefined. An exception ends the wait. */
  reached(view: ViewOf<M>): T | undefined;
  /** Result if the actor is deleted; absent: a deletion is an error. */
  gone?: T | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

const stands = 'the request stands, and the work goes on';

export class ActorWaits<M extends AnyStateMachine> {
  readonly #options: ActorWaitsOptions<M>;
  readonly #waiters = new Waiters();
  #closed: StagecraftError | undefined;

  constructor(options: ActorWaitsOptions<M>) {
    this.#options = options;
    options.actors.observe(({ address }) => this.#waiters.wake(address));
  }

  /**
   * Resolves with the result once the goal is reached.
   * @throws {StagecraftError} the error that `reached` throws; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, and
   * the message names its state
   */
  async until<T>(awaited: ActorGoal<M, T>): Promise<T> {
    const { actors, clock } = this.#options;
    const { address, name, goal, reached, gone, timeoutMs, signal } = awaited;
    // An idle actor may have been passivated already.
    if (!actors.has(address))
      await actors.read(address, signal).catch((error: unknown) => this.#unreadable(error, awaited));
    const unfinished = (code: ErrorCode, why: string): StagecraftError => this.#unfinished(code, why, awaited);
    const look = (): T | undefined => {
      const view = this.#seen(awaited);
      const found = view && reached(view);
      if (found !== undefined) return found;
      if (this.#closed) throw unfinished(this.#closed.code, this.#closed.message);
      if (view || gone !== undefined) return view ? undefined : gone;
      throw new StagecraftError('ABORTED', `${name} was deleted before it was ${goal}`, { address });
    };
    return this.#waiters.until(address, look, { clock, timeoutMs, signal, failed: unfinished });
  }

  /** Fails all waits, as another runtime leads now: `peek` throws. */
  interrupt(): void {
    this.#waiters.wakeAll();
  }

  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#waiters.wakeAll();
  }

  /**
   * Converts a failed read: only the wait has ended, as the request was committed before.
   * @throws {StagecraftError} with the same code, or the given error
   */
  #unreadable(error: unknown, { address, name, goal, standing = stands }: Awaited): never {
    if (!(error instanceof StagecraftError) || error.outcome !== 'refused') throw error;
    const why = error.cause === undefined ? '' : ` (${messageOf(error.cause)})`;
    const message = `the store has not answered${why}: it is not known whether ${name} was ${goal}; ${standing}`;
    throw new StagecraftError(error.code, message, { address, outcome: 'unknown', cause: error });
  }

  /** Returns the committed state. @throws {StagecraftError} if another runtime leads and continues the request */
  #seen({ address, name, goal, standing }: Awaited): ViewOf<M> | undefined {
    try {
      return this.#options.actors.peek(address);
    } catch (cause) {
      if (!(cause instanceof StagecraftError)) throw cause;
      const now = standing ?? 'the request stands, and the work goes on there';
      const message = `before ${name} was ${goal}: ${cause.message}; ${now}`;
      throw new StagecraftError(cause.code, message, { address, cause });
    }
  }

  /** Returns undefined also if another runtime leads: the ended wait has an error of its own. */
  #seenIfLed(address: string): ViewOf<M> | undefined {
    try {
      return this.#options.actors.peek(address);
    } catch (error) {
      if (error instanceof StagecraftError) return undefined;
      throw error;
    }
  }

  #unfinished(code: ErrorCode, why: string, awaited: Awaited): StagecraftError {
    const { address, name, goal, standing = stands } = awaited;
    const view = this.#seenIfLed(address);
    const now = view ? `it is ${this.#options.describe(view)}` : 'look at it again';
    return new StagecraftError(code, `${why} before ${name} was ${goal}; ${standing}: ${now}`, { address });
  }
}
