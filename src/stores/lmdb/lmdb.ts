/**
 * Embedded store: one LMDB environment in one directory, used by one process (the runtime locks its data directory).
 * A write resolves once it is on disk. Transactions: lmdb-writer.ts. Rows: lmdb-rows.ts. Reads run synchronously from
 * first to last row: a read transaction that outlives an await would keep LMDB from reusing pages.
 */

import type {
  Commit,
  CommitResult,
  Cursor,
  DueRow,
  Encoded,
  InboxRow,
  JournalRow,
  Lease,
  LeaseAsked,
  LeaseResult,
  OutboxRow,
  Range,
  Renewal,
  Store,
  StoredRecord,
  StorePage,
  TopicEntry,
  TopicPage,
} from '../../engine/store.js';
import { checkCommit } from '../commit-rule.js';
import { LeaseTable, type MonotonicMs } from '../leases.js';
import { checkName } from '../names.js';
import { numberedPosition, numberedToken, pageOf } from '../pages.js';
import { noteClosed } from './lmdb-check.js';
import { type Environment, openEnvironment } from './lmdb-environment.js';
import { NotTried } from './lmdb-pauses.js';
import * as rows from './lmdb-rows.js';
import { LmdbWriter } from './lmdb-writer.js';
import { noteNotOpen, noteOpen } from './open-paths.js';

export interface LmdbStoreOptions {
  /** Clock of the leases, and of the pauses while the disk is full; default `performance.now`. */
  monotonicMs?: MonotonicMs;
}

/**
 * Makes a store in the directory `path`, which open() creates (mode 0700) if it is missing. Leases of earlier
 * processes are void at open; their epochs are kept.
 */
export function lmdbStore(path: string, options: LmdbStoreOptions = {}): Store {
  return new LmdbStore(path, options.monotonicMs ?? (() => performance.now()));
}

/** Rows deleted in one transaction: deleting more at a time would block the event loop. */
const trimStep = 1_000;
const afterAll = Number.MAX_SAFE_INTEGER;

type NumberedRows = Environment['journal'];

/** Lasts from open() to close(). */
interface Session {
  env: Environment;
  writer: LmdbWriter;
}

class LmdbStore implements Store {
  readonly #path: string;
  readonly #leases: LeaseTable;
  readonly #monotonicMs: MonotonicMs;
  #current: Session | undefined;

  constructor(path: string, monotonicMs: MonotonicMs) {
    this.#path = path;
    this.#leases = new LeaseTable(monotonicMs);
    this.#monotonicMs = monotonicMs;
  }

