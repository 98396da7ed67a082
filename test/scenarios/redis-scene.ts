/**
 * Live engines and runtimes on real Redis servers and the real clock, and what is left of them in the store. Nothing
 * here sleeps for a while and hopes: each wait is for a condition, with a deadline.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { decodeEntry, decodeRecord, type JournalEntry } from '../../src/engine/actor/actor-record.js';
import { systemClock } from '../../src/engine/clock.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import { Engine } from '../../src/engine/engine.js';
import type { EngineOptions } from '../../src/engine/engine-parts.js';
import type { Logger } from '../../src/engine/logger.js';
import { systemRandom } from '../../src/engine/random.js';
import type { Store, StoredRecord } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { RedisLab } from '../redis/lab.js';
import { FakeKind } from '../registry/fake-kind.js';
import { eventually, within } from '../until.js';
import { type ClerkContext, clerkKinds, clerksTopic } from './redis-clerk.js';

export interface LogLine {
  level: string;
  code: string | undefined;
  message: string;
}

export interface OpenEngine {
  engine: Engine;
  logged: LogLine[];
}

export interface OpenRuntime {
  runtime: Runtime;
  kind: FakeKind;
  logged: LogLine[];
}

export const durable = ['appendonly yes', 'appendfsync always'];
const leaseTtlMs = 15_000;

export function loggerInto(logged: LogLine[]): Logger {
  const keep = (level: string) => (fields: object, message: string) => {
    const code = 'code' in fields ? String(fields.code) : undefined;
    logged.push({ level, code, message });
  };
  return { debug: () => undefined, info: keep('info'), warn: keep('warn'), error: keep('error') };
}

export const codes = (logged: LogLine[], code: string): string[] =>
  logged.flatMap((line) => (line.code === code ? [line.message] : []));

/** Servers, stores, engines and runtimes of one test; all gone after `clear`. */
export class Scene {
  readonly lab = new RedisLab();
  readonly #closing: (() => unknown)[] = [];
  readonly #directories: string[] = [];

  /** Called at the end, the last one first. */
  atEnd(close: () => unknown): void {
    this.#closing.push(close);
  }

