/**
 * Format of the records and journal entries that the engine writes into a store, as text. The stored seq, epoch, owner
 * and commit id stand beside the text (store.ts). Formats: UPGRADING.md
 */
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { nestingOf } from '../machine/data.js';
import type { PersistedSnapshot, StartedEffect } from '../machine/hosted-machine.js';
import type { Encoded, JournalRow, StoredRecord } from '../store.js';

/** Format of records and journal entries; raised with each change that older code cannot read. */
const format = 1;

/** Effect that a committed snapshot waits for. Address, id and seq name the effect. */
export interface LiveEffect extends StartedEffect {
  seq: number;
  /** Above 1 after a restart of the runtime, or after a result that made the machine crash. */
  attempt?: number;
  /** Earliest moment to start the effect, milliseconds since the epoch. */
  notBeforeMs?: number;
  /** For an effect that others undo: how long its call may go on after the effect ended, in ms. 0: no call was made. */
  lastsMs?: number;
  /** Recipient of the effect's requests, as of that commit. Absent: not known. */
  recipient?: object;
}

export interface LiveTimer {
  id: string;
  seq: number;
  dueAtMs: number;
  /**
   * Delay that the machine asked for; limits the wait if the clock is set back. Absent in records of older versions.
   */
  delayMs?: number;
  event: AnyEventObject;
}

/** Milliseconds until the timer is due; never more than its whole delay, however far the clock was set back. */
export const dueInMs = ({ dueAtMs, delayMs = Number.POSITIVE_INFINITY }: LiveTimer, nowMs: number): number =>
  Math.min(dueAtMs - nowMs, delayMs);

/** Place of a message, and when it was applied, in milliseconds since the epoch; absent in records of older versions. */
type Mark = [seq: number, index: number, atMs?: number];

/** Mark of the last applied message of each sender, by its address. */
export type Marks = Record<string, Mark>;

/** Stored state of an actor between two commits. */
export interface ActorRecord {
  format: number;
  machine: string;
  version: string;
  /** Moment of the commit, in milliseconds since the epoch. Absent in records of older versions. */
  at?: number | undefined;
  /** Absent in the tombstone of a deleted actor. */
  snapshot?: PersistedSnapshot;
  effects: LiveEffect[];
  timers: LiveTimer[];
  /** Each message counts once. */
  received: Marks;
  /** Answers by request id, oldest first: a repeated request gets the same answer. */
  answers: [requestId: string, answer: AnswerParams | null][];
  /** Moments at which the machine threw, oldest first, while they count for the crash limit. */
  crashes?: number[];
  /** Present while the actor is quarantined: it crashed too often, and nobody has released it yet. */
  quarantined?: Quarantine;
  /** In-doubt calls: calls that may still run although no effect of the record stands for them. */
  doubts?: InDoubtCalls;
}

export interface Quarantine {
  /** Milliseconds since the epoch. */
  at: number;
  reason: string;
}

/** One input of an actor, as applied. Replaying the same entries gives the same states. */
export interface JournalEntry {
  seq: number;
  /** Stamp of the event: milliseconds since the epoch. */
  at: number;
  /** Stamp of the event: uniform in [0, 1). */
  random: number;
  /**
   * `stale`: the state no longer waits for this input, so the machine never saw it. `crash`: the machine threw. All
   * other kinds are changes by the engine (`EngineChange`).
   */
  kind: 'event' | 'stale' | 'crash' | EngineChange['kind'];
  /** Version of the machine that handled the input. */
  version: string;
  /** Input with which the actor began, before the event. */
  input?: object;
  event?: AnyEventObject;
  source: EntrySource;
  /** When the request of the effect went out, in milliseconds since the epoch; only in entries with its result. */
  sentAtMs?: number;
  error?: string;
  /** Names of the migrations that brought the snapshot to this version. */
  migrations?: string[];
  /**
   * State after this entry, in every n-th entry (null: deleted). A replay can begin here; older entries may be dropped.
   */
  snapshot?: PersistedSnapshot | null;
  /** Effects and timers after this entry: beside `snapshot`, and where a restart has begun effects again. */
  effects?: LiveEffect[];
  timers?: LiveTimer[];
}

/** Journal entry that can't be read. */
export interface UnreadableEntry {
  address: string;
  seq: number;
  reason: string;
}

export type EntrySource =
  | { kind: 'engine' }
  /** `by`: the person who sent it by hand, or `runtime` for what the runtime has found by itself; absent: a program. */
  | { kind: 'request'; requestId?: string; by?: string }
  | { kind: 'message'; address: string; seq: number; index: number }
  | { kind: 'effect' | 'timer'; id: string; seq: number };

