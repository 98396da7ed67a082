/**
 * Expected answers of a store, from a model too simple to be wrong. Reads like the port and shares no code with
 * stores.
 */

import type {
  Commit,
  CommitResult,
  DueRow,
  InboxRow,
  JournalRow,
  LeaseAsked,
  LeaseResult,
  OutboxRow,
  StoredRecord,
  TopicEntry,
  TopicPage,
  TopicRow,
} from '../../engine/store.js';

interface Topic {
  rows: TopicRow[];
  newest: number;
  marks: Map<string, { seq: number; index: number }>;
}

export class ModelStore {
  readonly #records = new Map<string, StoredRecord>();
  readonly #journals = new Map<string, JournalRow[]>();
  readonly #inboxes = new Map<string, { lastId: number; rows: InboxRow[] }>();
  readonly #topics = new Map<string, Topic>();
  readonly #leases = new Map<
    string,
    { epoch: number; owner: string; since: number; holder: string; isFree: boolean }
  >();
  #outbox: OutboxRow[] = [];

  commit(commit: Commit): CommitResult {
    const { address, commitId, expectedSeq, seq = expectedSeq + 1, epoch, owner, text, gone = false } = commit;
    const stored = this.#records.get(address);
    if (stored?.commitId === commitId && stored.seq === seq) return { status: 'done' };
    if ((stored?.seq ?? 0) !== expectedSeq || !isAllowed(stored, commit)) return conflictWith(stored);
    const wake = commit.wakeAtMs === undefined ? {} : { wakeAtMs: commit.wakeAtMs };
    this.#records.set(address, { address, seq, epoch, owner, commitId, gone, text, ...wake });
    const before = commit.journalBefore ?? [];
    const rows = before.map((entry, at) => ({ seq: seq - before.length + at, text: entry }));
    this.#journals.set(address, [...this.journal(address), ...rows, { seq, text: commit.journal }]);
    if (commit.outbox !== undefined) this.#outbox.push({ address, seq, text: commit.outbox });
    const inbox = this.#inbox(address);
    inbox.rows = inbox.rows.filter(({ id }) => !commit.consumed?.includes(id));
    return { status: 'done' };
  }

  record(address: string): StoredRecord | undefined {
    return this.#records.get(address);
  }

  journal(address: string): JournalRow[] {
    return this.#journals.get(address) ?? [];
  }

  trimJournal(address: string, below: number): void {
    this.#journals.set(
      address,
      this.journal(address).filter(({ seq }) => seq >= below),
    );
  }

  /** @param addresses in the order of their bytes */
  owed(addresses: string[]): OutboxRow[] {
    return addresses.flatMap((address) => this.#outbox.filter((row) => row.address === address));
  }

  /** @param addresses in the order of their bytes */
  due(addresses: string[], untilMs: number): DueRow[] {
    return addresses
      .map((address) => ({ address, wakeAtMs: this.record(address)?.wakeAtMs ?? Number.POSITIVE_INFINITY }))
      .filter(({ wakeAtMs }) => wakeAtMs <= untilMs)
      .sort((a, b) => a.wakeAtMs - b.wakeAtMs);
  }

  settle(rows: { address: string; seq: number }[]): void {
    const isSettled = (owed: OutboxRow) => rows.some((row) => row.address === owed.address && row.seq === owed.seq);
    this.#outbox = this.#outbox.filter((owed) => !isSettled(owed));
  }

  appendInbox(address: string, texts: string[]): number[] {
    const inbox = this.#inbox(address);
    const added = texts.map((text, i) => ({ id: inbox.lastId + 1 + i, text }));
    inbox.rows.push(...added);
    inbox.lastId += texts.length;
    return added.map(({ id }) => id);
  }

  inbox(address: string): InboxRow[] {
    return this.#inbox(address).rows;
  }

  appendTopic(name: string, entries: TopicEntry[]): number {
    const topic = this.#topic(name);
    for (const entry of entries) {
      const mark = topic.marks.get(entry.source) ?? { seq: -1, index: -1 };
      const isNewer = entry.seq === mark.seq ? entry.index > mark.index : entry.seq > mark.seq;
      if (!isNewer) continue;
      topic.marks.set(entry.source, entry);
      topic.newest += 1;
      topic.rows.push({ ...entry, cursor: topic.newest });
    }
    return topic.newest;
  }

  topic(name: string, after: number, limit: number): TopicPage {
    const { rows, newest } = this.#topic(name);
    const asked = rows.filter(({ cursor }) => cursor > after).slice(0, limit);
    return { rows: asked, oldest: rows[0]?.cursor ?? newest + 1, newest };
  }

  trimTopic(name: string, upTo: number): void {
    const topic = this.#topic(name);
    topic.rows = topic.rows.filter(({ cursor }) => cursor > upTo);
  }

  /** No time passes in the model: a lease is held until it is released. */
  acquireLease({ name, owner, ttlMs, holder, above = 0, seen = 0 }: LeaseAsked): LeaseResult {
    const last = this.#leases.get(name);
    if (last !== undefined && !last.isFree && last.owner !== owner)
      return { status: 'held', holder: last.holder, epoch: last.epoch };
    if ((last?.epoch ?? 0) < seen) return { status: 'forgotten' };
    const epoch = Math.max(last?.epoch ?? 0, above) + 1;
    const since = last?.owner === owner ? last.since : epoch;
    this.#leases.set(name, { epoch, owner, since, holder, isFree: false });
    return { status: 'granted', lease: { name, epoch, owner, ttlMs }, since };
  }

  renewLease(name: string, owner: string, epoch: number): boolean {
    const last = this.#leases.get(name);
    return last !== undefined && !last.isFree && last.owner === owner && last.epoch === epoch;
  }

  releaseLease(name: string, owner: string, epoch: number): void {
    const last = this.#leases.get(name);
    if (last !== undefined && this.renewLease(name, owner, epoch)) last.isFree = true;
  }

  #inbox(address: string): { lastId: number; rows: InboxRow[] } {
    const inbox = this.#inboxes.get(address) ?? { lastId: 0, rows: [] };
    this.#inboxes.set(address, inbox);
    return inbox;
  }

  #topic(name: string): Topic {
    const topic = this.#topics.get(name) ?? { rows: [], newest: 0, marks: new Map() };
    this.#topics.set(name, topic);
    return topic;
  }
}

function isAllowed(stored: StoredRecord | undefined, { epoch, owner }: Commit): boolean {
  if (stored === undefined || epoch > stored.epoch) return true;
  return epoch === stored.epoch && owner === stored.owner;
}

function conflictWith(stored: StoredRecord | undefined): CommitResult {
  if (stored === undefined) return { status: 'conflict' };
  const { seq, epoch, owner, commitId } = stored;
  return { status: 'conflict', stored: { seq, epoch, owner, commitId } };
}
