/** Rebuilds an actor's past states from its journal: same inputs, same states. Runs no effect. */
import type { AnyMachineSnapshot } from 'xstate';
import { StagecraftError } from '../../errors.js';
import type { JournalEntry, LiveEffect, LiveTimer, Outbox } from '../actor/actor-record.js';
import { workAfterCrash } from '../actor/engine-changes.js';
import { messageOfEntry } from '../actor/message.js';
import { defaultPolicy } from '../actor/policy.js';
import { applyEntry, workAfter } from '../actor/step.js';
import { isActorDeleted, unfired } from '../actor/step-result.js';
import { asData } from './data.js';
import type { HostedMachine, MachineStep, PersistedSnapshot } from './hosted-machine.js';

/** State of an actor after an entry of its journal. */
export interface Replayed {
  /** Seq of the last applied entry; 0 if there was none. */
  seq: number;
  /** Absent if the actor is deleted at this moment. */
  snapshot: PersistedSnapshot | undefined;
  /** Effects that the state waits for, started or not. */
  effects: LiveEffect[];
  timers: LiveTimer[];
}

/** Replayed step of an actor. */
export interface Moment extends Replayed {
  entry: JournalEntry;
  /** Messages to other actors that the step asked for. */
  messages: Outbox['messages'];
  /** Events that the step broadcast. */
  events: object[];
  /** Answer to the caller, if the input was a request. */
  answer?: MachineStep['answer'];
  /** Error of an input that made the machine throw, now as then; of a guard, its own error is the cause. Absent if it does not throw any more. */
  thrown?: Error;
}

interface Work {
  effects: LiveEffect[];
  timers: LiveTimer[];
}

const none: never[] = [];
const nothing: Work = { effects: none, timers: none };

/**
 * Replays a journal entry by entry. Moments whose state can't be known are left out: those after a gap, or of another
 * version of the machine, up to the next entry that holds the whole state.
 */
export class Replay {
  readonly #machine: HostedMachine;
  #seq = 0;
  /** Seq of the next entry, where it is not the next number. */
  #expected: number | undefined;
  #snapshot: AnyMachineSnapshot | undefined;
  #work = nothing;
  /** Times of the crashes that count for the crash limit. */
  #crashes: number[] = [];
  /** Why the state after `#seq` is unknown. */
  #unknown: string | undefined;

  constructor(machine: HostedMachine) {
    this.#machine = machine;
  }

