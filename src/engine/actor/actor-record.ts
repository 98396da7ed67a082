/**
 * What the engine writes into a store: the record of an actor and its journal entries, as text.
 * The stored seq, epoch, owner and commit id stand beside it (store.ts). Formats: UPGRADING.md
 */
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import type { PersistedSnapshot, StartedEffect } from '../machine/hosted-machine.js';
import type { Encoded } from '../store.js';

/** The format of records and journal entries; raised with each change that older code can't read. */
const format = 1;

/** An effect that a committed snapshot waits for. Its name is address + id + seq. */
export interface LiveEffect extends StartedEffect {
  seq: number;
  /** Above 1 where it was taken up again after the end of a runtime, or a result that made its machine crash. */
  attempt?: number;
  /** Not to be started before this moment. */
  notBeforeMs?: number;
  /** Of one that another undoes: how long its call may go on without it, as it was begun. 0: no call was made. */
  lastsMs?: number;
  /** Recipient of its requests, as of that commit. Absent: not known. */
  recipient?: object;
}

export interface LiveTimer {
  id: string;
  seq: number;
  dueAtMs: number;
  /** How long it was to be waited, so that no clock that is set back makes it more. Absent in what older versions wrote. */
  delayMs?: number;
  event: AnyEventObject;
}

/** How long it is still to be waited. What was to be waited for at all is the most, however far the clock was set back. */
export const dueInMs = ({ dueAtMs, delayMs = Number.POSITIVE_INFINITY }: LiveTimer, nowMs: number): number =>
  Math.min(dueAtMs - nowMs, delayMs);

/** An actor between two commits. */
export interface ActorRecord {
  format: number;
  machine: string;
  version: string;
  /** Absent in the tombstone of a deleted actor. */
  snapshot?: PersistedSnapshot;
  effects: LiveEffect[];
  timers: LiveTimer[];
  /** Per sender the last (seq, index) that was applied: each message counts once. */
  received: Record<string, [seq: number, index: number]>;
  /** Answers by request id, oldest first: a repeated request gets the same one. */
  answers: [requestId: string, answer: AnswerParams | null][];
  /** When the machine threw, oldest first, as long as it counts. */
  crashes?: number[];
  /** Out of service since it crashed too often, until it is released. */
  quarantined?: Quarantine;
  /** Calls that may still be under way, though none of its effects stands for them. */
  doubts?: InDoubtCalls;
}

export interface Quarantine {
  /** Milliseconds since the epoch. */
  at: number;
  reason: string;
}

/** One input of an actor, as it was applied. Same entries in, same states out. */
export interface JournalEntry {
  seq: number;
  /** Stamped on the event: milliseconds since the epoch. */
  at: number;
  /** Stamped on the event: uniform in [0, 1). */
  random: number;
  /**
   * `stale`: known to be no longer asked for, so the machine never saw it. `crash`: the machine threw.
   * The others are the engine's own: see changes.ts.
   */
  kind: 'event' | 'stale' | 'crash' | Change['kind'];
  /** Of the machine that took it. */
  version: string;
  /** The actor began here, with this input, before the event. */
  input?: object;
  event?: AnyEventObject;
  source: EntrySource;
  error?: string;
  /** Names of the migrations that brought the snapshot to this version. */
  migrations?: string[];
  /** The state after this entry (null: absent), now and then: a replay can begin here, what came before may be forgotten. */
  snapshot?: PersistedSnapshot | null;
}

export type EntrySource =
  | { kind: 'engine' }
  | { kind: 'request'; requestId?: string }
  | { kind: 'message'; address: string; seq: number; index: number }
  | { kind: 'effect' | 'timer'; id: string; seq: number };

/** What a commit owes to others. */
export interface Outbox {
  messages: { to: string; event?: AnyEventObject; input?: object; of?: CommitPlace }[];
  events: { topic: string; event: AnyEventObject; of?: CommitPlace }[];
}

/** Where a message or event was owed first, if the store has lost that commit: by that it is told from others. */
export type CommitPlace = [seq: number, index: number];

export const encode = (value: ActorRecord | JournalEntry | Outbox): Encoded => JSON.stringify(value);

/** Most actors have nothing to hold of most kinds: they share these, which nobody changes. */
const none: never[] = [];
const nothing: ActorRecord['received'] = {};
Object.freeze(none);
Object.freeze(nothing);

