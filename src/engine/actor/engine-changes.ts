/**
 * Changes that the engine makes to an actor without asking its machine: each is a commit and a journal entry of its
 * own. Pure, like step.ts. When each change is due: actor.ts
 */
import type { AnyMachineSnapshot } from 'xstate';
import { defaultBackoff, jittered } from '../../../machines/kit/backoff.js';
import { limitOf } from '../effects/effects.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import {
  type ActorRecord,
  type EngineChange,
  emptyRecord,
  type JournalEntry,
  type LiveEffect,
  type Outbox,
} from './actor-record.js';
import { anotherTry } from './crashes.js';
import {
  type ActorDefinition,
  type ActorState,
  engineEvent,
  isActorDeleted,
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
