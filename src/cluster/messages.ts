/** Messages between agents on one store, as text. */
import { z } from 'zod';
import { type ErrorDetails, isErrorCode, messageOf, StagecraftError } from '../errors.js';
import type { Unreadable } from './message-counts.js';

/** Raised with each change that older agents can't read. */
const format = 1;

/** Beginning of a signed text: sealed-wire.ts */
export const sealMark = 'signed 1 ';

/** A longer message is no message. */
export const longestBytes = 1 * 2 ** 20;

const id = z.string().min(1).max(400);
const failure = z.looseObject({ code: z.string(), message: z.string() });

const schema = z.discriminatedUnion('type', [
  /**
   * A request: a call of a method, for the owner of that epoch: in any other term the receiver answers `moved`. `send` rises with
   * everything that this sender sends, so that a repeat by the store is known.
   */
  z.object({
    type: z.literal('request'),
    from: id,
    send: z.int(),
    id,
    epoch: z.int(),
    method: z.string().max(100),
    args: z.array(z.unknown()),
  }),
  /** The caller does not wait any more. */
  z.object({ type: z.literal('cancel'), from: id, send: z.int(), id }),
  /** Reason why the request waits; null: it goes on. */
  z.object({ type: z.literal('waits'), id, reason: z.string().nullable() }),
  /** The request is to be asked again: it is for another owner, or for another term of this one, or it is too old. */
  z.object({ type: z.literal('moved'), id }),
  z.object({ type: z.literal('answer'), id, value: z.unknown().optional(), error: failure.optional() }),
  /**
   * A call to a plugin of the receiver. `ageMs`: time since the sender declared it. The receiver makes it only if it is not too
   * old.
   */
  z.object({
    type: z.literal('call'),
    from: id,
    send: z.int(),
    id,
    plugin: z.string(),
    method: z.string().max(100),
    request: z.unknown(),
    secrets: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
    volumes: z.array(z.string()),
    home: z.string().optional(),
    driver: z.string().optional(),
    timeoutMs: z.int().positive(),
    ageMs: z.number().nonnegative(),
  }),
  /** End of a call. `isMade`: whether it was made, or may have been. */
  z.object({
    type: z.literal('called'),
    id,
    isMade: z.boolean(),
    value: z.unknown().optional(),
    error: failure.optional(),
  }),
  /** The receiver may have to do something about a volume that it has mounted. May be lost: the receiver looks by itself later. */
  z.object({
    type: z.literal('notice'),
    id,
    volume: z.object({ namespace: id, id }),
    kind: z.enum(['expanded', 'claim-lost', 'hold-lost']),
  }),
  /** The sender has released the lease under which volumes are worked on: who can take it should do so now. */
  z.object({ type: z.literal('released'), id }),
]);

export type AgentMessage = z.output<typeof schema>;
export type AgentRequest = Extract<AgentMessage, { type: 'request' }>;
export type Cancel = Extract<AgentMessage, { type: 'cancel' }>;
export type AgentCall = Extract<AgentMessage, { type: 'call' }>;
export type Notice = Omit<Extract<AgentMessage, { type: 'notice' }>, 'type' | 'id'>;
export type Called = Extract<AgentMessage, { type: 'called' }>;

const bigints = '$bigint';

/** Keeps numbers above 2⁵³−1. */
export const encodeMessage = (message: AgentMessage): string =>
  JSON.stringify({ format, ...message }, (_, value: unknown) =>
    typeof value === 'bigint' ? { [bigints]: String(value) } : value,
  );

/** Returns the text of an answer. One that can't be sent becomes an error for its caller. */
export function answerText(message: AgentMessage): string {
  let why = `it has more than ${longestBytes} bytes`;
  try {
    const text = encodeMessage(message);
    if (Buffer.byteLength(text) < longestBytes) return text;
  } catch (error) {
    why = messageOf(error);
  }
  const failed = new StagecraftError('CALL_FAILED', `the answer can not be sent (${why}): look at the state`);
  const { id } = message;
  const error = errorData(failed);
  return encodeMessage(
    message.type === 'called' ? { type: 'called', id, isMade: message.isMade, error } : { type: 'answer', id, error },
  );
}

/** @returns the message, or why there is none */
export function decodeMessage(text: string): AgentMessage | Unreadable {
  if (Buffer.byteLength(text) > longestBytes) return 'too-large';
  if (text.startsWith(sealMark)) return 'newer';
  try {
    const parsed: unknown = JSON.parse(text, (_, value: unknown) => bigintIn(value));
    const stated: unknown = Reflect.get(Object(parsed), 'format');
    if (typeof stated === 'number' && stated !== format) return 'newer';
    return (stated === format && schema.safeParse(parsed).data) || 'malformed';
  } catch {
    return 'malformed'; // No JSON.
  }
}

function bigintIn(value: unknown): unknown {
  if (!(value instanceof Object) || !(bigints in value)) return value;
  const text = Reflect.get(value, bigints);
  return typeof text === 'string' && /^-?\d{1,30}$/.test(text) ? BigInt(text) : value;
}

/** Fields of an error that its caller gets, wherever it is. */
export function errorData(error: unknown): { code: string; message: string } {
  if (!(error instanceof StagecraftError)) return { code: 'INTERNAL', message: String(error) };
  const { name: _, stack: __, cause: ___, ...details } = error;
  return { ...details, code: error.code, message: error.message };
}

export function remoteError({
  code,
  message,
  ...details
}: { code: string; message: string } & Pick<ErrorDetails, 'outcome'>): Error {
  return isErrorCode(code) ? new StagecraftError(code, message, details) : new Error(message);
}

/** Senders that are remembered; of one, numbers that may still come. */
const mostSenders = 10_000;
const mostSkipped = 64;

interface Heard {
  highest: number;
  /** Lower numbers that have not come: a later message may have overtaken them. */
  skipped: Set<number>;
}

/** Tells messages that come again from new ones, by the numbers that their senders give them. Numbers may have gaps. */
export class Repeats {
  /** By sender, the one that was heard last at the end. */
  readonly #heard = new Map<string, Heard>();

  isRepeated({ from, send }: { from: string; send: number }): boolean {
    const heard = this.#heard.get(from) ?? { highest: 0, skipped: new Set() };
    this.#heard.delete(from);
    this.#heard.set(from, heard);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > mostSenders && oldest !== undefined) this.#heard.delete(oldest);
    if (send <= heard.highest) return !heard.skipped.delete(send);
    for (let number = Math.max(heard.highest + 1, send - mostSkipped); number < send; number += 1)
      heard.skipped.add(number);
    for (const number of heard.skipped) {
      if (heard.skipped.size <= mostSkipped) break;
      heard.skipped.delete(number);
    }
    heard.highest = send;
    return false;
  }
}
