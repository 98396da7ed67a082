/**
 * Pure step of an actor: (state, message, stamp) → next state, and everything to write and do. Writes nothing and
 * starts nothing. Who commits it and then acts: actor.ts
 */
import type { AnyMachineSnapshot } from 'xstate';
import { messageOf } from '../../errors.js';
import type { ActorKind } from '../effects/effects.js';
import { doubted, lastingMs } from '../effects/in-doubt-calls.js';
import { asData } from '../machine/data.js';
import type { HostedMachine, MachineStep } from '../machine/hosted-machine.js';
import type { ActorRecord, JournalEntry, LiveEffect, LiveTimer, Outbox } from './actor-record.js';
import { crashed, stepChange } from './engine-changes.js';
import { type Message, sourceOf } from './message.js';
import {
  type ActorDefinition,
  type ActorState,
  isActorDeleted,
  marked,
  type Stamp,
  type StepResult,
  tombstone,
  written,
} from './step-result.js';

const none: LiveEffect[] = [];

/**
 * Returns undefined if no actor is at the address, and its kind cannot begin one for this message.
 * @param storedSeq seq of the stored record: later steps are not committed yet, and their effects have made no call
 */
export function stepActor(
  definition: ActorDefinition,
  state: ActorState,
  message: Message,
  stamp: Stamp,
  storedSeq = state.seq,
): StepResult | undefined {
  if (message.kind === 'engine') return stepChange(definition, state, message.change, stamp);
  const { machine, kind, address } = definition;
  const { at, random } = stamp;
  const entry: JournalEntry = {
    seq: state.seq + 1,
    at,
    random,
    kind: isStale(state, message) ? 'stale' : 'event',
    version: machine.version,
    source: sourceOf(message),
  };
  const { event, input }: Pick<JournalEntry, 'event' | 'input'> = message.kind === 'message' ? message.sent : message;
  if (event) entry.event = event;
  if (message.kind === 'effect' && message.says === 'result' && message.sentAtMs !== undefined)
    entry.sentAtMs = message.sentAtMs;
  else if (input) entry.input = input;
  if (entry.kind === 'stale') return unmoved(definition, state, message, entry);
  try {
    if (!state.snapshot && !entry.input) {
      const input = kind.begin?.(address, state.seq);
      if (!input) return undefined;
      entry.input = asData(input);
    }
    const step = applyEntry(machine, state.snapshot, entry);
    return moved(definition, state, { message, entry, step }, storedSeq);
  } catch (error) {
    return crashed(definition, state, message, { ...entry, kind: 'crash', error: messageOf(error) });
  }
}

/** Applies one journalled input: the same function for a live step and for a replay. Throws what the machine throws. */
export function applyEntry(
  machine: HostedMachine,
  snapshot: AnyMachineSnapshot | undefined,
  { seq, at, random, input, event }: JournalEntry,
): MachineStep {
  const begun = input ? machine.begin(input) : undefined;
  const present = begun?.snapshot ?? snapshot;
  if (!present) throw new Error(`the entry ${seq} finds no actor`);
  if (!event) return begun ?? machine.step(present, { type: 'xstate.none', at, random });
  const step = machine.step(present, Object.assign({}, event, { at, random }));
  if (!begun) return step;
  return {
    ...step,
    started: [...begun.started, ...step.started],
    timers: [...begun.timers, ...step.timers],
    messages: [...begun.messages, ...step.messages],
    emitted: [...begun.emitted, ...step.emitted],
    answer: step.answer ?? begun.answer,
  };
}

/** Tells whether the state no longer waits for this input. XState itself would apply it. */
function isStale({ snapshot, record }: ActorState, message: Message): boolean {
  switch (message.kind) {
    case 'request':
    case 'engine':
      return false;
    case 'message':
      return message.sent.input !== undefined && snapshot !== undefined; // the actor has begun already
    case 'effect':
      return !record.effects.some(({ id, seq }) => id === message.id && seq === message.seq);
    case 'timer':
      return !record.timers.some(({ id, seq }) => id === message.id && seq === message.seq);
  }
}

/** Records the message as handled, without a change of the machine's state. */
function unmoved(
  definition: ActorDefinition,
  { snapshot, record }: ActorState,
  message: Message,
  entry: JournalEntry,
): StepResult {
  const next = { seq: entry.seq, snapshot, record: marked(record, { message, at: entry.at }, undefined) };
  return written(definition, { message, entry, next, outbox: undefined, answer: undefined });
}

interface Move {
  message: Message;
  entry: JournalEntry;
  step: MachineStep;
}

