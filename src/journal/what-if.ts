/**
 * Another course of events: replays a journal with some entries left out, changed or inserted, to see where they would have
 * led. Pure: no effect runs, and the live actor is not touched.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyEventObject } from 'xstate';
import type { EntrySource, JournalEntry, LiveEffect } from '../engine/actor/actor-record.js';
import type { HostedMachine } from '../engine/machine/hosted-machine.js';
import { type Moment, Replay, type Replayed } from '../engine/machine/replay.js';
import { messageOf, StagecraftError } from '../errors.js';
import { rpcOf } from './history-words.js';
import { machineAt } from './journal-file.js';

/** Change of an actor's past, to see where it would have led. */
export type Edit =
  /** Leaves out this entry. */
  | { drop: number }
  /** Gives this entry another event. */
  | { edit: number; event: AnyEventObject }
  /** Inserts an event right after this entry. */
  | { after: number; event: AnyEventObject };

/** Entry of the journal that can't happen in the other course, which ends before it. */
export interface CourseEnd {
  seq: number;
  why: string;
}

/** Most edits of one course. */
export const mostEdits = 99;

const seqOf = (edit: Edit): number => ('drop' in edit ? edit.drop : 'edit' in edit ? edit.edit : edit.after);

/**
 * A course of events. After the first edit, entries of the journal are applied as long as they can still happen: an answer
 * as long as the same was asked for, a timer as long as it is set.
 */
export class OtherCourse {
  readonly #address: string;
  readonly #machine: HostedMachine;
  readonly #edits: readonly Edit[];
  readonly #past: Replay;
  /** The course as it was: its effects say which question each answer belongs to. */
  readonly #real: Replay;
  readonly #asked = new Map<string, LiveEffect>();
  /** Seq of the first edited entry. */
  readonly firstEdit: number;
  /** Set once `moments` has come to such an entry. */
  endedAt: CourseEnd | undefined;

  /** @throws {StagecraftError} ACTOR_NOT_FOUND if this version has no such machine; INVALID_ARGUMENT for too many edits */
  constructor(address: string, edits: readonly Edit[]) {
    this.#address = address;
    this.#machine = machineAt(address);
    this.#edits = edits;
    this.#past = new Replay(this.#machine);
    this.#real = new Replay(this.#machine);
    this.firstEdit = Math.min(...edits.map(seqOf));
    if (edits.length > mostEdits) throw this.#refusal(`${edits.length} edits are too many: give at most ${mostEdits}`);
  }

  /**
   * All steps, those before the first edit as they were. Entries of the journal keep their seq; inserted ones have decimals:
   * the first one after entry 5 is 5.01. Iterate only once.
   * @param entries of the actor, oldest first, as far back as they are kept
   * @throws {StagecraftError} INVALID_ARGUMENT if an edit names no entry of the journal, or inserts an answer that nothing
   *   waits for; JOURNAL_BROKEN if the state before the first edit is not known
   */
  async *moments(entries: AsyncIterable<JournalEntry>): AsyncGenerator<Moment, void> {
    let first: number | undefined;
    let last = 0;
    for await (const entry of entries) {
      first ??= entry.seq;
      last = entry.seq;
      this.#note(entry);
      const moment = this.#step(entry);
      if (moment) yield moment;
      if (this.endedAt) return;
      for (const [index, event] of this.#insertedAfter(last).entries()) yield this.#inserted(entry, index, event);
    }
    const has = first === undefined ? 'it is empty' : `it has ${first} to ${last}`;
    for (const seq of this.#edits.map(seqOf))
      if (seq > last || seq < (first ?? 0)) throw this.#refusal(`the journal has no entry ${seq}: ${has}`);
  }

  #note(entry: JournalEntry): void {
    const effects = this.#real.apply(entry)?.effects ?? [];
    if (entry.seq < this.firstEdit) this.#asked.clear();
    for (const effect of effects) this.#asked.set(keyOf(effect), effect);
  }

  #step(entry: JournalEntry): Moment | undefined {
    const { seq } = entry;
    if (seq < this.firstEdit) return this.#past.apply(entry);
    if (this.#edits.some((edit) => 'drop' in edit && edit.drop === seq)) return undefined;
    const changed = this.#edits.find((edit) => 'edit' in edit && edit.edit === seq);
    const isUntouched = !changed && seq === this.firstEdit;
    if (isUntouched) return this.#past.apply(entry);
    return this.#go(changed && 'event' in changed ? { ...entry, event: changed.event } : entry);
  }

  /** Applies an entry to a state that may be another one than it was. */
  #go(entry: JournalEntry): Moment | undefined {
    const now = this.#past.state;
    const why = this.#hindrance(entry, now);
    if (why) {
      this.endedAt = { seq: entry.seq, why };
      return undefined;
    }
    return this.#applied(this.#fitted(entry, now));
  }

