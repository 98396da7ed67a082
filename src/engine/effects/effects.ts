/** Port for effects: the work that the engine does for a machine once a snapshot is committed. */
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine, StateValue } from 'xstate';
import type { Failure } from '../../../machines/kit/host.js';
import type { PartView } from '../../../machines/kit/parts.js';
import type { PersistedSnapshot, StartedEffect } from '../machine/hosted-machine.js';

/** A call that an effect makes, or would make. */
export type AskedCall = Pick<StartedEffect, 'src' | 'input'>;

/** Kind of message from an effect: its only result, or an event before that. */
export type Saying = 'result' | 'event';

/** One run of an effect: an `invoke` of a committed snapshot. */
export interface EffectCall<TInput = unknown> {
  address: string;
  /** The `id` of the invoke. */
  id: string;
  /** The `src` of the invoke. */
  src: string;
  /**
   * Seq of the commit that asked for the effect. Address, id and seq name the run. A restart continues under the same
   * name; after a result that crashed the machine, the effect gets a new seq.
   */
  seq: number;
  input: TInput;
  /** Aborted when the state is left, the deadline has passed, or the runtime ends. */
  signal: AbortSignal;
  /**
   * Calls back once with the reason when the signal is aborted; at once if it was aborted before. Costs almost nothing,
   * while a signal costs more than the commit that asked for the run.
   * @returns a function that unsubscribes
   */
  onAbort(callback: (reason: unknown) => void): () => void;
  /** True if an earlier incarnation of this runtime asked for the run: the work may be done already. */
  recovered: boolean;
  /**
   * Starts at 1. Rises with each restart that runs the effect again, and with each result that crashed the machine.
   * Committed before the run.
   */
  attempt: number;
  /**
   * Declares that the request goes out now. Before this call, the effect has begun nothing that could outlive it.
   * @throws {StagecraftError} LEASE_LAPSED if another runtime may have taken over meanwhile: send no request then
   * @throws {Error} if a call that this effect undoes may still run, or if the effect makes no calls
   */
  sent(): void;
  /**
   * Milliseconds until no call that this effect undoes (`compensates`) can still be running; 0: now. Ask before `sent`.
   * @param call of another effect of the same kind; default: that of this effect
   */
  clearInMs(call?: AskedCall): number;
  /**
   * Looks for in-doubt calls that ended together with their recipient (`Effect.recipient`). `clearInMs` stops counting
   * those calls.
   * @param call as for `clearInMs`
   * @returns whether asking again may help: a recipient of another call is known, and may end before its time
   */
  endDoubts(call?: AskedCall): Promise<boolean>;
  /**
   * Declares that the request may go on after the effect has ended, until the limit that began with `sent`. A call that
   * undoes it waits until then (`compensates`), as after a state that was left.
   */
  mayGoOn(): void;
  /** Recipient of the effect's requests, as of the commit that asked for the effect. Absent: not known. */
  recipient?: object | undefined;
  /** Sends the machine an event; dropped as stale once the state was left. */
  send(event: AnyEventObject): void;
}

/**
 * Runs at least once for each commit that asked for it, unless it is `atMostOnce`. Its result reaches the machine at
 * most once: as `xstate.done.actor.<id>` if it resolves, as `xstate.error.actor.<id>` if it throws.
 */
export interface Effect {
  run(call: EffectCall): Promise<unknown>;
  /**
   * Milliseconds until the run ends with a TIMEOUT error; default two minutes. Infinity: only for effects that wait for
   * the world to change, or have a `sentDeadlineMs`. `loop`: runs as long as its state lasts; its end sends no event.
   */
  deadlineMs?: number | 'loop' | ((input: never) => number);
  /**
   * Milliseconds that a request may take after `sent`, and may go on without the effect. For effects that first prepare
   * a request, without a time limit.
   */
  sentDeadlineMs?: number;
  /**
   * The `src` of the effects that this effect undoes; it must never overtake them. A call of theirs may still run,
   * after a restart or a cancellation. `clearInMs` is above 0 until the deadline of such a call has passed. A call left
   * by an earlier runtime gets its whole time, counted from the lease (in-doubt-calls.ts). Only for effects that call
   * `sent`.
   */
  compensates?: readonly string[];
  /**
   * Names which of several things the call is about, such as one of the nodes of a volume: of calls that undo each other,
   * only those about the same do. Absent: all are about the same.
   */
  about?(input: never): string;
  /**
   * Forbids a second run unless the machine asks again. After a restart, or a result that crashed the machine, the
   * effect ends with an INTERRUPTED error: the first run may have done the work, or may still do it.
   */
  atMostOnce?: true;
  /**
   * Marks an effect without requests to the outside: it leaves no call in doubt, undoes nothing, and is undone by
   * nothing.
   */
  makesCall?: false;
  /** Recipients of the effect's requests. Only if every request ends with its recipient. */
  recipient?: Recipients;
}

