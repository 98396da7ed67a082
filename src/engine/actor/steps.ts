/**
 * Steps of one actor that share a commit, each built on the one before, and that commit: all of them are written, or none is.
 * Pure.
 */
import { defaultBackoff } from '../../../machines/kit/backoff.js';
import type { ActorKind } from '../effects/effects.js';
import type { Commit, Encoded } from '../store.js';
import type { WriteToken } from './actor-ports.js';
import { encodeOutbox, type JournalEntry, type Outbox } from './actor-record.js';
import { isRepeated, type Message } from './message.js';
import type { JournalPolicy } from './policy.js';
import { stepActor } from './step.js';
import type { ActorDefinition, ActorState, Stamp, StepResult } from './step-result.js';

export interface Steps {
  /** Steps before the last one, oldest first. */
  earlier: readonly StepResult[];
  last: StepResult;
  /** Messages and events that they owe together, and their texts. */
  outbox: { owed: Outbox; text: Encoded; events: readonly Encoded[] } | undefined;
}

/** Messages that wait for an actor, oldest first. */
interface Waiting {
  /** Returns the next message without taking it; undefined: there is none that may share a commit. */
  readonly first: Message | undefined;
  take(): void;
}

/** Length of the texts of a commit, in characters, from which on it takes no further step. */
const largeText = 256 * 1_024;

/**
 * Takes waiting messages into the commit of a step: those that lead to an ordinary step of a living actor. What is left waits for
 * the commit. A crash has a commit of its own, as it may put the actor out of service.
 */
export function stepsFrom(definition: ActorDefinition, first: StepResult, waiting: Waiting, stamp: () => Stamp): Steps {
  const { mostSteps } = definition.policy;
  const storedSeq = first.next.seq - 1;
  const earlier: StepResult[] = [];
  let last = first;
  let length = lengthOf(first);
  while (earlier.length + 1 < mostSteps && length < largeText && isOrdinary(last)) {
    const message = waiting.first;
    // The answer to a repeat has to wait for the commit.
    if (!message || isRepeated(last.next.record, message)) break;
    const step = tried(() => stepActor(definition, last.next, message, stamp(), storedSeq));
    if (!step || step.entry.kind === 'crash') break;
    waiting.take();
    earlier.push(last);
    last = step;
    length += lengthOf(step);
  }
  return { earlier, last, outbox: outboxOf(earlier, last) };
}

export const allSteps = ({ earlier, last }: Steps): StepResult[] => [...earlier, last];

const lengthOf = ({ written: { text, journal } }: StepResult): number => text.length + journal.length;

/** Tells whether the next step may build on this one before it is committed. */
const isOrdinary = ({ message, entry, next }: StepResult): boolean =>
  message.kind !== 'engine' && entry.kind !== 'crash' && next.record.snapshot !== undefined;

/** Returns undefined for a step that throws: its message is next after the commit, and throws then, too. */
function tried<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}

function outboxOf(earlier: readonly StepResult[], last: StepResult): Steps['outbox'] {
  if (!earlier.some(({ outbox }) => outbox)) {
    const { outbox: owed, written } = last;
    return owed && { owed, text: written.outbox ?? '', events: written.events ?? [] };
  }
  const owed: Outbox = { messages: [], events: [] };
  for (const { entry, outbox } of [...earlier, last]) {
    // Items keep the places of their own steps.
    outbox?.messages.forEach((message, at) => {
      owed.messages.push({ ...message, of: message.of ?? [entry.seq, at] });
    });
    outbox?.events.forEach((event, at) => {
      owed.events.push({ ...event, of: event.of ?? [entry.seq, at] });
    });
  }
  const { outbox: text, events } = encodeOutbox(owed);
  return { owed, text, events };
}

/** Builds the commit of the steps. The first argument has the stored `seq`, which the commit expects to find. */
export function commitOf(
  { address, seq: expectedSeq, policy, kind }: ActorDefinition & { seq: number },
  { earlier, last, outbox }: Steps,
  { commitId, lease, epoch, owner }: WriteToken,
): Commit {
  const { message, next, entry } = last;
  const { text, journal } = last.written;
  const commit: Commit = { address, commitId, expectedSeq, lease, epoch, owner, text, journal };
  if (earlier.length > 0) {
    commit.seq = next.seq;
    commit.journalBefore = earlier.map(({ written }) => written.journal);
  }
  if (message.kind === 'engine' && message.change.kind === 'rolled-back') {
    commit.expectedSeq = message.change.storedSeq;
    commit.seq = next.seq;
  }
  if (!next.record.snapshot) commit.gone = true;
  if (outbox) commit.outbox = outbox.text;
  const wakeAtMs = wakeAfter(next, entry, policy.journal, kind);
  if (wakeAtMs !== undefined) commit.wakeAtMs = wakeAtMs;
  return commit;
}

/** The next runtime is to look at it as it starts, whatever its clock says: that may have been set back. */
const atOnce = 0;
/** Timers up to this delay bring their actor into memory at start, and wait there. */
const shortMs = defaultBackoff.maxMs;

/** When something is to be done for it, should this runtime be gone by then. */
function wakeAfter(
  { record }: ActorState,
  { at, kind }: JournalEntry,
  { goneMs }: JournalPolicy,
  { onDemand }: ActorKind,
): number | undefined {
  // The next runtime must find the quarantined actor.
  if (record.quarantined) return atOnce;
  if (!record.snapshot) return kind === 'forgotten' ? undefined : at + goneMs;
  // Actors of other kinds are all loaded at start.
  if (record.effects.length > 0 && onDemand) return atOnce;
  const { timers } = record;
  if (timers.length === 0) return undefined;
  return Math.min(...timers.map(({ dueAtMs, delayMs = 0 }) => (onDemand && delayMs <= shortMs ? atOnce : dueAtMs)));
}
