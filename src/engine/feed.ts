/**
 * Feed of what all actors of a runtime do, for inspectors: one record for each input, snapshot, effect, timer, message and
 * broadcast, in order. Nothing is stored: what happened before the first listener is in the journals. Without a
 * listener it costs one comparison per commit. Slow viewers: feed-viewer.ts
 */
import type { AnyEventObject, AnyMachineSnapshot, StateValue } from 'xstate';
import { type PartView, partChanges } from '../../machines/kit/parts.js';
import { pathOf as valuePathOf } from '../../machines/kit/state-path.js';
import { messageOf } from '../errors.js';
import type { JournalEntry, LiveEffect, LiveTimer, Outbox } from './actor/actor-record.js';
import type { ActorDefinition, ActorState } from './actor/step-result.js';
import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

export type FeedRecord = {
  /** Rises by one with each record of this runtime, while anybody listens. */
  seq: number;
  /** Milliseconds since the epoch. */
  at: number;
  address: string;
} & FeedBody;

/** Content of a record. `commit` is the seq of the actor's commit that the record belongs to. */
export type FeedBody =
  /** The actor began, came into memory, left it, was deleted, or is out of service for `reason`. */
  | { kind: 'actor'; phase: ActorPhase; machine?: string; version?: string; reason?: string }
  /** An input of the actor, as its journal has it. */
  | { kind: 'event'; commit: number; entry: JournalEntry }
  /**
   * State after the input; without state and context the actor is deleted. `path`, `pathBefore`: the same as people see it, such
   * as `pending-publish.calling`.
   */
  | {
      kind: 'snapshot';
      commit: number;
      machine: string;
      before?: StateValue;
      pathBefore?: string;
      state?: StateValue;
      path?: string;
      context?: object;
    }
  /** A part of the actor that came, went or changed its state. `part` is absent once it is gone. */
  | { kind: 'part'; commit: number; id: string; before?: string; part?: PartView }
  | ({ kind: 'effect'; commit: number; id: string; src: string; attempt: number } & EffectPhase)
  /** `set`, or no longer set: it has fired, or its state was left. */
  | { kind: 'timer'; commit: number; id: string; phase: 'set' | 'cleared'; dueAtMs: number; event: AnyEventObject }
  | { kind: 'message'; commit: number; to: string; event?: AnyEventObject; input?: object }
  | { kind: 'broadcast'; commit: number; topic: string; event: AnyEventObject }
  /** The machine threw: its snapshot stays. */
  | { kind: 'crash'; commit: number; error: string; event?: AnyEventObject };

export type ActorPhase = 'begun' | 'loaded' | 'passivated' | 'deleted' | 'quarantined' | 'released';

export type EffectPhase =
  /** Committed: it starts now, or at `notBeforeMs`. */
  | { phase: 'requested'; input: unknown; notBeforeMs?: number }
  | { phase: 'started' }
  /** Its request goes out now. */
  | { phase: 'sent' }
  /** It sent its machine an event; with a result it has ended. */
  | { phase: 'event' | 'result'; event: AnyEventObject }
  /** Its state was left. */
  | { phase: 'left' };

type FeedListener = (record: FeedRecord) => void;

/** A commit, and what it has changed. */
interface Committed {
  entry: JournalEntry;
  before: ActorState;
  after: ActorState;
  outbox?: Outbox | undefined;
}

export class Feed {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #logger: Logger;
  readonly #listeners = new Set<FeedListener>();
  #seq = 0;
  /** Whether anybody listens. Ask before anything is computed for a record. */
  isWatched = false;

