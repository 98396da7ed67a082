/**
 * Store in memory, for tests, simulations and benchmarks. Its data lives as long as the object: close() and open()
 * stand for a process that died and came back on the same data. Shares nothing between processes. The contract:
 * src/engine/store.ts
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
import { checkCommit, commitRefusal, isNewer, journalRows, seqOf, type TopicMark } from '../commit-rule.js';
import { holderAfter, type LastHolder, LeaseTable, type MonotonicMs, nextEpoch } from '../leases.js';
import { checkName, compareNames, indexFrom } from '../names.js';
import { numberedPosition, numberedToken, pageOf } from '../pages.js';

export interface MemoryStoreOptions {
  /** Clock of the leases; default `performance.now`. */
  monotonicMs?: MonotonicMs;
}

/** Makes a store in this process's memory. A write costs the same at any size; listings sort when called. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.monotonicMs ?? (() => performance.now()));
}

interface Inbox {
  lastId: number;
  texts: Map<number, Encoded>;
}

interface Topic {
  log: TrimmedLog<TopicEntry>;
  marks: Map<string, TopicMark>;
}

class MemoryStore implements Store {
  readonly #records = new Map<string, StoredRecord>();
  /** All addresses in order, with tombstones; undefined if an address was added since the last listing. */
  #addresses: string[] | undefined;
  readonly #wakes = new Map<string, number>();
  readonly #journals = new Map<string, TrimmedLog<Encoded>>();
  readonly #outboxes = new Map<string, Map<number, Encoded>>();
  readonly #inboxes = new Map<string, Inbox>();
  readonly #topics = new Map<string, Topic>();
  readonly #epochs = new Map<string, number>();
  readonly #lastHolders = new Map<string, LastHolder>();
  readonly #leases: LeaseTable;
  #isOpen = false;

  constructor(monotonicMs: MonotonicMs) {
    this.#leases = new LeaseTable(monotonicMs);
  }

  async open(): Promise<void> {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#leases.clear();
  }

  async acquireLease(asked: LeaseAsked): Promise<LeaseResult> {
    this.#checkOpen();
    const { name, owner, ttlMs, holder } = asked;
    checkName(name);
    const kept = { epoch: this.#epochs.get(name) ?? 0, last: this.#lastHolders.get(name) };
    const refusal = this.#leases.refusalOf(asked, kept);
    if (refusal) return refusal;
    const lease = { name, epoch: nextEpoch(kept.epoch, asked), owner, ttlMs };
    this.#epochs.set(name, lease.epoch);
    const last = holderAfter(kept.last, asked, lease.epoch);
    this.#lastHolders.set(name, last);
    this.#leases.grant(lease, holder);
    return { status: 'granted', lease, since: last.since, ...(this.#leases.isWanted(lease) && { wanted: true }) };
  }

  async renewLease(lease: Lease): Promise<Renewal> {
    this.#checkOpen();
    return this.#leases.renew(lease);
  }

  async releaseLease(lease: Lease): Promise<void> {
    this.#checkOpen();
    this.#leases.release(lease);
  }

  async load(address: string): Promise<StoredRecord | undefined> {
    this.#checkOpen();
    const record = this.#records.get(address);
    return record && { ...record };
  }

  async list({ prefix, after, limit }: Range): Promise<StorePage<StoredRecord>> {
    this.#checkOpen();
    return pageOf(this.#listed(prefix, after), limit, (record) => record.address);
  }

  async due({ prefix, untilMs, after, limit }: Range & { untilMs: number }): Promise<StorePage<DueRow>> {
    this.#checkOpen();
    const begin = after === undefined ? undefined : duePosition(after);
    const rows: DueRow[] = [];
    for (const [address, wakeAtMs] of this.#wakes) {
      const row = { address, wakeAtMs };
      const isAsked = wakeAtMs <= untilMs && address.startsWith(prefix);
      if (isAsked && (begin === undefined || compareDue(row, begin) > 0)) rows.push(row);
    }
    rows.sort(compareDue);
    return pageOf(rows, limit, (row) => numberedToken(row.wakeAtMs, row.address));
  }

  async commit(items: Commit[]): Promise<CommitResult[]> {
    this.#checkOpen();
    items.forEach(checkCommit);
    return items.map((item) => this.#apply(item));
  }

  async unsettled({ prefix, after, limit }: Range): Promise<StorePage<OutboxRow>> {
    this.#checkOpen();
    return pageOf(this.#owed(prefix, after), limit, (row) => numberedToken(row.seq, row.address));
  }

  async settle(rows: { address: string; seq: number }[]): Promise<void> {
    this.#checkOpen();
    for (const { address, seq } of rows) {
      const outbox = this.#outboxes.get(address);
      outbox?.delete(seq);
      if (outbox?.size === 0) this.#outboxes.delete(address);
    }
  }

  async appendInbox(address: string, texts: Encoded[]): Promise<number[]> {
    this.#checkOpen();
    checkName(address);
    const inbox = entryOf(this.#inboxes, address, newInbox);
    return texts.map((text) => {
      inbox.lastId += 1;
      inbox.texts.set(inbox.lastId, text);
      return inbox.lastId;
    });
  }

  async readInbox(address: string, after: number, limit: number): Promise<InboxRow[]> {
    this.#checkOpen();
    const rows: InboxRow[] = [];
    for (const [id, text] of this.#inboxes.get(address)?.texts ?? []) {
      if (rows.length >= limit) break;
      if (id > after) rows.push({ id, text });
    }
    return rows;
  }

  async appendTopic(topic: string, entries: TopicEntry[]): Promise<Cursor> {
    this.#checkOpen();
    for (const name of [topic, ...entries.map((entry) => entry.source)]) checkName(name);
    const { log, marks } = entryOf(this.#topics, topic, newTopic);
    for (const entry of entries) {
      if (!isNewer(entry, marks.get(entry.source))) continue;
      marks.set(entry.source, { seq: entry.seq, index: entry.index });
      log.push({ ...entry });
    }
    return log.newest;
  }

  async readTopic(topic: string, after: Cursor, limit: number): Promise<TopicPage> {
    this.#checkOpen();
    const { log } = this.#topics.get(topic) ?? newTopic();
    const rows = log.read(after + 1, limit).map(({ at, item }) => ({ cursor: at, ...item }));
    return { rows, oldest: log.oldest, newest: log.newest };
  }

  async trimTopic(topic: string, upTo: Cursor): Promise<void> {
    this.#checkOpen();
    this.#topics.get(topic)?.log.trim(upTo + 1);
  }

  async readJournal(address: string, from: number, limit: number): Promise<JournalRow[]> {
    this.#checkOpen();
    const rows = this.#journals.get(address)?.read(from, limit) ?? [];
    return rows.map(({ at, item }) => ({ seq: at, text: item }));
  }

  async trimJournal(address: string, below: number): Promise<void> {
    this.#checkOpen();
    this.#journals.get(address)?.trim(below);
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new Error('The memory store is closed: open() it first.');
  }

  #granted(lease = ''): { epoch: number; owner: string } | undefined {
    const last = this.#lastHolders.get(lease);
    return last && { epoch: this.#epochs.get(lease) ?? 0, owner: last.owner };
  }

  #apply(commit: Commit): CommitResult {
    const stored = this.#records.get(commit.address);
    const refused = commitRefusal(stored, commit, this.#granted(commit.lease));
    if (refused !== undefined) return refused;
    const record = recordOf(commit);
    if (stored === undefined) this.#addresses = undefined;
    this.#records.set(commit.address, record);
    this.#setWake(stored, record);
    const log = entryOf(this.#journals, commit.address, newJournal);
    for (const { seq, text } of journalRows(commit)) log.push(text, seq);
    this.#owe(commit.address, record.seq, commit.outbox);
    this.#consume(commit.address, commit.consumed);
    return { status: 'done' };
  }

  #setWake(stored: StoredRecord | undefined, record: StoredRecord): void {
    if (record.wakeAtMs !== undefined) this.#wakes.set(record.address, record.wakeAtMs);
    else if (stored?.wakeAtMs !== undefined) this.#wakes.delete(record.address);
  }

  #owe(address: string, seq: number, outbox: Encoded | undefined): void {
    if (outbox !== undefined) entryOf(this.#outboxes, address, newOutbox).set(seq, outbox);
  }

  #consume(address: string, ids: number[] | undefined): void {
    if (ids === undefined) return;
    const inbox = this.#inboxes.get(address);
    for (const id of ids) inbox?.texts.delete(id);
  }

  *#listed(prefix: string, after: string | undefined): Generator<StoredRecord> {
    this.#addresses ??= [...this.#records.keys()].sort(compareNames);
    const addresses = this.#addresses;
    for (let i = indexFrom(addresses, after ?? prefix); i < addresses.length; i++) {
      const address = addresses[i] ?? '';
      if (!address.startsWith(prefix)) return;
      const record = this.#records.get(address);
      if (record !== undefined && !record.gone && address !== after) yield { ...record };
    }
  }

  *#owed(prefix: string, after: string | undefined): Generator<OutboxRow> {
    const begin = after === undefined ? { address: prefix, number: 0 } : numberedPosition(after);
    const addresses = [...this.#outboxes.keys()].filter((address) => address.startsWith(prefix)).sort(compareNames);
    for (const address of addresses.slice(indexFrom(addresses, begin.address))) {
      // A Map keeps the order of insertion, and seqs only rise.
      for (const [seq, text] of this.#outboxes.get(address) ?? []) {
        if (address !== begin.address || seq > begin.number) yield { address, seq, text };
      }
    }
  }
}

function recordOf(commit: Commit): StoredRecord {
  const { address, epoch, owner, commitId, text, gone = false, wakeAtMs } = commit;
  const record: StoredRecord = { address, seq: seqOf(commit), epoch, owner, commitId, gone, text };
  if (wakeAtMs !== undefined) record.wakeAtMs = wakeAtMs;
  return record;
}

function duePosition(token: string): DueRow {
  const { number, address } = numberedPosition(token);
  return { wakeAtMs: number, address };
}

function compareDue(a: DueRow, b: DueRow): number {
  return a.wakeAtMs - b.wakeAtMs || compareNames(a.address, b.address);
}

function entryOf<T>(map: Map<string, T>, key: string, create: () => T): T {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

const newJournal = (): TrimmedLog<Encoded> => new TrimmedLog<Encoded>();
const newOutbox = (): Map<number, Encoded> => new Map<number, Encoded>();
const newInbox = (): Inbox => ({ lastId: 0, texts: new Map<number, Encoded>() });
const newTopic = (): Topic => ({ log: new TrimmedLog<TopicEntry>(), marks: new Map<string, TopicMark>() });

/** List whose positions only rise while its beginning may be deleted. Used by the memory store. */
class TrimmedLog<T> {
  #rows: { at: number; item: T }[] = [];
  #newest = 0;

  /** First position still kept; if all were deleted, the next position to be used. */
  get oldest(): number {
    return this.#rows[0]?.at ?? this.#newest + 1;
  }

  /** Last position used; 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** @param at above `newest`; positions in between stay empty */
  push(item: T, at = this.#newest + 1): void {
    this.#rows.push({ at, item });
    this.#newest = at;
  }

  read(from: number, limit: number): { at: number; item: T }[] {
    const start = this.#indexFrom(from);
    return this.#rows.slice(start, start + limit);
  }

  trim(below: number): void {
    const start = this.#indexFrom(below);
    if (start > 0) this.#rows = this.#rows.slice(start);
  }

  /** Index of the first row at or after this position. */
  #indexFrom(position: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle]?.at ?? position) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
