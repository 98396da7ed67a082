/**
 * Crashes of an actor: how they are counted, and what is tried again after one. The limit: policy.ts. Who supervises
 * what: docs/supervision.md
 */

import { defaultBackoff, jittered } from '../../../machines/kit/backoff.js';
import type { AnswerParams } from '../../../machines/kit/host.js';
import type { ActorRecord, JournalEntry, LiveEffect, LiveTimer } from './actor-record.js';
import type { Message } from './message.js';
import {
  type ActorDefinition,
  type ActorState,
  engineEvent,
  marked,
  type Stamp,
  type StepResult,
  written,
} from './step-result.js';

/**
 * Leaves the machine's state as it was. Restarts the effect or timer whose result made the machine crash, as its state
 * still waits for it. After too many crashes, quarantines the actor and leaves its effects and timers unchanged.
 */
export function crashed(
  definition: ActorDefinition,
  { snapshot, record }: ActorState,
  message: Message,
  entry: JournalEntry,
): StepResult {
  const { most, withinMs } = definition.policy.crashes;
  const { seq, at, error: reason = '' } = entry;
  const answer: AnswerParams = { error: { code: 'ACTOR_CRASHED', message: reason, final: true } };
  const next = { seq, snapshot, record: { ...marked(record, { message, at }, answer), timers: record.timers } };
  const crashes = [...(record.crashes ?? []).filter((crashedAt) => crashedAt > at - withinMs && crashedAt <= at), at];
  next.record.crashes = crashes;
  if (crashes.length <= most) {
    Object.assign(next.record, workAfterCrash(record, message, { entry, crashes: crashes.length }));
    return written(definition, { message, entry, next, outbox: undefined, answer });
  }
  next.record.quarantined = { at, reason: `it crashed ${crashes.length} times in ${withinMs} ms, last: ${reason}` };
  const event = { type: 'actor.quarantined', address: definition.address, reason: next.record.quarantined.reason };
  return written(definition, { message, entry, next, outbox: engineEvent(definition, at, event), answer });
}

/** Effects and timers after a crash: those whose event the machine did not take are set again. */
export const workAfterCrash = (
  { effects, timers }: Pick<ActorRecord, 'effects' | 'timers'>,
  message: Message,
  crash: { entry: JournalEntry; crashes: number },
): Pick<ActorRecord, 'effects' | 'timers'> => ({
  effects: effectsAfterCrash(effects, message, crash),
  timers: timersAfterCrash(timers, message, crash),
});

function effectsAfterCrash(
  before: LiveEffect[],
  message: Message,
  { entry, crashes }: { entry: JournalEntry; crashes: number },
): LiveEffect[] {
  if (message.kind !== 'effect' || message.says !== 'result') return before;
  return before.map((effect) => (effect.id === message.id ? triedAgain(effect, entry, crashes) : effect));
}

function timersAfterCrash(
  before: LiveTimer[],
  message: Message,
  { entry, crashes }: { entry: JournalEntry; crashes: number },
): LiveTimer[] {
  if (message.kind !== 'timer') return before;
  return before.map((timer) =>
    timer.id === message.id && timer.seq === message.seq ? firedAgain(timer, entry, crashes) : timer,
  );
}

/**
 * Restarts an effect whose result made its machine crash, in the commit that records the crash. A new seq keeps late
 * events of the former run apart, also for an effect that lasts as long as its state.
 * @param crashes number of the actor's crashes that count. The delay grows with the crashes, not with the attempts:
 * restarts add attempts, and would spread the crashes so far that they never exceed the limit.
 */
function triedAgain(effect: LiveEffect, { seq, at, random }: Stamp & { seq: number }, crashes: number): LiveEffect {
  return { ...anotherTry(effect), seq, notBeforeMs: at + jittered(defaultBackoff, crashes, random) };
}

/**
 * Sets a timer again whose event made its machine crash, in the commit that records the crash: the state still waits
 * for it.
 */
function firedAgain(timer: LiveTimer, { seq, at, random }: Stamp & { seq: number }, crashes: number): LiveTimer {
  const delayMs = jittered(defaultBackoff, crashes, random);
  return { ...timer, seq, dueAtMs: at + delayMs, delayMs };
}

export const anotherTry = ({ attempt = 1, ...effect }: LiveEffect): LiveEffect & { attempt: number } => ({
  ...effect,
  attempt: attempt + 1,
});