  directory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
    this.#directories.push(directory);
    return directory;
  }

  /** A store of the test's own, to look with. */
  async reader(options: string | RedisStoreOptions): Promise<Store> {
    return (await this.lab.store(options)).store;
  }

  async runtime(options: Partial<RuntimeOptions> & { store: Store }): Promise<OpenRuntime> {
    const kind = new FakeKind();
    const logged: LogLine[] = [];
    const runtime = await createRuntime({
      nodeId: 'n1',
      dataDir: join(this.directory(), 'data'),
      dispensers: { device: kind },
      logger: loggerInto(logged),
      ...options,
    });
    this.atEnd(() => runtime.close().catch(() => undefined));
    return { runtime, kind, logged };
  }

  /** Opened, its clerks and tills restored. */
  async engine(
    store: string | RedisStoreOptions,
    {
      ttlMs = leaseTtlMs,
      holder = 'the test',
      kinds = clerkKinds(),
      ...options
    }: Partial<EngineOptions> & EngineMore = {},
  ): Promise<OpenEngine> {
    const logged: LogLine[] = [];
    const engine = new Engine({
      store: redisStore(store),
      clock: systemClock,
      random: systemRandom,
      logger: loggerInto(logged),
      lease: { name: 'node/n1', holder, ttlMs },
      ...options,
    }).host(kinds);
    this.atEnd(() => engine.stop().catch(() => undefined));
    await engine.open();
    await engine.restore(['clerk/', 'till/']);
    return { engine, logged };
  }

  async clear(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
    await this.lab.clear();
    for (const directory of this.#directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  }
}

interface EngineMore {
  ttlMs?: number;
  holder?: string;
  kinds?: ActorKind[];
}

/** How a call ended. */
export type Told = 'done' | 'refused' | 'unknown' | 'closed';

/** What became of the call; throws for any error that it must not end with. */
export async function told(work: Promise<unknown>): Promise<Told> {
  try {
    await work;
    return 'done';
  } catch (error) {
    if (!(error instanceof StagecraftError)) throw error;
    if (error.code === 'FENCED' || error.code === 'RUNTIME_CLOSED') return 'closed';
    if (error.code !== 'STORE_UNAVAILABLE' || !error.outcome) throw error;
    return error.outcome;
  }
}

/** Asks some clerks for one note after the other, each clerk at its own pace, and keeps what each call was told. */
export class Writers {
  /** By clerk, by note. */
  readonly told: Map<string, Told>[];
  readonly #engine: () => Engine;
  #stopped = false;
  readonly #running: Promise<void>[];

  /** @param pauseMs between the calls of one clerk */
  constructor(engine: () => Engine, clerks: number, pauseMs = 2) {
    this.#engine = engine;
    this.told = Array.from({ length: clerks }, () => new Map());
    this.#running = this.told.map((_, clerk) => this.#write(clerk, pauseMs));
  }

  address = (clerk: number): string => `clerk/${clerk}`;

  done(clerk: number): string[] {
    return [...(this.told[clerk] ?? [])].flatMap(([note, how]) => (how === 'done' ? [note] : []));
  }

  count(how: Told): number {
    return this.told.reduce((sum, some) => sum + [...some.values()].filter((each) => each === how).length, 0);
  }

  /** Resolves when each clerk has got so many more answers. */
  async more(answers: number): Promise<void> {
    const goals = this.told.map((_, clerk) => this.done(clerk).length + answers);
    await eventually(`each clerk has ${answers} more answers`, () =>
      goals.every((goal, clerk) => this.done(clerk).length >= goal),
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await within('the last answers', Promise.all(this.#running));
  }

  async #write(clerk: number, pauseMs: number): Promise<void> {
    for (let n = 1; !this.#stopped; n += 1) {
      const note = `${clerk}-${n}`;
      this.told[clerk]?.set(note, await told(this.#engine().ask(this.address(clerk), { type: 'add', note })));
      await sleep(pauseMs);
    }
  }

  /**
   * What the clerks hold is what their callers were told: each answered note once and in order, none that was refused,
   * those of unknown outcome once or not at all. Record, journal, till and topic agree.
   * @param topicIsWhole false where the store went back in time: what it had of the topic is gone
   */
  async check(store: Store, engine: Engine, topicIsWhole = true): Promise<void> {
    for (const [clerk, all] of this.told.entries()) {
      const address = this.address(clerk);
      if (topicIsWhole) await owesNothing(store, address);
      await checkReplay(store, engine.journals, address);
      const notes = notesIn(await store.load(address));
      expect(notes, `${address}: what was answered`).to.include.members(this.done(clerk));
      const possible = [...all].flatMap(([note, how]) => (how === 'refused' ? [] : [note]));
      expect(notes, `${address}: in order, each once, none refused`).to.deep.equal(
        possible.filter((note) => notes.includes(note)),
      );
      await eventually(`till/${clerk} has all`, async () => {
        return notesIn(await store.load(`till/${clerk}`)).length >= notes.length;
      });
      expect(notesIn(await store.load(`till/${clerk}`)), `till/${clerk}`).to.deep.equal(notes);
      if (!topicIsWhole) continue;
      const rows = await topicRows(store, clerksTopic);
      const said = rows.filter(({ source }) => source === address).map(({ text }) => JSON.parse(text).note);
      expect(said, `the topic of ${address}`).to.deep.equal(notes);
    }
  }
}

/** What is under way comes to rest. */
export async function owesNothing(store: Store, prefix: string): Promise<void> {
  await eventually(`${prefix} owes nothing`, async () => {
    return (await store.unsettled({ prefix, limit: 1 })).rows.length === 0;
  });
}

/** What a clerk in memory holds. @throws Error where there is none */
export function clerkIn(engine: Engine, address: string): ClerkContext {
  const view = engine.peek(address);
  if (!view) throw new Error(`there is no ${address} in memory`);
  return view.context as ClerkContext;
}

const notesIn = (record: StoredRecord | undefined): string[] => (contextOf(record) as ClerkContext).notes;

export const contextOf = (record: StoredRecord | undefined): object => {
  const { snapshot } = decodeRecord(record?.text ?? '');
  if (!snapshot || !('context' in snapshot)) throw new Error(`${record?.address} has no context`);
  return snapshot.context as object;
};

/** The journal is unbroken, and leads to what is stored. */
export async function checkReplay(
  store: Store,
  journal: { replay(address: string): Promise<{ seq: number; snapshot: unknown }> },
  address: string,
): Promise<void> {
  for (;;) {
    const record = await store.load(address);
    if (!record) throw new Error(`there is no ${address}`);
    const { seq, snapshot } = await journal.replay(address);
    if (seq !== record.seq) {
      const again = await store.load(address);
      if (again?.seq !== record.seq) continue; // it moves
    }
    expect(seq, `${address}: the last journal entry`).to.equal(record.seq);
    expect(snapshot, `${address}: replayed`).to.deep.equal(decodeRecord(record.text).snapshot);
    return;
  }
}

export async function entriesOf(store: Store, address: string): Promise<JournalEntry[]> {
  return (await store.readJournal(address, 0, 100_000)).map(({ text }) => decodeEntry(text));
}

export async function topicRows(store: Store, topic: string) {
  return (await store.readTopic(topic, 0, 100_000)).rows;
}

export async function recordsOf(store: Store, prefix: string): Promise<StoredRecord[]> {
  return (await store.list({ prefix, limit: 100_000 })).rows;
}

/** All leases lapse now, as if their time had passed. */
export async function lapseLeases(client: Redis): Promise<void> {
  for await (const keys of client.scanStream({ match: '*:h:*', count: 1_000 })) {
    for (const key of keys) await client.pexpire(key, 1);
  }
}
