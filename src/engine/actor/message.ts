/** Messages that reach an actor, how its journal names their source, and the queue in which they wait. */
import type { AnyEventObject } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { StagecraftError } from '../../errors.js';
import type { ActorMessage } from '../delivery/inbox.js';
import type { Saying } from '../effects/effects.js';
import type { ActorRecord, EngineChange, EntrySource, JournalEntry, Marks } from './actor-record.js';

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

/**
 * Leaves out each mark that is older than `keptMs`, if its sender can't repeat a message any more. A mark without a time
 * is as old as this call.
 */
export function neededMarks(
  marks: Marks,
  { atMs, keptMs, mayRepeat }: { atMs: number; keptMs: number; mayRepeat(sender: string): boolean },
): Marks {
  const needed: Marks = {};
  let hasChanged = false;
  for (const [sender, mark] of Object.entries(marks)) {
    const [seq, index, appliedAtMs] = mark;
    if (appliedAtMs !== undefined && atMs - appliedAtMs > keptMs && !mayRepeat(sender)) hasChanged = true;
    else if (appliedAtMs !== undefined) needed[sender] = mark;
    else {
      needed[sender] = [seq, index, atMs];
      hasChanged = true;
    }
  }
  return hasChanged ? needed : marks;
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

/** Shared by all actors without queued changes, which are most. */
const none: readonly never[] = Object.freeze([]);

/** Queue of one actor: changes by the engine first, then messages in the order of their arrival. */
export class Mailbox {
  readonly #messages: Message[] = [];
  /** Changes that the engine makes before the actor handles its next message. */
  changes: readonly EngineChange[] = none;

  get isEmpty(): boolean {
    return this.#messages.length + this.changes.length === 0;
  }

  /** All queued messages, oldest first, without the engine's changes. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  post(message: Message): void {
    this.#messages.push(message);
  }

  /**
   * Removes and returns the next entry.
   * @param seq of the actor: skips a change that forgets a deleted actor if the actor was created again since
   */
  next(seq: number): Message | undefined {
    while (this.changes.length > 0) {
      const [change, ...others] = this.changes;
      this.changes = others;
      if (change && (change.kind !== 'forgotten' || change.seq === seq)) return { kind: 'engine', change };
    }
    return this.#messages.shift();
  }

  /** Next message, if no change by the engine comes before it. */
  get first(): Message | undefined {
    return this.changes.length === 0 ? this.#messages[0] : undefined;
  }

  /** Removes the first message. */
  take(): void {
    this.#messages.shift();
  }

  /** Makes an entry that was removed the next one again. */
  putBack(message: Message): void {
    if (message.kind === 'engine') this.changes = [message.change, ...this.changes];
    else this.#messages.unshift(message);
  }

  /** @returns whether the message was still queued */
  remove(message: Message): boolean {
    const at = this.#messages.indexOf(message);
    if (at >= 0) this.#messages.splice(at, 1);
    return at >= 0;
  }

  takeAll(): Message[];
  takeAll(kind: 'request'): Request[];
  takeAll(kind?: 'request'): Message[] {
    const all = this.#messages.splice(0);
    if (kind === undefined) return all;
    this.#messages.push(...all.filter((message) => message.kind !== kind));
    return all.filter((message) => message.kind === kind);
  }
}