  /** State after the last applied entry. @throws {StagecraftError} JOURNAL_BROKEN if it is not known */
  get state(): Replayed {
    if (this.#unknown) throw new StagecraftError('JOURNAL_BROKEN', this.#unknown);
    return this.#state();
  }

  /**
   * Applies the next entry. Throws what the machine throws at an entry that it once handled.
   * @returns the step; undefined: the state after it is not known
   */
  apply(entry: JournalEntry): Moment | undefined {
    const step = this.#advance(entry);
    this.#seq = entry.seq;
    this.#expected = undefined;
    if (this.#unknown) return undefined;
    return {
      entry,
      ...this.#state(),
      messages: step?.messages ?? none,
      events: step?.emitted ?? none,
      ...(step?.answer && { answer: step.answer }),
      ...(entry.kind === 'crash' && this.#thrownBy(entry)),
    };
  }

  /** Lets entry `seq` follow, though entries before it were left out or inserted. */
  expect(seq: number): void {
    this.#expected = seq;
  }

  /** Notes that there should be an entry `seq`, but that the journal begins later, with `first`. */
  missing(first: JournalEntry): void {
    this.#unknown = this.#gapBefore(first);
  }

  #state(): Replayed {
    const snapshot = this.#snapshot && this.#machine.persist(this.#snapshot);
    return { seq: this.#seq, snapshot, ...this.#work };
  }

  #advance(entry: JournalEntry): MachineStep | undefined {
    const machine = this.#machine;
    const gap = this.#gapBefore(entry);
    const isPresent = entry.version === machine.version;
    if (entry.snapshot !== undefined && isPresent && (this.#unknown || gap || isChange(entry))) {
      this.#snapshot = entry.snapshot ? machine.restore(asData(entry.snapshot)) : undefined;
      this.#work = { effects: entry.effects ?? none, timers: entry.timers ?? none };
      this.#unknown = undefined;
      return undefined;
    }
    if (entry.input && entry.kind === 'event' && isPresent) {
      this.#unknown = undefined;
      this.#snapshot = undefined;
      this.#work = nothing;
    } else this.#unknown ??= gap;
    if (this.#unknown) return undefined;
    if (entry.kind === 'event') return this.#step(entry);
    if (entry.kind === 'crash') this.#crash(entry);
    else if (entry.effects) this.#work = { ...this.#work, effects: entry.effects };
    return undefined;
  }

  #step(entry: JournalEntry): MachineStep {
    const step = applyEntry(this.#machine, this.#snapshot, entry);
    const message = messageOfEntry(entry);
    this.#work = isActorDeleted(step.snapshot)
      ? nothing
      : workAfter(
          { machine: this.#machine, kind: { effects: {} } },
          { effects: this.#work.effects, timers: unfired(this.#work.timers, message) },
          { message, entry, step },
        );
    this.#snapshot = isActorDeleted(step.snapshot) ? undefined : step.snapshot;
    return step;
  }

  #crash(entry: JournalEntry): void {
    const { most, withinMs } = defaultPolicy.crashes;
    this.#crashes = [...this.#crashes.filter((at) => at > entry.at - withinMs && at <= entry.at), entry.at];
    if (this.#crashes.length > most) return;
    this.#work = workAfterCrash(this.#work, messageOfEntry(entry), { entry, crashes: this.#crashes.length });
  }

  #thrownBy(entry: JournalEntry): { thrown?: Error } {
    try {
      applyEntry(this.#machine, this.#snapshot, entry);
      return {};
    } catch (error) {
      const thrown = error instanceof Error ? error : new Error(String(error));
      thrown.cause ??= this.#guardErrorAt(entry);
      return { thrown };
    }
  }

  /** Error of the guard that threw, with its own stack; undefined: no guard threw. */
  #guardErrorAt(entry: JournalEntry): unknown {
    let found: unknown;
    const watched = this.#machine.watched((error) => {
      found ??= error;
    });
    try {
      applyEntry(watched, this.#snapshot && watched.restore(asData(watched.persist(this.#snapshot))), entry);
    } catch {
      // It throws again, as expected.
    }
    return found;
  }

  /** Returns why an entry cannot follow the last one; undefined if it can. */
  #gapBefore(entry: JournalEntry): string | undefined {
    const seq = this.#seq;
    if (entry.seq !== (this.#expected ?? seq + 1)) {
      return seq === 0
        ? `what came before entry ${entry.seq} was forgotten`
        : `entry ${seq + 1} is missing: ${entry.seq} follows ${seq}`;
    }
    const { name, version } = this.#machine;
    // The version matters only for entries that the machine handled.
    if (entry.kind !== 'event' || entry.version === version) return undefined;
    return `entry ${entry.seq} is of ${name} version ${entry.version}; this runtime has version ${version}`;
  }
}

/** Tells whether the entry is a change by the engine, with the whole state, instead of a step of the machine. */
const isChange = ({ kind }: JournalEntry): boolean => kind !== 'event' && kind !== 'stale' && kind !== 'crash';

/** Tells whether a replay can begin with this entry. */
export const holdsState = (entry: JournalEntry, { version }: HostedMachine): boolean =>
  entry.version === version && (entry.snapshot !== undefined || (entry.kind === 'event' && entry.input !== undefined));

/**
 * @param entries of the actor, oldest first: from its first entry on, or from one that holds the whole state
 * @param to the last seq to apply; default: all
 * @throws {StagecraftError} JOURNAL_BROKEN if an entry is missing, was dropped, or is of another version of the machine
 */
export async function replay(
  machine: HostedMachine,
  entries: AsyncIterable<JournalEntry>,
  to = Number.POSITIVE_INFINITY,
): Promise<Replayed> {
  const past = new Replay(machine);
  let last = 0;
  for await (const entry of entries) {
    if (entry.seq > to) {
      if (last === 0 && to > 0) past.missing(entry);
      break;
    }
    past.apply(entry);
    last = entry.seq;
    if (last >= to) break; // later entries may be broken
  }
  return past.state;
}