/** Deliveries that a commit owes to others. */
export interface Outbox {
  messages: { to: string; event?: AnyEventObject; input?: object; of?: CommitPlace }[];
  events: { topic: string; event: AnyEventObject; of?: CommitPlace }[];
}

/**
 * Place at which a message or event was owed first: seq of its step, and position in that step's outbox. Kept if another step has
 * shared the commit, and if the store has lost it, so that receivers recognize a repeat.
 */
export type CommitPlace = [seq: number, index: number];

export const encode = (value: ActorRecord | JournalEntry): Encoded => JSON.stringify(value);

/** Encodes a record with its address, so that a record under another key is recognized. */
export const encodeRecord = (address: string, record: ActorRecord): Encoded =>
  `{"address":${JSON.stringify(address)},${encode(record).slice(1)}`;

/** Encodes each event once, for its topic and as a piece of the outbox. */
export function encodeOutbox({ messages, events }: Outbox): { outbox: Encoded; events: Encoded[] } {
  const texts = events.map(({ event }) => JSON.stringify(event));
  const rows = events.map(({ topic, of }, at) => {
    const place = of ? `,"of":${JSON.stringify(of)}` : '';
    return `{"topic":${JSON.stringify(topic)},"event":${texts[at]}${place}}`;
  });
  return { outbox: `{"messages":${JSON.stringify(messages)},"events":[${rows.join()}]}`, events: texts };
}

/** Shared empty values, as most actors hold nothing of most kinds. Frozen, so that no actor can change them. */
const none: never[] = [];
const nothing: ActorRecord['received'] = {};
Object.freeze(none);
Object.freeze(nothing);

const listOf = <T>(items: T[]): T[] => (items.length === 0 ? none : items);

export const emptyRecord = ({ name, version }: { name: string; version: string }): ActorRecord => ({
  format,
  machine: name,
  version,
  at: undefined,
  effects: none,
  timers: none,
  received: nothing,
  answers: none,
});

/** Decodes a stored record. @throws {Error} saying what is wrong with its text, or that it is stored under another address */
export const recordIn = ({ address, text }: Pick<StoredRecord, 'address' | 'text'>): ActorRecord =>
  decodeRecord(text, address);

/** @param stored address under which the text is stored @throws {Error} saying what is wrong with the text */
export function decodeRecord(text: Encoded, stored?: string): ActorRecord {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error('the record is not a JSON object');
  const { address = stored } = parsed; // absent in records of older versions
  if (stored !== undefined && address !== stored) throw new Error(`it is the record of ${address}`);
  if (parsed.format !== format)
    throw new Error(`the record has format ${parsed.format}; this runtime reads format ${format}`);
  const { machine, version, at, snapshot, effects, timers, received, answers } = parsed;
  if (typeof machine !== 'string' || typeof version !== 'string') throw new Error('the record names no machine');
  if (!isListOf(effects, isEffect) || !isListOf(timers, isTimer))
    throw new Error('the effects or timers of the record are damaged');
  if (!isReceived(received) || !isListOf(answers, isAnswer))
    throw new Error('the received messages or answers of the record are damaged');
  if (snapshot !== undefined && !isSnapshot(snapshot))
    throw new Error('the record has a snapshot without state or context');
  if (at !== undefined && !isNumber(at)) throw new Error('the moment of the record is damaged');
  const { crashes, quarantined, doubts } = parsed;
  if (crashes !== undefined && !isListOf(crashes, isNumber)) throw new Error('the crashes of the record are damaged');
  if (quarantined !== undefined && !isQuarantine(quarantined))
    throw new Error('the quarantine of the record is damaged');
  if (doubts !== undefined && !isDoubts(doubts)) throw new Error('the in-doubt calls of the record are damaged');
  const whole: ActorRecord = {
    format,
    machine,
    version,
    at,
    effects: listOf(effects),
    timers: listOf(timers),
    received: Object.keys(received).length === 0 ? nothing : received,
    answers: listOf(answers),
  };
  if (snapshot !== undefined) whole.snapshot = snapshot;
  if (crashes !== undefined) whole.crashes = crashes;
  if (quarantined !== undefined) whole.quarantined = quarantined;
  if (doubts !== undefined) whole.doubts = doubtsOf(doubts);
  return whole;
}

