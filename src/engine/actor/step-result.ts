/** What a step of an actor leads to, as data that can be written. */
import type { AnyMachineSnapshot } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import type { ActorKind } from '../effects/effects.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import type { Encoded } from '../store.js';
import { type ActorRecord, emptyRecord, encode, type JournalEntry, type Outbox } from './actor-record.js';
import type { Mail } from './message.js';
import type { ActorPolicy } from './policy.js';

/** An actor as it was committed last. */
export interface ActorState {
  seq: number;
  /** Absent before it was begun and after it ended. */
  snapshot: AnyMachineSnapshot | undefined;
  envelope: ActorRecord;
}

/** A mail that was taken, but is not committed yet. */
export interface StepResult {
  mail: Mail;
  entry: JournalEntry;
  next: ActorState;
  outbox: Outbox | undefined;
  answer: AnswerParams | undefined;
  /** All of it as text: what can't be written is a crash, before anything is. */
  written: { text: Encoded; journal: Encoded; outbox: Encoded | undefined };
}

/** What the engine stamps on everything that an actor takes. */
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

/** An event of the engine's own. */
export const engineEvent = (
  { policy }: ActorDefinition,
  at: number,
  event: { type: string; address: string; reason?: string },
): Outbox => ({ messages: [], events: [{ topic: policy.topic, event: { ...event, at } }] });

/** Whether an actor in this snapshot is deleted: its machine has ended, or is in a state tagged `absent`. */
export const isGone = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.status === 'done' || snapshot.hasTag('absent');

/** What a deleted actor leaves. */
export const tombstone = (machine: HostedMachine, { received, answers, doubts }: ActorRecord): ActorRecord => ({
  ...emptyRecord(machine),
  received,
  answers,
  ...(doubts && { doubts }),
});

export function written(
  { policy }: ActorDefinition,
  { mail, entry, next, outbox, answer }: Omit<StepResult, 'written'>,
): StepResult {
  if (entry.seq % policy.journal.snapshotEvery === 0) entry.snapshot = next.envelope.snapshot ?? null;
  const texts = { text: encode(next.envelope), journal: encode(entry), outbox: outbox && encode(outbox) };
  return { mail, entry, next, outbox, answer, written: texts };
}