  /** Returns why the entry can't happen in this state; undefined if it can. */
  #hindrance({ kind, version, source, input }: JournalEntry, now: Replayed): string | undefined {
    if (kind === 'migrated' || kind === 'rolled-back' || kind === 'forgotten' || version !== this.#machine.version)
      return 'here the engine wrote the whole state, and no other course leads past that';
    const isStillStale = kind === 'stale' && !isAskedFor(source, now);
    if (kind === 'recovered' || kind === 'released' || isStillStale) return undefined;
    if (!now.snapshot && !input) return 'in this course the actor is deleted before it';
    if (isAskedFor(source, now)) return this.#otherQuestion(source, now);
    if (source.kind === 'timer') return `timer ${source.id} fired, which is not set in this course`;
    return source.kind === 'effect' ? `${this.#answerTo(source)}, which was not made in this course` : undefined;
  }

  #otherQuestion(source: EntrySource, { effects }: Replayed): string | undefined {
    const was = source.kind === 'effect' ? this.#asked.get(keyOf(source)) : undefined;
    const is = was && effects.find((effect) => keyOf(effect) === keyOf(was));
    if (!was || !is || isDeepStrictEqual([was.src, was.input], [is.src, is.input])) return undefined;
    return `${this.#answerTo(is)}, which asks for something else in this course`;
  }

  #answerTo({ id, src = id }: { id: string; src?: string }): string {
    return `the answer to ${rpcOf(src, this.#address) ?? src} came`;
  }

  /** Makes the entry one that the engine would write in this state. */
  #fitted(
    { snapshot: _, effects: begun = [], timers: __, error, ...entry }: JournalEntry,
    now: Replayed,
  ): JournalEntry {
    const { kind, source } = entry;
    if (kind === 'recovered') {
      const again = new Map(begun.map((effect) => [keyOf(effect), effect]));
      return { ...entry, effects: now.effects.map((effect) => again.get(keyOf(effect)) ?? effect) };
    }
    if (kind === 'released' || (kind === 'stale' && !isAskedFor(source, now))) return entry;
    const { input, ...rest } = entry;
    if (!now.snapshot || !input) return { ...entry, kind: 'event' };
    // The actor is there already.
    return { ...rest, kind: rest.event ? 'event' : 'stale' };
  }

  #applied(entry: JournalEntry): Moment | undefined {
    this.#past.expect(entry.seq);
    try {
      return this.#past.apply(entry);
    } catch (error) {
      return this.#past.apply({ ...entry, kind: 'crash', error: messageOf(error) });
    }
  }

  #insertedAfter(seq: number): AnyEventObject[] {
    return this.#edits.flatMap((edit) => ('after' in edit && edit.after === seq ? [edit.event] : []));
  }

  #inserted({ seq: after, at, random }: JournalEntry, index: number, event: AnyEventObject): Moment {
    const seq = Number(`${after}.${String(index + 1).padStart(2, '0')}`);
    const now = this.#past.state;
    if (!now.snapshot)
      throw this.#refusal(`there is no actor after entry ${after}: insert the event where there is one`);
    const source = this.#sourceOf(event, now);
    const moment = this.#applied({ seq, at, random, kind: 'event', version: this.#machine.version, source, event });
    if (moment) return moment;
    throw this.#refusal(`nothing can be inserted after entry ${after}`);
  }

  /** An event of XState is the answer of an effect, or of a timer, that the state has to wait for. */
  #sourceOf({ type }: AnyEventObject, { seq, effects, timers }: Replayed): EntrySource {
    const effect = effects.find(({ id }) => type === `xstate.done.actor.${id}` || type === `xstate.error.actor.${id}`);
    if (effect) return { kind: 'effect', id: effect.id, seq: effect.seq };
    const timer = timers.find(({ event }) => event.type === type);
    if (timer) return { kind: 'timer', id: timer.id, seq: timer.seq };
    if (!type.startsWith('xstate.')) return { kind: 'request' };
    const awaited = [...effects.map(({ id }) => `xstate.done.actor.${id}`), ...timers.map(({ event }) => event.type)];
    throw this.#refusal(
      `nothing waits for ${type} after entry ${seq}: it waits for ${awaited.join(', ') || 'nothing'}`,
    );
  }

  #refusal(message: string): StagecraftError {
    return new StagecraftError('INVALID_ARGUMENT', message, { address: this.#address });
  }
}

const keyOf = ({ id, seq }: { id: string; seq: number }): string => `${seq} ${id}`;

function isAskedFor(source: EntrySource, { effects, timers }: Replayed): boolean {
  if (source.kind !== 'effect' && source.kind !== 'timer') return true;
  return (source.kind === 'effect' ? effects : timers).some((one) => keyOf(one) === keyOf(source));
}