/**
 * Finds the recipients of requests, such as the process of a plugin. Recipients are plain data, stored in the record
 * with the call.
 */
interface Recipients {
  /**
   * Returns the recipient of a request made now; undefined: not known. A run that finds another recipient must send
   * nothing. Never throws.
   */
  of(input: never): object | undefined;
  /**
   * Resolves with true if the recipient and all work that it began have ended for certain. False: it may still end;
   * undefined: nobody will ever know. Rejects if the question has no answer now.
   */
  hasEnded(recipient: object): Promise<boolean | undefined>;
}

export const defaultDeadlineMs = 120_000;

/** Returns the effect's time limit in milliseconds; Infinity if it lasts as long as its state. */
export function deadlineOf({ sentDeadlineMs, deadlineMs }: Effect, input: unknown): number {
  if (deadlineMs === undefined) return sentDeadlineMs === undefined ? defaultDeadlineMs : Number.POSITIVE_INFINITY;
  if (deadlineMs === 'loop') return Number.POSITIVE_INFINITY;
  return typeof deadlineMs === 'function' ? deadlineMs(input as never) : deadlineMs;
}

/** Returns the same limit for an effect that ran before. If the effect's own function throws, returns the default. */
export function limitOf(effect: Effect, input: unknown): number {
  try {
    return deadlineOf(effect, input);
  } catch {
    return defaultDeadlineMs; // the start of the effect reports this failure as its error
  }
}

/** Kind of actors: all actors whose addresses begin with the machine's id. */
export interface ActorKind {
  machine: AnyStateMachine;
  /** Effects by the `src` of their invoke. */
  effects: Record<string, Effect>;
  /**
   * Makes the input for an actor that gets its first event before it was begun. Absent: such an event finds no actor.
   * `seq`: number of commits that earlier actors at this address made.
   */
  begin?: (address: string, seq: number) => object;
  /** Topic of the kind's broadcast events; absent: the kind emits none. */
  topic?: (address: string) => string;
  /**
   * Passivates idle actors when memory is short. Default: all actors stay in memory, where `peek` and `views` find
   * them.
   */
  onDemand?: boolean;
  /** Lists the parts in a context, for inspectors. Default: the actors have no parts. */
  parts?: (context: never) => PartView[];
  /** Path of the state as people see it, for inspectors. Default: the path of its value. */
  pathOf?: (value: StateValue, context: never) => string;
  /**
   * Reason why the machine refuses a request in this state: the function that the machine itself asks. What the committed state
   * refuses is answered without a commit. Absent: every request leads to a commit.
   */
  refusalOf?: (context: never, request: never, value: StateValue) => Failure | undefined;
  /** Migrations from each older version that may be stored to the next one. */
  migrations?: Migration[];
}

/** Reason why an actor in this state refuses a request; undefined: it takes it, or its machine has to say. */
export function committedRefusal(
  { refusalOf }: Pick<ActorKind, 'refusalOf'>,
  { context, value }: AnyMachineSnapshot,
  request: AnyEventObject,
): Failure | undefined {
  try {
    return refusalOf?.(context as never, request as never, value);
  } catch {
    // The machine throws the same in its step, which counts as a crash.
    return undefined;
  }
}

/** Migrates snapshots of one version of a machine to a later one. Pure. */
export interface Migration {
  /** Stored in the journal. */
  name: string;
  from: string;
  to: string;
  /**
   * Returns a snapshot of the later version. Running effects and `after` timers of its states go on; all others begin,
   * even those that had ended in a state that was kept.
   */
  migrate(snapshot: PersistedSnapshot): PersistedSnapshot;
  /** Returns the input of a running effect in the later version; default: as it was. */
  migrateInput?(input: unknown): unknown;
}
