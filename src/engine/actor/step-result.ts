/** Result of one step of an actor, as data that can be written. */
import type { AnyMachineSnapshot } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import type { ActorKind } from '../effects/effects.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import type { Encoded } from '../store.js';
import {
  type ActorRecord,
  emptyRecord,
  encode,
  encodeOutbox,
  encodeRecord,
  type JournalEntry,
  type LiveTimer,
  type Outbox,
} from './actor-record.js';
import type { Message } from './message.js';
import { type ActorPolicy, answersKept } from './policy.js';

/** Committed state of an actor. */
export interface ActorState {
  seq: number;
  /** Absent before the actor began and after it was deleted. */
  snapshot: AnyMachineSnapshot | undefined;
  record: ActorRecord;
}

/** Step that is not committed yet. */
export interface StepResult {
  message: Message;
  entry: JournalEntry;
  next: ActorState;
  outbox: Outbox | undefined;
  answer: AnswerParams | undefined;
  /** The whole result as text. Encoded before the write, so that a value that cannot be encoded counts as a crash. */
  written: { text: Encoded; journal: Encoded; outbox: Encoded | undefined; events?: Encoded[] };
}

/** Stamp that the engine adds to every message of an actor. */
export interface Stamp {
  at: number;
  random: number;
}

export interface ActorDefinition {
  address: string;
  kind: ActorKind;
  machine: HostedMachine;
  policy: ActorPolicy;
}

export const engineEvent = (
  { policy }: ActorDefinition,
  at: number,
  event: { type: string; address: string; reason?: string },
): Outbox => ({ messages: [], events: [{ topic: policy.topic, event: { ...event, at } }] });

/** Tells whether an actor in this snapshot is deleted: its machine has ended, or its state is tagged `absent`. */
export const isActorDeleted = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.status === 'done' || snapshot.hasTag('absent');

export const tombstone = (machine: HostedMachine, { received, answers, doubts }: ActorRecord): ActorRecord => ({
  ...emptyRecord(machine),
  received,
  answers,
  ...(doubts && { doubts }),
});

export function written(
  { address, policy }: ActorDefinition,
  { message, entry, next, outbox, answer }: Omit<StepResult, 'written'>,
): StepResult {
  if (entry.seq % policy.journal.snapshotEvery === 0) entry.snapshot = next.record.snapshot ?? null;
  // A replay that begins here knows no earlier entry; and attempts counted by the engine are in no input.
  if (entry.snapshot !== undefined || entry.kind === 'recovered') {
    const { effects, timers } = next.record;
    if (effects.length > 0) entry.effects = effects;
    if (timers.length > 0) entry.timers = timers;
  }
  next.record.at = entry.at;
  const text = encodeRecord(address, next.record);
  const texts: StepResult['written'] = { text, journal: encode(entry), outbox: undefined };
  if (outbox) Object.assign(texts, encodeOutbox(outbox));
  return { message, entry, next, outbox, answer, written: texts };
}

/**
 * Writes all fields out: an object spread with fields added later gets a V8 shape of its own, and so does each copy.
 */
function copyOf(record: ActorRecord): ActorRecord {
  const { format, machine, version, at, effects, timers, received, answers, snapshot } = record;
  const { crashes, quarantined, doubts } = record;
  const copy: ActorRecord = { format, machine, version, at, effects, timers, received, answers };
  if (snapshot) copy.snapshot = snapshot;
  if (crashes) copy.crashes = crashes;
  if (quarantined) copy.quarantined = quarantined;
  if (doubts) copy.doubts = doubts;
  return copy;
}

/** Leaves out the timer that the message comes from: a timer fires once, whatever its event leads to. */
export const unfired = (timers: LiveTimer[], message: Message): LiveTimer[] =>
  message.kind === 'timer' ? timers.filter(({ id, seq }) => id !== message.id || seq !== message.seq) : timers;

/** Copies the record, with the message marked as handled. @param at moment of the step */
export function marked(
  record: ActorRecord,
  { message, at }: { message: Message; at: number },
  answer: AnswerParams | undefined,
): ActorRecord {
  const next = copyOf(record);
  if (message.kind === 'timer') {
    next.timers = unfired(next.timers, message);
  }
  if (message.kind === 'message') {
    const { address, seq, index } = message.sent.from;
    next.received = { ...next.received, [address]: [seq, index, at] };
  }
  if (message.kind === 'request' && message.requestId) {
    next.answers = [...next.answers.slice(1 - answersKept), [message.requestId, answer ?? null]];
  }
  return next;
}
