/**
 * The port behind which every store stands. A store is dumb: it knows addresses, texts and sequence numbers,
 * never a machine or a snapshot. What it must keep is said here; src/testing/store-suite proves it for each of them.
 * Write order and why: docs/architecture.md#save-then-act
 */

/** Text that only the engine can read. */
export type Encoded = string;

/** The right to write some actors: an older epoch is refused, whoever holds it. */
export interface Lease {
  /** What is leased: `node/<id>` for the actors of a node. */
  name: string;
  /** Rises with every acquisition of the same name, for ever. */
  epoch: number;
  /** Random id of the holder's incarnation. */
  owner: string;
  /** On the store's side, milliseconds from grant to lapse. */
  ttlMs: number;
}

export interface LeaseAsked {
  name: string;
  owner: string;
  ttlMs: number;
  /** Who asks, in words for a person. */
  holder: string;
  /** The new epoch is higher than this one too: a store that lost writes may count from too low. */
  above?: number;
  /** Keeps the wish for a refused lease for `ttlMs`: the holder finds the wish as it renews. */
  wants?: boolean;
}

/** False: lost. `wanted`: renewed, and another owner was refused it and wants it. */
export type Renewal = boolean | 'wanted';

export type LeaseResult =
  /**
   * `since`: the epoch from which on this owner was the only one to be granted it, so that nobody else has acted.
   * `wanted`: another owner was refused it and wants it.
   */
  | { status: 'granted'; lease: Lease; since: number; wanted?: true }
  /** Lease of another owner; `holder` is the text that this owner gave. `isSilent`: no renewal for half of its time. */
  | { status: 'held'; holder: string; isSilent?: true };

/** One actor's latest committed state. A tombstone (`gone`) is what a deleted actor leaves. */
export interface StoredRecord {
  address: string;
  seq: number;
  epoch: number;
  owner: string;
  commitId: string;
  gone: boolean;
  /** The earliest moment at which something is to be done for this actor, in milliseconds since the epoch. */
  wakeAtMs?: number;
  text: Encoded;
}

export interface Commit {
  address: string;
  /** Names this very write: a repeat after a lost answer is told `done`, never applied twice. */
  commitId: string;
  /** The stored seq that this commit builds on; 0 for an actor that was never there. */
  expectedSeq: number;
  /** The seq that it becomes; default `expectedSeq + 1`. Higher only where the store has lost what came between. */
  seq?: number;
  /** The lease that allows this write: refused unless epoch and owner are of its last grant, whatever is stored. */
  lease?: string;
  epoch: number;
  owner: string;
  text: Encoded;
  /** The actor is deleted: it is no longer listed; its seq goes on if it is made anew. */
  gone?: boolean;
  wakeAtMs?: number;
  /** The journal entry of the new seq. */
  journal: Encoded;
  /** Messages and broadcast events owed to others; kept until `settle`. */
  outbox?: Encoded;
  /** Ids of stored inbox messages that this commit has applied. */
  consumed?: number[];
}

export type CommitResult =
  | { status: 'done' }
  /** Nothing was written for this address. `stored` is absent where there is no record. */
  | { status: 'conflict'; stored?: Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'> }
  /** Nothing was written: the commit's lease was granted to `owner` since. A repeat of what was written is `done`. */
  | { status: 'fenced'; epoch: number; owner: string }
  /** Nothing was written for this address, and that is known: the store takes no writes now, or not this one. */
  | { status: 'refused'; reason: string };

/** What a commit still owes to other actors and to topics. */
export interface OutboxRow {
  address: string;
  seq: number;
  text: Encoded;
}

export interface JournalRow {
  seq: number;
  text: Encoded;
}

export interface InboxRow {
  id: number;
  text: Encoded;
}

/** Position in one topic. 0 is before its first event. */
export type Cursor = number;

export interface TopicEntry {
  source: string;
  /** Of the commit that broadcast it. */
  seq: number;
  /** Among the events of that commit. */
  index: number;
  text: Encoded;
}

export interface TopicRow extends TopicEntry {
  cursor: Cursor;
}

export interface TopicPage {
  rows: TopicRow[];
  /** The first cursor still kept; a reader that asks from before `oldest - 1` has missed something. */
  oldest: Cursor;
  /** The cursor of the newest event, 0 if there never was one. */
  newest: Cursor;
}

export interface DueRow {
  address: string;
  wakeAtMs: number;
}

/** A page of a long listing; hand `next` back as `after` for the next one. */
export interface StorePage<T> {
  rows: T[];
  next?: string;
}

export interface Range {
  /** Addresses that begin with this. */
  prefix: string;
  after?: string;
  limit: number;
}

/** What a store has to say to whoever opened it, at any time until it is closed. */
export interface StoreEvents {
  /** It works, but can't keep all that this port promises: what is wrong and what to do, in words for a person. */
  warn(message: string): void;
  /**
   * Writes that were acknowledged may be gone: another server answers now, or the same one with older data.
   * Called before anything that this server answers is handed on.
   */
  suspect(reason: string): void;
}

/**
 * All methods reject with an `Error` when the store can't be reached or fails; the engine then repeats or reports,
 * and never assumes an outcome.
 */
export interface Store {
  open(events?: StoreEvents): Promise<void>;
  close(): Promise<void>;

  acquireLease(request: LeaseAsked): Promise<LeaseResult>;
  renewLease(lease: Lease): Promise<Renewal>;
  releaseLease(lease: Lease): Promise<void>;

  /** Tombstones included. */
  load(address: string): Promise<StoredRecord | undefined>;
  /** Without tombstones, ordered by address. */
  list(range: Range): Promise<StorePage<StoredRecord>>;
  /** Actors whose `wakeAtMs` is at or before `untilMs`, tombstones included, earliest first, then by address. */
  due(query: Range & { untilMs: number }): Promise<StorePage<DueRow>>;

  /** Atomic per item; what becomes of one harms no other. Resolves, in the order given, once all is durable. */
  commit(items: Commit[]): Promise<CommitResult[]>;

  /** What commits still owe, ordered by address and seq. */
  unsettled(range: Range): Promise<StorePage<OutboxRow>>;
  /** Everything that these commits owed was delivered. A repeat changes nothing. */
  settle(rows: { address: string; seq: number }[]): Promise<void>;

  /** Appends in order; resolves with the new ids, which rise by one per address. */
  appendInbox(address: string, texts: Encoded[]): Promise<number[]>;
  readInbox(address: string, after: number, limit: number): Promise<InboxRow[]>;

  /**
   * Appends what is newer than the topic's last (seq, index) of the same source; the rest is there already.
   * Resolves with the cursor of the newest event.
   */
  appendTopic(topic: string, entries: TopicEntry[]): Promise<Cursor>;
  readTopic(topic: string, after: Cursor, limit: number): Promise<TopicPage>;
  /** Forgets events up to and with this cursor. */
  trimTopic(topic: string, upTo: Cursor): Promise<void>;

  /** Entries with a seq of at least `from`, in order. */
  readJournal(address: string, from: number, limit: number): Promise<JournalRow[]>;
  /** Forgets entries below this seq. */
  trimJournal(address: string, below: number): Promise<void>;
}
