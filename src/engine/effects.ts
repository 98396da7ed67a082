/** What the engine does for machines once they are committed: the port that effects stand behind. */
import type { AnyEventObject, AnyStateMachine } from 'xstate';

/** One run of an effect: an `invoke` of a committed snapshot. */
export interface EffectCall<TInput = unknown> {
  address: string;
  /** The `id` of the invoke. */
  id: string;
  /** The seq of the commit that asked for it: with address and id, the name of this very run. */
  seq: number;
  input: TInput;
  /** Aborted when the state is left, the deadline has passed or the runtime ends. */
  signal: AbortSignal;
  /** True where the run was asked for by an earlier incarnation of this runtime: it may have happened already. */
  recovered: boolean;
  /** Sends the machine an event; dropped as stale once its state was left. */
  send(event: AnyEventObject): void;
}

/**
 * Runs at least once for each commit that asked for it; its result reaches the machine at most once.
 * What it resolves with comes back as `xstate.done.actor.<id>`, what it throws as `xstate.error.actor.<id>`.
 */
export interface Effect {
  run(call: EffectCall): Promise<unknown>;
  /**
   * Milliseconds until it is given up with a TIMEOUT error; default two minutes. Infinity only for what waits for
   * the world to change. `loop`: as long as its state lasts, and its end is no event.
   */
  deadlineMs?: number | 'loop' | ((input: never) => number);
}

export const defaultDeadlineMs = 120_000;

/** One kind of actor: what is hosted under addresses that begin with the machine's id. */
export interface ActorKind {
  machine: AnyStateMachine;
  /** By the `src` of the invoke. */
  effects: Record<string, Effect>;
  /** Input for an actor that gets its first event before it was begun; absent: such an event finds nobody. */
  begin?: (address: string) => object;
  /** Where its broadcast events go; absent: it has none. */
  topic?: (address: string) => string;
}