function moved(
  definition: ActorDefinition,
  { record }: ActorState,
  { message, entry, step }: Move,
  storedSeq: number,
): StepResult {
  const { seq, at } = entry;
  const answer = step.answer && asData(step.answer);
  const outbox = outboxOf(definition, step, at);
  const next = marked(record, { message, at }, answer);
  const isKept = !isActorDeleted(step.snapshot);
  const work = isKept
    ? workAfter(definition, { effects: record.effects, timers: next.timers }, { message, entry, step })
    : undefined;
  const effects = work?.effects ?? none;
  if (record.effects !== effects) leave(definition, next, { message, effects, storedSeq });
  if (!work) {
    const gone = { seq, snapshot: undefined, record: tombstone(definition.machine, next) };
    return written(definition, { message, entry, next: gone, outbox, answer });
  }
  next.snapshot = definition.machine.persist(step.snapshot);
  next.effects = effects;
  next.timers = work.timers;
  return written(definition, { message, entry, next: { seq, snapshot: step.snapshot, record: next }, outbox, answer });
}

/** Records in-doubt calls: an effect that ended without a result, or with one in doubt, may have left its call running. */
function leave(
  { kind }: ActorDefinition,
  next: ActorRecord,
  { message, effects, storedSeq }: { message: Message; effects: LiveEffect[]; storedSeq: number },
): void {
  const ended = message.kind === 'effect' && message.says === 'result' && !message.isInDoubt ? message.id : undefined;
  const left = next.effects.filter(
    (effect) => effect.id !== ended && effect.seq <= storedSeq && !effects.includes(effect),
  );
  const doubts = doubted(kind, next.doubts, left);
  if (doubts) next.doubts = doubts;
}

function outboxOf(
  { machine, kind, address }: ActorDefinition,
  { messages, emitted }: MachineStep,
  at: number,
): Outbox | undefined {
  if (messages.length + emitted.length === 0) return undefined;
  if (emitted.length === 0) return { messages, events: [] };
  const topic = kind.topic?.(address);
  if (!topic) throw new Error(`${machine.name} emits '${emitted[0]?.type}', but its kind has no topic`);
  return { messages, events: emitted.map((event) => ({ topic, event: Object.assign({}, event, { at }) })) };
}

/** Effects and timers that the state waits for after a step. */
export const workAfter = (
  definition: { machine: HostedMachine; kind: Pick<ActorKind, 'effects'> },
  { effects, timers }: Pick<ActorRecord, 'effects' | 'timers'>,
  move: Move,
): Pick<ActorRecord, 'effects' | 'timers'> => ({
  effects: effectsAfter(definition, effects, move),
  timers: timersAfter(timers, move),
});

/** Effects live as long as their state is active. A state that is entered again starts a new effect. */
function effectsAfter(
  { machine, kind }: { machine: HostedMachine; kind: Pick<ActorKind, 'effects'> },
  before: LiveEffect[],
  { message, entry, step }: Move,
): LiveEffect[] {
  if (before.length === 0 && step.started.length === 0) return before;
  const active = machine.activeInvokes(step.snapshot);
  const { started } = step;
  const effects: LiveEffect[] = [];
  for (const effect of before) {
    const { id } = effect;
    const says = message.kind === 'effect' && message.id === id ? message.says : undefined;
    if (says === 'result' || !active.includes(id) || started.some((one) => one.id === id)) continue;
    effects.push(effect);
  }
  for (const one of started) {
    const { id, src, input } = one;
    // If a state was entered twice, the last entry counts.
    if (!active.includes(id)) continue;
    const { seq } = entry;
    const lastsMs = lastingMs(kind, one);
    const live: LiveEffect = lastsMs === undefined ? { id, src, input, seq } : { id, src, input, seq, lastsMs };
    const recipient = lastsMs === undefined ? undefined : kind.effects[src]?.recipient?.of(input as never);
    if (recipient) live.recipient = recipient;
    put(effects, live);
  }
  return effects;
}

/** Replaces the item with the same id, or appends. */
function put<T extends { id: string }>(list: T[], item: T): void {
  const at = list.findIndex(({ id }) => id === item.id);
  if (at < 0) list.push(item);
  else list[at] = item;
}

function timersAfter(before: LiveTimer[], { entry: { seq, at }, step }: Move): LiveTimer[] {
  if (before.length === 0 && step.timers.length === 0) return before;
  let timers = before.slice();
  for (const [index, change] of step.timers.entries()) {
    if ('cancelled' in change) {
      timers = timers.filter(({ id }) => id !== change.id);
      continue;
    }
    const id = change.id ?? `${seq}.${index}`;
    const { delayMs, event } = change;
    put(timers, { id, seq, dueAtMs: at + delayMs, delayMs, event });
  }
  return timers;
}
