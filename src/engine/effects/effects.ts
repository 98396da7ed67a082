/** What the engine does for machines once they are committed: the port that effects stand behind. */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import type { PersistedSnapshot } from '../machine/hosted-machine.js';

/** One run of an effect: an `invoke` of a committed snapshot. */
export interface EffectCall<TInput = unknown> {
  address: string;
  /** The `id` of the invoke. */
  id: string;
  /** The `src` of the invoke. */
  src: string;
  /**
   * The seq of the commit that asked for it: with address and id, the name of this very run. A restart takes it up
   * under the same name; after a result that made its machine crash it is asked for anew.
   */
  seq: number;
  input: TInput;
  /** Aborted when the state is left, the deadline has passed or the runtime ends. */
  signal: AbortSignal;
  /**
   * Calls back once, with the reason, when the signal is aborted, at once where it was before; the answer ends that. Costs
   * next to nothing, where a signal costs more than the commit that asked for the run.
   */
  onAbort(callback: (reason: unknown) => void): () => void;
  /** True where the run was asked for by an earlier incarnation of this runtime: it may have happened already. */
  recovered: boolean;
  /**
   * 1, and one more for each incarnation that took it up again, and for each result that made its machine crash.
   * Committed before the run.
   */
  attempt: number;
  /**
   * Says that what it asks of the world is on its way: until then it has begun nothing that could go on without it.
   * @throws StagecraftError LEASE_LAPSED where, while it prepared that, another runtime may have taken over: it is not to be asked
   * @throws Error where it is not clear yet, or is no effect that makes calls
   */
  sent(): void;
  /**
   * Milliseconds until nothing that it undoes (`compensates`) can be under way any more; 0: now. To be asked for before `sent`.
   * @param src effect of the same kind that is meant; default: this one
   */
  clearInMs(src?: string): number;
  /**
   * Finds out which of the calls that it undoes ended with their recipient (`Effect.recipient`): `clearInMs` does not count
   * those any more.
   * @param src as for `clearInMs`
   * @returns whether it is worth asking again: a recipient of others is known, and may end before their time is over
   */
  endDoubts(src?: string): Promise<boolean>;
  /** Recipient of the requests of the effect, as of the commit that asked for the effect. Absent: not known. */
  recipient?: object | undefined;
  /** Sends the machine an event; dropped as stale once its state was left. */
  send(event: AnyEventObject): void;
}

/**
 * Runs at least once for each commit that asked for it, unless it is `atMostOnce`; its result reaches the machine at most once.
 * What it resolves with comes back as `xstate.done.actor.<id>`, what it throws as `xstate.error.actor.<id>`.
 */
export interface Effect {
  run(call: EffectCall): Promise<unknown>;
  /**
   * Milliseconds until it is given up with a TIMEOUT error; default two minutes. Infinity only for what waits for
   * the world to change, or has a `sentDeadlineMs`. `loop`: as long as its state lasts, and its end is no event.
   */
  deadlineMs?: number | 'loop' | ((input: never) => number);
  /**
   * For one that first prepares what it asks, as long as that takes, and tells by `sent` that it has asked: milliseconds that
   * it has from then on, and that what it asked of the world may go on without it.
   */
  sentDeadlineMs?: number;
  /**
   * Which effects of its kind it undoes, by their `src`: it must not be overtaken by what it undoes. Where such a call may
   * still be under way, left by a runtime before this one or cancelled by this one, it is not clear (`clearInMs`) until
   * the deadline of that call has passed. What a runtime before has left is given its whole time from the lease on:
   * in-doubt-calls.ts. Only for one that tells by `sent` that it asks.
   */
  compensates?: readonly string[];
  /**
   * Marks an effect that is not repeated unless its machine asks for it again. After a restart, or a result that made its
   * machine crash, it does not run: it ends with an INTERRUPTED error, for the run before may have done it, or may still.
   */
  atMostOnce?: true;
  /**
   * Marks an effect that asks nothing of the world: it leaves nothing that may still be under way, undoes nothing, and is
   * undone by nothing.
   */
  makesCall?: false;
  /** Recipients of its requests to the world. Only for an effect whose requests all end with their recipient. */
  recipient?: Recipients;
}

/** Knows who does what effects ask for. Recipients are plain data, and stand in the record with the call. */
export interface Recipients {
  /** Recipient of a request made now; undefined: not known. A run that finds another recipient must not ask. Never throws. */
  of(input: never): object | undefined;
  /**
   * Whether it is certain that this recipient has ended, and all that it has begun. False: it may end yet; undefined: nobody
   * will know that it has. Rejects where it can't be found out now.
   */
  hasEnded(recipient: object): Promise<boolean | undefined>;
}

export const defaultDeadlineMs = 120_000;

/** The time that an effect is given, in milliseconds; Infinity for one that stands for as long as its state does. */
export function deadlineOf({ sentDeadlineMs, deadlineMs }: Effect, input: unknown): number {
  if (deadlineMs === undefined) return sentDeadlineMs === undefined ? defaultDeadlineMs : Number.POSITIVE_INFINITY;
  if (deadlineMs === 'loop') return Number.POSITIVE_INFINITY;
  return typeof deadlineMs === 'function' ? deadlineMs(input as never) : deadlineMs;
}

/** The same for one that ran before, where it can't tell by throwing: the default. */
export function limitOf(effect: Effect, input: unknown): number {
  try {
    return deadlineOf(effect, input);
  } catch {
    return defaultDeadlineMs; // as it is started it says so, as an error of its own
  }
}

/** One kind of actor: what is hosted under addresses that begin with the machine's id. */
export interface ActorKind {
  machine: AnyStateMachine;
  /** By the `src` of the invoke. */
  effects: Record<string, Effect>;
  /**
   * Input for an actor that gets its first event before it was begun; absent: such an event finds nobody. `seq`: how many
   * commits there were of actors at this address before.
   */
  begin?: (address: string, seq: number) => object;
  /** Where its broadcast events go; absent: it has none. */
  topic?: (address: string) => string;
  /**
   * Its actors live in the store, and in memory only while they have something to do or there is room for them.
   * Default: all of them stay in memory, where `peek` and `views` find them.
   */
  onDemand?: boolean;
  /** From each older version of the machine that may be stored to the next one. */
  migrations?: Migration[];
}

/** Brings the snapshots of one version of a machine to a later one. Pure. */
export interface Migration {
  /** Kept in the journal. */
  name: string;
  from: string;
  to: string;
  /**
   * Of the states that it answers, effects and `after` timers are kept where they are under way, and else begun: also
   * those that had come to their end before in a state that went on.
   */
  migrate(snapshot: PersistedSnapshot): PersistedSnapshot;
}
