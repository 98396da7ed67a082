/**
 * One store, one simulated clock, and the runtimes (lives) that use them one after the other. A life ends with `stop`
 * or at once with `crash`; after a crash, it has no influence any more.
 */
import type { AnyEventObject } from 'xstate';
import type { RestoreReport } from '../../machines/kit/host.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { Clock } from '../../src/engine/clock.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import { Engine } from '../../src/engine/engine.js';
import { Feed } from '../../src/engine/feed.js';
import type { Logger } from '../../src/engine/logger.js';
import type { Store, StoreLevel, TopicRow } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type SimulatedClock, seededRandom, simulatedClock } from '../../src/testing/index.js';
import { type ControlledStore, controlledStore, faultyStore } from '../support/faulty-store.js';

export const leaseTtlMs = 15_000;

export interface Life {
  engine: Engine;
  store: ControlledStore;
  report: RestoreReport;
}

interface StartOptions {
  prefixes?: string[];
  through?: (store: Store) => Store;
}

interface LogLine {
  level: 'warn' | 'error';
  fields: object;
  message: string;
}

const asIs = (store: Store): Store => store;

export class Lab {
  readonly clock: SimulatedClock = simulatedClock();
  readonly data = memoryStore({ monotonicMs: () => this.clock.monotonicMs() });
  readonly logged: LogLine[] = [];
  readonly feed = new Feed(this.clock, this.#logger());
  #lives = 0;
  #alive = { now: true };

  /**
   * Begins a life on the stored state. Crashes the former life if it was not stopped.
   * @param through wraps the store for this life
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

  engine(kinds: ActorKind[], store: Store, reads?: StoreLevel): Engine {
    this.#lives += 1;
    const holder = `runtime ${this.#lives}`;
    const lease = { name: 'node/n1', holder, ttlMs: leaseTtlMs, ...(reads && { reads }) };
    const clock = this.#mortalClock(this.#alive);
    const random = seededRandom(this.#lives);
    return new Engine({ store, clock, random, logger: this.#logger(), lease, feed: this.feed }).host(kinds);
  }

  /** Returns the store for one life, until its end. */
  store(through: (store: Store) => Store = asIs): ControlledStore {
    const alive = this.#alive;
    const mortal = faultyStore(this.data, {
      how: (_, proceed) => (alive.now ? proceed() : new Promise(() => {})),
    });
    return controlledStore(through(mortal));
  }

  /** Ends all lives at once, like a power cut. */
  async crash(): Promise<void> {
    this.#alive.now = false;
    this.#alive = { now: true };
    await this.data.close();
    await this.data.open();
  }

  /** Waits until all pending work is done; no time passes. */
  rest(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Stops an engine; lets time pass for effects that need time to end. */
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

/** Outcome of a request: its answer, or its error. */
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

/** Returns the StagecraftError of a rejection. Throws if the work resolves, or rejects with another class. */
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
  for await (const entry of engine.journals.entries(address)) entries.push(entry);
  return entries;
}

/** Lists the journal entries of an actor as texts: `event add`, `stale timer …`. */
export async function historyOf(engine: Engine, address: string): Promise<string[]> {
  return (await journalOf(engine, address)).map(({ kind, event }) => `${kind} ${event?.type ?? 'begin'}`);
}

export async function topicOf(lab: Lab, topic: string): Promise<TopicRow[]> {
  return (await lab.data.readTopic(topic, 0, 10_000)).rows;
}

export const textsOf = (rows: TopicRow[]): AnyEventObject[] => rows.map(({ text }) => JSON.parse(text));