  constructor(clock: Pick<Clock, 'now'>, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Calls back for each record, right after the commit or the call. @returns a function that ends it */
  watch(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    this.isWatched = true;
    return () => {
      this.#listeners.delete(listener);
      this.isWatched = this.#listeners.size > 0;
    };
  }

  actor(
    address: string,
    phase: ActorPhase,
    details: { machine?: string; version?: string; reason?: string } = {},
  ): void {
    if (this.isWatched) this.#emit(address, this.#clock.now(), { kind: 'actor', phase, ...details });
  }

  effect(address: string, { id, src, seq, attempt = 1 }: LiveEffect, phase: EffectPhase): void {
    if (this.isWatched)
      this.#emit(address, this.#clock.now(), { kind: 'effect', commit: seq, id, src, attempt, ...phase });
  }

  /** Records of one commit, before anything that follows from it. */
  committed(actor: ActorDefinition, { entry, before, after, outbox }: Committed): void {
    const { address } = actor;
    const machine = actor.machine.name;
    const { parts, pathOf = valuePathOf } = actor.kind;
    const { seq: commit } = entry;
    const say = (body: FeedBody): void => this.#emit(address, entry.at, body);
    if (!before.snapshot && after.snapshot) say({ kind: 'actor', phase: 'begun', machine, version: entry.version });
    if (entry.kind === 'released') say({ kind: 'actor', phase: 'released' });
    say({ kind: 'event', commit, entry });
    if (entry.kind === 'crash') {
      say({ kind: 'crash', commit, error: entry.error ?? '', ...(entry.event && { event: entry.event }) });
    }
    if (before.snapshot !== after.snapshot) {
      const path = ({ value, context }: AnyMachineSnapshot): string => pathOf(value, context as never);
      const was = before.snapshot && { before: before.snapshot.value, pathBefore: path(before.snapshot) };
      const is = after.snapshot && {
        state: after.snapshot.value,
        path: path(after.snapshot),
        context: after.snapshot.context,
      };
      say({ kind: 'snapshot', commit, machine, ...was, ...is });
      if (parts && before.snapshot?.context !== after.snapshot?.context) {
        const shown = (context: object | undefined): PartView[] => (context ? parts(context as never) : []);
        for (const change of partChanges(shown(before.snapshot?.context), shown(after.snapshot?.context)))
          say({ kind: 'part', commit, ...change });
      }
    }
    this.#workChanges(address, entry.at, { before: before.record, after: after.record });
    for (const message of outbox?.messages ?? []) {
      const { to, event, input } = message;
      say({ kind: 'message', commit, to, ...(event && { event }), ...(input && { input }) });
    }
    for (const { topic, event } of outbox?.events ?? []) say({ kind: 'broadcast', commit, topic, event });
    if (before.snapshot && !after.snapshot) say({ kind: 'actor', phase: 'deleted' });
  }

  #workChanges(address: string, at: number, { before, after }: { before: Work; after: Work }): void {
    if (before.effects !== after.effects) {
      for (const live of missingIn(after.effects, before.effects))
        this.#emit(address, at, { kind: 'effect', ...named(live), phase: 'left' });
      for (const live of missingIn(before.effects, after.effects)) {
        const { input, notBeforeMs } = live;
        const later = notBeforeMs === undefined ? {} : { notBeforeMs };
        this.#emit(address, at, { kind: 'effect', ...named(live), phase: 'requested', input, ...later });
      }
    }
    if (before.timers === after.timers) return;
    const timer = ({ id, seq, dueAtMs, event }: LiveTimer, phase: 'set' | 'cleared'): void =>
      this.#emit(address, at, { kind: 'timer', commit: seq, id, phase, dueAtMs, event });
    for (const live of missingIn(after.timers, before.timers)) timer(live, 'cleared');
    for (const live of missingIn(before.timers, after.timers)) timer(live, 'set');
  }

  #emit(address: string, at: number, body: FeedBody): void {
    this.#seq += 1;
    const record: FeedRecord = { seq: this.#seq, at, address, ...body };
    for (const listener of this.#listeners) {
      try {
        listener(record);
      } catch (error) {
        this.#logger.error({ address }, `an inspector threw: ${messageOf(error)}`);
      }
    }
  }
}

interface Work {
  effects: LiveEffect[];
  timers: LiveTimer[];
}

const named = ({
  id,
  src,
  seq,
  attempt = 1,
}: LiveEffect): { commit: number; id: string; src: string; attempt: number } => ({
  commit: seq,
  id,
  src,
  attempt,
});

/** Items of `list` without one of the same name in `others`. */
const missingIn = <T extends { id: string; seq: number; attempt?: number }>(others: T[], list: T[]): T[] =>
  list.filter(
    (one) => !others.some(({ id, seq, attempt }) => id === one.id && seq === one.seq && attempt === one.attempt),
  );
