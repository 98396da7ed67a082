/** Makes the commit of an actor's steps. Pure. */
import { defaultBackoff } from '../../../machines/kit/backoff.js';
import type { ActorKind } from '../effects/effects.js';
import type { Commit } from '../store.js';
import type { WriteToken } from './actor-ports.js';
import type { JournalEntry } from './actor-record.js';
import type { JournalPolicy } from './policy.js';
import type { ActorDefinition, ActorState } from './step-result.js';
import type { Steps } from './steps.js';

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
