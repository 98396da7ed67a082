/** Port through which messages reach an actor, wherever it lives. Requests come through Engine.ask instead. */
import type { AnyEventObject } from 'xstate';

/** Message that one actor sends another as part of its commit. */
export interface ActorMessage {
  from: { address: string; seq: number; index: number };
  /** Either an event, or the input with which the actor begins. */
  event?: AnyEventObject;
  input?: object;
}

export interface Inbox {
  /**
   * Resolves once the message cannot be lost any more: in this runtime, once the step that applied it is committed.
   * Applies messages of one sender in the order of these calls, and a repeat only once.
   */
  append(address: string, message: ActorMessage): Promise<void>;
}
