/** Messages that reach an actor, and how its journal names their source. */
import type { AnyEventObject } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { StagecraftError } from '../../errors.js';
import type { ActorMessage } from '../delivery/inbox.js';
import type { Saying } from '../effects/effects.js';
import type { ActorRecord, EngineChange, EntrySource, JournalEntry } from './actor-record.js';

export type Message =
  | {
      kind: 'request';
      event: AnyEventObject;
      requestId?: string;
      by?: string;
      resolve(value: unknown): void;
      reject(error: unknown): void;
    }
  | { kind: 'message'; sent: ActorMessage; applied(): void }
  | {
      kind: 'effect';
      id: string;
      seq: number;
      event: AnyEventObject;
      says: Saying;
      sentAtMs?: number | undefined;
      /** The request of the effect may go on after this result. */
      isInDoubt?: boolean;
    }
  | { kind: 'timer'; id: string; seq: number; event: AnyEventObject }
  | { kind: 'engine'; change: EngineChange };

export type Request = Extract<Message, { kind: 'request' }>;

export function sourceOf(message: Message): EntrySource {
  switch (message.kind) {
    case 'request': {
      const { requestId, by } = message;
      const source: EntrySource = { kind: 'request' };
      if (requestId) source.requestId = requestId;
      if (by !== undefined) source.by = by;
      return source;
    }
    case 'message':
      return { kind: 'message', ...message.sent.from };
    case 'engine':
      return { kind: 'engine' };
    default:
      return { kind: message.kind, id: message.id, seq: message.seq };
  }
}

/** Returns the message that a journal entry was made of, for a replay: nobody waits for its answer. */
export function messageOfEntry({ source, event = { type: '' }, input }: JournalEntry): Message {
  switch (source.kind) {
    case 'message': {
      const { kind: _, ...from } = source;
      return { kind: 'message', sent: { from, ...(input ? { input } : { event }) }, applied: ignore };
    }
    case 'effect': {
      const { id, seq } = source;
      const isResult = event.type === `xstate.done.actor.${id}` || event.type === `xstate.error.actor.${id}`;
      return { kind: 'effect', id, seq, event, says: isResult ? 'result' : 'event' };
    }
    case 'timer':
      return { kind: 'timer', id: source.id, seq: source.seq, event };
    default:
      return { kind: 'request', event, resolve: ignore, reject: ignore };
  }
}

const ignore = (): void => {};

/** Settles a request with the answer of its machine. */
export function answer(request: Request, address: string, given: AnswerParams | undefined): void {
  if (given && 'error' in given) {
    const { code, message } = given.error;
    request.reject(new StagecraftError(code, message, { address }));
  } else {
    request.resolve(given?.value);
  }
}

/** Refuses a request. Other messages need no refusal: they stay in the outbox of their senders. */
export function refuse(message: Message, reason: StagecraftError | undefined): void {
  if (message.kind === 'request') message.reject(reason);
}

/** Tells whether the actor has applied the message already. */
function wasApplied(
  { received }: Pick<ActorRecord, 'received'>,
  { from: { address, seq, index } }: ActorMessage,
): boolean {
  const [lastSeq, lastIndex] = received[address] ?? [0, 0];
  return seq < lastSeq || (seq === lastSeq && index <= lastIndex);
}

/** Tells whether a record shows that this message was handled: a request by its id, a message by its sender's place. */
export function isRepeated(record: Pick<ActorRecord, 'answers' | 'received'>, message: Message): boolean {
  if (message.kind === 'message') return wasApplied(record, message.sent);
  if (message.kind !== 'request' || !message.requestId) return false;
  return record.answers.some(([id]) => id === message.requestId);
}

/** Returns the queued messages that are not applied yet; a message delivered twice counts once. */
export function unreadOf(record: Pick<ActorRecord, 'received'>, all: readonly (Message | undefined)[]): ActorMessage[] {
  const unread = new Map<string, ActorMessage>();
  for (const message of all) {
    if (message?.kind !== 'message' || wasApplied(record, message.sent)) continue;
    const { address, seq, index } = message.sent.from;
    unread.set([seq, index, address].join(), message.sent);
  }
  return [...unread.values()];
}
