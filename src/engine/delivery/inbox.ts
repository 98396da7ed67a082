/** The port by which messages reach an actor, wherever it lives. Requests come by the engine's own door. */
import type { AnyEventObject } from 'xstate';

/** What one actor sends another as part of its commit. */
export interface ActorMessage {
  from: { address: string; seq: number; index: number };
  /** Either an event, or the input that begins the actor. */
  event?: AnyEventObject;
  input?: object;
}

export interface Inbox {
  /**
   * Resolves once the message can't be lost any more: here, when the commit that applied it is done.
   * Messages of one sender are applied in the order of these calls; a repeat is applied once.
   */
  append(address: string, message: ActorMessage): Promise<void>;
}
