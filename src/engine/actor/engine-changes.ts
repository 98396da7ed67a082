/**
 * Steps that the engine decides, not the machine: its own changes to an actor, and the step after a crash. Pure, like step.ts.
 * When each change is due: actor.ts. The limit of crashes: policy.ts. Who supervises what: docs/supervision.md
 */
import type { AnyMachineSnapshot } from 'xstate';
import { defaultBackoff, jittered } from '../../../machines/kit/backoff.js';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { limitOf } from '../effects/effects.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import {
  type ActorRecord,
  type EngineChange,
  emptyRecord,
  type JournalEntry,
  type LiveEffect,
  type LiveTimer,
  type Outbox,
} from './actor-record.js';
import type { Message } from './message.js';
import {
  type ActorDefinition,
  type ActorState,
  engineEvent,
  isActorDeleted,
  marked,
  type Stamp,
  type StepResult,
  tombstone,
  written,
} from './step-result.js';

export function stepChange(
  definition: ActorDefinition,
  state: ActorState,
  change: EngineChange,
  stamp: Stamp,
): StepResult {
  const { machine } = definition;
  const seq = state.seq + 1;
  // Changes that come before a due migration still belong to the older version.
  const { machine: name, version } = change.kind === 'migrated' ? emptyRecord(machine) : state.record;
  const entry: JournalEntry = {
    seq,
    at: stamp.at,
    random: stamp.random,
    kind: change.kind,
    version,
    source: { kind: 'engine' },
  };
  const next: ActorState = { ...state, seq, record: { ...state.record, machine: name, version } };
  let outbox: Outbox | undefined;
  switch (change.kind) {
    case 'migrated':
      entry.migrations = change.migrations;
      if (isActorDeleted(change.snapshot)) {
        next.record = tombstone(machine, next.record);
      } else {
        next.snapshot = change.snapshot;
        next.record = {
          ...next.record,
          ...standingIn(machine, change.snapshot, { ...next.record, ...entry, effects: change.effects }),
        };
      }
      entry.snapshot = next.record.snapshot ?? null;
      break;
    case 'recovered':
      next.record.effects = next.record.effects.map((effect) =>
        effect.seq <= change.seq ? takenUp(definition, effect, stamp) : effect,
      );
      break;
    case 'rolled-back':
      entry.error = `the store had lost what came after seq ${change.storedSeq}`;
      entry.snapshot = next.record.snapshot ?? null;
      outbox = change.owed;
      break;
    case 'released':
      delete next.record.quarantined;
      delete next.record.crashes;
      outbox = engineEvent(definition, stamp.at, { type: 'actor.released', address: definition.address });
      break;
    case 'forgotten':
      next.record = { ...emptyRecord(machine), received: next.record.received };
      entry.snapshot = null;
      break;
  }
  return written(definition, { message: { kind: 'engine', change }, entry, next, outbox, answer: undefined });
}

/**
 * Tells whether a restart counts as another attempt: not for effects that last as long as their state, nor for
 * `atMostOnce`.
 */
export const isCounted = ({ kind }: ActorDefinition, { src, input }: LiveEffect): boolean => {
  const effect = kind.effects[src];
  return effect !== undefined && !effect.atMostOnce && Number.isFinite(limitOf(effect, input));
};

/**
 * Computes the effects and timers of a migrated snapshot: keeps those that its states still ask for, starts the others.
 */
function standingIn(
  machine: HostedMachine,
  snapshot: AnyMachineSnapshot,
  { effects, timers, seq, at, random }: Pick<ActorRecord, 'effects' | 'timers'> & Stamp & { seq: number },
): Pick<ActorRecord, 'snapshot' | 'effects' | 'timers'> {
  const standing = machine.standing(snapshot, { at, random });
  const known = new Set(standing.timers.map(({ id }) => id));
  const kept = timers.filter(({ id }) => known.has(id) || !id.startsWith('xstate.after.'));
  const begun = standing.timers.filter(({ id }) => !kept.some((timer) => timer.id === id));
  return {
    snapshot: machine.persist(snapshot),
    effects: standing.started.map(
      (effect) => effects.find(({ id, src }) => id === effect.id && src === effect.src) ?? { ...effect, seq },
    ),
    timers: [...kept, ...begun.map(({ id, delayMs, event }) => ({ id, seq, dueAtMs: at + delayMs, delayMs, event }))],
  };
}

function takenUp(definition: ActorDefinition, effect: LiveEffect, { at, random }: Stamp): LiveEffect {
  if (!isCounted(definition, effect)) return effect;
  const next = anotherTry(effect);
  return { ...next, notBeforeMs: at + jittered(defaultBackoff, next.attempt - 1, random) };
}

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

const anotherTry = ({ attempt = 1, ...effect }: LiveEffect): LiveEffect & { attempt: number } => ({
  ...effect,
  attempt: attempt + 1,
});