const listOf = <T>(items: T[]): T[] => (items.length === 0 ? none : items);

/** The envelope of an actor that was never there. */
export const emptyRecord = ({ name, version }: { name: string; version: string }): ActorRecord => ({
  format,
  machine: name,
  version,
  effects: none,
  timers: none,
  received: nothing,
  answers: none,
});

/** @throws Error saying what is wrong with the text */
export function decodeRecord(text: Encoded): ActorRecord {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed)) throw new Error('the record is no object');
  if (parsed.format !== format) throw new Error(`the record has format ${parsed.format}, known is ${format}`);
  const { machine, version, snapshot, effects, timers, received, answers } = parsed;
  if (typeof machine !== 'string' || typeof version !== 'string') throw new Error('the record names no machine');
  if (!isListOf(effects, isEffect) || !isListOf(timers, isTimer))
    throw new Error('the record lacks its effects or timers');
  if (!isReceived(received) || !isListOf(answers, isAnswer))
    throw new Error('the record lacks what was received or answered');
  if (snapshot !== undefined && !isSnapshot(snapshot))
    throw new Error('the record has a snapshot without state or context');
  const { crashes, quarantined, doubts } = parsed;
  if (crashes !== undefined && !isListOf(crashes, isNumber)) throw new Error('the record lacks its crashes');
  if (quarantined !== undefined && !isQuarantine(quarantined)) throw new Error('the record lacks its quarantine');
  if (doubts !== undefined && !isDoubts(doubts)) throw new Error('the record lacks its doubts');
  const whole: ActorRecord = {
    format,
    machine,
    version,
    effects: listOf(effects.map(present)),
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

/** @throws SyntaxError if the text was damaged */
export const decodeEntry = (text: Encoded): JournalEntry => JSON.parse(text);

/** @throws SyntaxError if the text was damaged */
export const decodeOutbox = (text: Encoded): Outbox => JSON.parse(text);

const isObject = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);

const isListOf = <T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(isItem);

const isNumber = (value: unknown): value is number => typeof value === 'number';

const isQuarantine = (value: unknown): value is Quarantine =>
  isObject(value) && isNumber(value.at) && typeof value.reason === 'string';

/** How long calls may go on, where who they went to was not kept yet. */
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

/** What older versions wrote of an effect that had said, until its run ended, that it made no call. */
interface OlderEffect extends LiveEffect {
  waits?: true;
}

function present({ waits, ...effect }: OlderEffect): LiveEffect {
  return waits ? { ...effect, lastsMs: 0 } : effect;
}

const isTimer = (value: unknown): value is LiveTimer =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.seq === 'number' &&
  typeof value.dueAtMs === 'number' &&
  isObject(value.event) &&
  typeof value.event.type === 'string';

const isAnswer = (value: unknown): value is ActorRecord['answers'][number] =>
  Array.isArray(value) && typeof value[0] === 'string' && (value[1] === null || isObject(value[1]));

const isReceived = (value: unknown): value is ActorRecord['received'] =>
  isObject(value) && Object.values(value).every((last) => Array.isArray(last) && last.every(Number.isInteger));

/** Calls of one effect that may be under way still (effects/in-doubt-calls.ts). */
export interface InDoubtCall {
  /** How many milliseconds they may go on, from the end of their runtime. */
  lastsMs: number;
  /** Recipients of the calls: once all of them have ended, so have the calls. Absent: not known of each call. */
  recipients?: object[];
}

/** By the `src` of their effect. */
export type InDoubtCalls = Record<string, InDoubtCall>;

/** A change of an actor that the engine makes by itself (engine-changes.ts). */
export type Change =
  /** Its record was of an older version of the machine; `snapshot` is what it has become. */
  | { kind: 'migrated'; migrations: string[]; snapshot: AnyMachineSnapshot }
  /** A runtime ended while the effects that were begun up to `seq` ran: they are taken up again, as further attempts. */
  | { kind: 'recovered'; seq: number }
  /** The store has lost what was committed after `storedSeq`, and with it what was `owed` and is not delivered yet. */
  | { kind: 'rolled-back'; storedSeq: number; owed: Outbox | undefined }
  /** It was out of service, and is taken back. */
  | { kind: 'released' }
  /** It was deleted at `seq`, so long ago that its journal has gone. */
  | { kind: 'forgotten'; seq: number };
