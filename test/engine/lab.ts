/**
 * One store and one simulated clock, and the runtimes that live on them one after the other.
 * A life ends well (`stop`) or at once (`crash`): then nothing that it still holds has any influence.
 */
import type { AnyEventObject } from 'xstate';
import type { RestoreReport } from '../../machines/kit/host.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { Clock } from '../../src/engine/clock.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import { Engine } from '../../src/engine/engine.js';
import type { Logger } from '../../src/engine/logger.js';
import type { Store, TopicRow } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type SimulatedClock, seededRandom, simulatedClock } from '../../src/testing/index.js';
import { interceptedStore } from './intercepted-store.js';
import { type MoodyStore, moodyStore } from './moody-store.js';
import './quiet-xstate.js';

export const leaseTtlMs = 15_000;

export interface Life {
  engine: Engine;
  store: MoodyStore;
  report: RestoreReport;
}

export interface StartOptions {
  prefixes?: string[];
  through?: (store: Store) => Store;
}

export interface LogLine {
  level: 'warn' | 'error';
  fields: object;
  message: string;
}

const asIs = (store: Store): Store => store;

export class Lab {
  readonly clock: SimulatedClock = simulatedClock();
  readonly data = memoryStore({ monotonicMs: () => this.clock.monotonicMs() });
  readonly logged: LogLine[] = [];
  #lives = 0;
  #alive = { now: true };

  /**
   * Begins a life on what is stored, after the end of the one before: a crash where it was not stopped.
   * @param through what the life sees of the store
   */
  async start(kinds: ActorKind[], { prefixes = [''], through = asIs }: StartOptions = {}): Promise<Life> {
    await this.crash();
    const store = this.store(through);
    const engine = this.engine(kinds, store);
    await engine.open();
    const [report] = await Promise.all([engine.restore(prefixes), this.rest()]);
    await this.rest();
    return { engine, store, report };
  }

  /** An engine that is not opened. */
  engine(kinds: ActorKind[], store: Store): Engine {
    this.#lives += 1;
    const lease = { name: 'node/n1', holder: `runtime ${this.#lives}`, ttlMs: leaseTtlMs };
    const clock = this.#mortalClock(this.#alive);
    const random = seededRandom(this.#lives);
    return new Engine({ store, clock, random, logger: this.#logger(), lease }).host(kinds);
  }

  /** The store as this life sees it, until it ends. */
  store(through: (store: Store) => Store = asIs): MoodyStore {
    const alive = this.#alive;
    const mortal = interceptedStore(this.data, {
      pass: (_, proceed) => (alive.now ? proceed() : new Promise(() => {})),
    });
    return moodyStore(through(mortal));
  }

  /** Ends all lives at once, as a power cut does. */
  async crash(): Promise<void> {
    this.#alive.now = false;
    this.#alive = { now: true };
    await this.data.close();
    await this.data.open();
  }

  /** Lets all that is under way come to rest; no time passes. */
  rest(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Stops an engine, letting time pass where its effects need some to end. */
  async stop(engine: Engine): Promise<void> {
    const stopped = engine.stop();
    await this.clock.advance(10_000);
    await stopped;
    await this.data.open();
  }

  #mortalClock(alive: { now: boolean }): Clock {
    return {
      now: () => this.clock.now(),
      monotonicMs: () => this.clock.monotonicMs(),
      after: (delayMs, callback) => this.clock.after(delayMs, () => alive.now && callback()),
    };
  }

  #logger(): Logger {
    const keep =
      (level: LogLine['level']) =>
      (fields: object, message: string): void => {
        this.logged.push({ level, fields, message });
      };
    return { debug: () => {}, info: () => {}, warn: keep('warn'), error: keep('error') };
  }
}

/** How a request ended: its answer, or the error that it was rejected with. */
export interface Outcome {
  state: 'open' | 'answered' | 'rejected';
  value?: unknown;
  error?: StagecraftError;
}

/** Watches a request without waiting for it. */
export function watched(request: Promise<unknown>): Outcome {
  const outcome: Outcome = { state: 'open' };
  request.then(
    (value) => Object.assign(outcome, { state: 'answered', value }),
    (error) => Object.assign(outcome, { state: 'rejected', error }),
  );
  return outcome;
}

/** The error that this rejects with; throws where it doesn't, or with another class. */
export async function failureOf(work: Promise<unknown>): Promise<StagecraftError> {
  const error: unknown = await work.then(
    (value) => new Error(`expected a rejection, got ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  if (error instanceof StagecraftError) return error;
  throw error;
}

export async function journalOf(engine: Engine, address: string): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of engine.journal(address)) entries.push(entry);
  return entries;
}

/** What each entry of a journal was: `event add`, `stale timer …`. */
export async function historyOf(engine: Engine, address: string): Promise<string[]> {
  return (await journalOf(engine, address)).map(({ kind, event }) => `${kind} ${event?.type ?? 'begin'}`);
}

/** All that a topic holds. */
export async function topicOf(lab: Lab, topic: string): Promise<TopicRow[]> {
  return (await lab.data.readTopic(topic, 0, 10_000)).rows;
}

export const textsOf = (rows: TopicRow[]): AnyEventObject[] => rows.map(({ text }) => JSON.parse(text));