  async open(): Promise<void> {
    if (this.#current !== undefined) return;
    const env = await openEnvironment(this.#path);
    this.#current = { env, writer: new LmdbWriter(env, { path: this.#path, monotonicMs: this.#monotonicMs }) };
    noteOpen(this.#path);
  }

  async close(): Promise<void> {
    const session = this.#current;
    this.#current = undefined;
    await session?.writer.idle();
    // Cleared only now: a waiting write may have been granted a lease.
    this.#leases.clear();
    if (session === undefined) return;
    await session.env.root.close();
    noteNotOpen(this.#path);
    await noteClosed(this.#path);
  }

  async acquireLease(asked: LeaseAsked): Promise<LeaseResult> {
    const { name, holder } = asked;
    checkName(name);
    return this.#write((env) => {
      const kept = rows.keptLease(env, name);
      const refusal = this.#leases.refusalOf(asked, kept);
      if (refusal) return refusal;
      const { lease, since } = rows.grantLease(env, kept, asked);
      this.#leases.grant(lease, holder);
      return { status: 'granted', lease, since, ...(this.#leases.isWanted(lease) && { wanted: true }) };
    });
  }

  async renewLease(lease: Lease): Promise<Renewal> {
    this.#opened();
    return this.#leases.renew(lease);
  }

  async releaseLease(lease: Lease): Promise<void> {
    this.#opened();
    this.#leases.release(lease);
  }

  async load(address: string): Promise<StoredRecord | undefined> {
    return rows.readRecord(this.#opened(), address);
  }

  async list({ prefix, after, limit }: Range): Promise<StorePage<StoredRecord>> {
    return pageOf(listed(this.#opened(), prefix, after), limit, (record) => record.address);
  }

  async due(query: Range & { untilMs: number }): Promise<StorePage<DueRow>> {
    return pageOf(dueRows(this.#opened(), query), query.limit, (row) => numberedToken(row.wakeAtMs, row.address));
  }

  async commit(items: Commit[]): Promise<CommitResult[]> {
    items.forEach(checkCommit);
    const written = this.#write((env) => {
      const lastGrant = rows.lastGrants(env);
      return items.map((item) => rows.applyCommit(env, item, lastGrant));
    });
    return written.catch((error: unknown) => {
      if (!(error instanceof NotTried)) throw error;
      return items.map(() => ({ status: 'refused', reason: error.message }));
    });
  }

  async unsettled({ prefix, after, limit }: Range): Promise<StorePage<OutboxRow>> {
    return pageOf(owed(this.#opened(), prefix, after), limit, (row) => numberedToken(row.seq, row.address));
  }

  async settle(settled: { address: string; seq: number }[]): Promise<void> {
    await this.#session().writer.writeSoon((env) => {
      for (const { address, seq } of settled) env.outbox.removeSync([address, seq]);
    });
  }

  async appendInbox(address: string, texts: Encoded[]): Promise<number[]> {
    checkName(address);
    return this.#write((env) => rows.appendInbox(env, address, texts));
  }

  async readInbox(address: string, after: number, limit: number): Promise<InboxRow[]> {
    return numbered(this.#opened().inbox, address, after + 1, limit).map(([id, text]) => ({ id, text }));
  }

  async appendTopic(topic: string, entries: TopicEntry[]): Promise<Cursor> {
    for (const name of [topic, ...entries.map((entry) => entry.source)]) checkName(name);
    return this.#session().writer.writeSoon((env) => rows.appendTopic(env, topic, entries));
  }

  async readTopic(topic: string, after: Cursor, limit: number): Promise<TopicPage> {
    const env = this.#opened();
    const newest = rows.newestCursor(env, topic);
    const [first] = numbered(env.topics, topic, 0, 1);
    return {
      rows: numbered(env.topics, topic, after + 1, limit).map(([cursor, value]) =>
        rows.decodeTopicRow(topic, cursor, value),
      ),
      oldest: first?.[0] ?? newest + 1,
      newest,
    };
  }

  async trimTopic(topic: string, upTo: Cursor): Promise<void> {
    await this.#trim((env) => env.topics, topic, upTo + 1);
  }

  async readJournal(address: string, from: number, limit: number): Promise<JournalRow[]> {
    const env = this.#opened();
    const last = rows.lastSeq(env, address);
    return numbered(env.journal, address, from, limit).flatMap(([seq, text]) => (seq > last ? [] : { seq, text }));
  }

  async trimJournal(address: string, below: number): Promise<void> {
    await this.#trim((env) => env.journal, address, below);
  }

  async #trim(rowsOf: (env: Environment) => NumberedRows, name: string, below: number): Promise<void> {
    let removed: number;
    do {
      removed = await this.#write((env) => {
        const keys = [...rowsOf(env).getKeys({ start: [name, 0], end: [name, below], limit: trimStep })];
        for (const key of keys) rowsOf(env).removeSync(key);
        return keys.length;
      });
    } while (removed === trimStep);
  }

  #opened(): Environment {
    return this.#session().env;
  }

  /** Runs `work` in a write transaction. Resolves once the whole transaction is on disk. */
  #write<T>(work: (env: Environment) => T): Promise<T> {
    return this.#session().writer.write(work);
  }

  #session(): Session {
    if (this.#current === undefined) throw new Error(`The store in ${this.#path} is closed: open() it first.`);
    return this.#current;
  }
}

function* listed(env: Environment, prefix: string, after: string | undefined): Generator<StoredRecord> {
  for (const { key, value } of env.records.getRange({ start: after ?? prefix })) {
    if (!key.startsWith(prefix)) return;
    if (key !== after) yield rows.decodeRow(key, value);
  }
}

function* dueRows(
  env: Environment,
  { prefix, after, untilMs }: { prefix: string; after?: string; untilMs: number },
): Generator<DueRow> {
  const begin = after === undefined ? undefined : numberedPosition(after);
  for (const [wakeAtMs, address] of env.wakes.getKeys(begin && { start: [begin.number, begin.address] })) {
    if (wakeAtMs > untilMs) return;
    const isBegin = wakeAtMs === begin?.number && address === begin.address;
    if (!isBegin && address.startsWith(prefix)) yield { address, wakeAtMs };
  }
}

function* owed(env: Environment, prefix: string, after: string | undefined): Generator<OutboxRow> {
  const begin = after === undefined ? { address: prefix, number: 0 } : numberedPosition(after);
  for (const { key, value } of env.outbox.getRange({ start: [begin.address, begin.number + 1] })) {
    const [address, seq] = key;
    if (!address.startsWith(prefix)) return;
    if (rows.isOwed(env, address, seq)) yield { address, seq, text: value };
  }
}

function numbered(table: NumberedRows, name: string, from: number, limit: number): [number, string][] {
  if (limit <= 0) return [];
  const found = [...table.getRange({ start: [name, from], end: [name, afterAll], limit })];
  return found.map(({ key: [, number], value }) => [number, value]);
}