/** Deepest nesting of a journal entry. An event has at most `deepestEvent` levels, and a snapshot may hold such an event. */
const deepestEntry = 200;

/** @throws {Error} saying what is wrong with the text */
export function decodeEntry(text: Encoded): JournalEntry {
  if (nestingOf(text) > deepestEntry) throw new Error(`it is nested more than ${deepestEntry} levels deep`);
  return JSON.parse(text);
}

/** Decodes a stored journal entry. @throws {Error} saying what is wrong with its text, or that it is another entry */
export function entryIn({ seq, text }: JournalRow): JournalEntry {
  const entry: unknown = decodeEntry(text);
  if (!isEntry(entry)) throw new Error('it is no journal entry');
  if (entry.seq !== seq) throw new Error(`it is entry ${entry.seq}`);
  return entry;
}

/** @throws {SyntaxError} if the text was damaged */
export const decodeOutbox = (text: Encoded): Outbox => JSON.parse(text);

const isObject = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

const isNumber = (value: unknown): value is number => typeof value === 'number';

const isQuarantine = (value: unknown): value is Quarantine =>
  isObject(value) && isNumber(value.at) && typeof value.reason === 'string';

/** In-doubt calls as older versions wrote them: only their duration in ms, without recipients. */
type PlainDoubts = Record<string, number | InDoubtCall>;

const isDoubts = (value: unknown): value is PlainDoubts =>
  isObject(value) && Object.values(value).every((doubt) => isNumber(doubt) || isDoubt(doubt));

const isDoubt = (value: unknown): value is InDoubtCall =>
  isObject(value) &&
  isNumber(value.lastsMs) &&
  (value.recipients === undefined || isListOf(value.recipients, isObject));

const doubtsOf = (doubts: PlainDoubts): InDoubtCalls =>
  Object.fromEntries(Object.entries(doubts).map(([src, doubt]) => [src, isNumber(doubt) ? { lastsMs: doubt } : doubt]));

export const isSnapshot = (value: unknown): value is PersistedSnapshot =>
  isObject(value) && isObject(value.context) && (typeof value.value === 'string' || isObject(value.value));

const isEffect = (value: unknown): value is LiveEffect =>
  isObject(value) && typeof value.id === 'string' && typeof value.src === 'string' && typeof value.seq === 'number';

const isTimer = (value: unknown): value is LiveTimer =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.seq === 'number' &&
  typeof value.dueAtMs === 'number' &&
  isObject(value.event) &&
  typeof value.event.type === 'string';

const isEntry = (value: unknown): value is JournalEntry =>
  isObject(value) &&
  [value.seq, value.at, value.random].every(isNumber) &&
  [value.kind, value.version].every((text) => typeof text === 'string') &&
  isObject(value.source) &&
  [value.event, value.input].every((given) => given === undefined || isObject(given)) &&
  (value.snapshot === undefined || value.snapshot === null || isSnapshot(value.snapshot));

const isAnswer = (value: unknown): value is ActorRecord['answers'][number] =>
  Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || isObject(value[1]));

const isReceived = (value: unknown): value is ActorRecord['received'] =>
  isObject(value) && Object.values(value).every((last) => Array.isArray(last) && last.every(Number.isInteger));

/** In-doubt calls of one effect (effects/in-doubt-calls.ts). */
export interface InDoubtCall {
  /** Milliseconds that the calls may go on after the end of their runtime. */
  lastsMs: number;
  /**
   * Recipients of the calls: once all recipients have ended, all calls have ended. Absent: some recipient is not known.
   */
  recipients?: object[];
}

/** In-doubt calls by the `src` of their effect. */
export type InDoubtCalls = Record<string, InDoubtCall>;

/** Change of an actor that the engine makes by itself (engine-changes.ts). */
export type EngineChange =
  /** The record was of an older version of the machine; `snapshot` and `effects` are migrated. */
  | { kind: 'migrated'; migrations: string[]; snapshot: AnyMachineSnapshot; effects: LiveEffect[] }
  /** A runtime ended while effects begun up to `seq` ran. Those effects start again, as further attempts. */
  | { kind: 'recovered'; seq: number }
  /** The store has lost the commits after `storedSeq`, and their undelivered messages and events (`owed`). */
  | { kind: 'rolled-back'; storedSeq: number; owed: Outbox | undefined }
  /** The quarantined actor was released. */
  | { kind: 'released' }
  /** The actor was deleted at `seq`, so long ago that its journal has been dropped. */
  | { kind: 'forgotten'; seq: number };
