/** Callers who wait for what they asked of an actor: each commit of the actor wakes them. */
import type { AnyStateMachine } from 'xstate';
import type { ActorsOf, ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { Waiters } from '../engine/waiters.js';
import { type ErrorCode, messageOf, StagecraftError } from '../errors.js';

export interface ActorWaitsOptions<M extends AnyStateMachine> {
  actors: ActorsOf<M>;
  clock: Clock;
  /** How one is now, in words, after `it is`. */
  describe(view: ViewOf<M>): string;
}

/** One that is waited for. */
interface Awaited {
  address: string;
  /** What its users call it. */
  name: string;
  /** In words, after `was`. */
  goal: string;
  /** What becomes of the request where the wait ends in vain; default: it stands, and the work goes on. */
  standing?: string | undefined;
}

export interface ActorGoal<M extends AnyStateMachine, T> extends Awaited {
  /** What is waited for; absent while it is not there. What it throws ends the wait. */
  reached(view: ViewOf<M>): T | undefined;
  /** The answer where the actor is not there any more; absent: that is an error. */
  gone?: T | undefined;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

const stands = 'the request stands, and the work goes on';

export class ActorWaits<M extends AnyStateMachine> {
  readonly #options: ActorWaitsOptions<M>;
  /** By address: it has committed, or all is over. */
  readonly #waiters = new Waiters();
  #closed: StagecraftError | undefined;

  constructor(options: ActorWaitsOptions<M>) {
    this.#options = options;
    options.actors.observe(({ address }) => this.#waiters.wake(address));
  }

  /**
   * Resolves once it is reached.
   * @throws StagecraftError what `reached` throws; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, and how far it is
   */
  async until<T>({ reached, gone, timeoutMs, signal, ...awaited }: ActorGoal<M, T>): Promise<T> {
    const { actors, clock } = this.#options;
    const { address, name, goal } = awaited;
    // At rest it may have left memory already.
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
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return this.#waiters.until(address, look, { clock, ...limit, signal, failed: unfinished });
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#waiters.wakeAll();
  }

  /** Ends all waiting. */
  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#waiters.wakeAll();
  }

  /** Only the wait has ended: the request was committed before. @throws StagecraftError of the same code; what it was given */
  #unreadable(error: unknown, { address, name, goal, standing = stands }: Awaited): never {
    if (!(error instanceof StagecraftError) || error.outcome !== 'refused') throw error;
    const why = error.cause === undefined ? '' : ` (${messageOf(error.cause)})`;
    const message = `the store has not answered${why}: it can't be seen whether ${name} was ${goal}; ${standing}`;
    throw new StagecraftError(error.code, message, { address, outcome: 'unknown', cause: error });
  }

  /** What is committed. @throws StagecraftError where another runtime leads: what was asked for is its work now */
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

  /** Undefined also where another runtime leads: a wait that has ended by itself has its own error. */
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
