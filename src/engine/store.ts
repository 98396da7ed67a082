/**
 * Port that every store implements. A store keeps addresses, texts and sequence numbers; it knows no machine and no
 * snapshot. src/tools/store-suite proves the contract for each store. Write order and why:
 * docs/architecture.md#save-then-act
 */

/** Text that only the engine can read. */
export type Encoded = string;

/** Right to write some actors. The store refuses a write with an older epoch, whoever sends it. */
export interface Lease {
  /** Name of the lease: `node/<id>` for the actors of a node. */
  name: string;
  /** Rises with every acquisition of the same name, for ever. */
  epoch: number;
  /** Random id of the holder's incarnation. */
  owner: string;
  /** Milliseconds from grant to lapse, as the store counts them. */
  ttlMs: number;
}

/** Level that an agent reads and writes (engine/store-level.ts), and the version of the agent. */
export interface StoreLevel {
  level: number;
  version: string;
}

export interface LeaseAsked {
  name: string;
  owner: string;
  ttlMs: number;
  /** Describes the requester, in words for a person. */
  holder: string;
  /** Makes the new epoch higher than this one too: a store that lost writes may count from too low. */
  above?: number;
  /** Highest epoch of this lease that the requester has seen: a store that knows of none as high has lost data. */
  seen?: number;
  /**
   * What the requester reads. The store keeps the highest level to which a lease was granted, for ever, and grants it to nobody who
   * reads less. Absent: not compared.
   */
  reads?: StoreLevel;
  /** Stands by if the lease is refused: for `ttlMs`, nobody who reads a higher level is granted it. */
  standsBy?: boolean;
  /**
   * Keeps the wish for a refused lease for `ttlMs`, so that the holder sees the wish at its next renewal; not of one who reads
   * a higher level than the holder.
   */
  wants?: boolean;
}

/** False: the lease is lost. `wanted`: renewed, but the store has refused the lease to another owner that wants it. */
export type Renewal = boolean | 'wanted';

export type LeaseResult =
  /**
   * `since`: since this epoch no other owner has been granted the lease, so nobody else has acted.
   * `wanted`: the store has refused the lease to another owner that wants it.
   */
  | { status: 'granted'; lease: Lease; since: number; wanted?: true }
  /**
   * Another owner holds the lease, at this epoch; `holder` describes that owner. `isSilent`: no renewal for half of the lease's
   * time. `newer`: what was stored under the lease, if the requester reads less.
   */
  | { status: 'held'; holder: string; epoch: number; isSilent?: true; newer?: StoreLevel }
  /** Not granted, and held by nobody: the store has lost data, since the requester has `seen` a higher epoch. */
  | { status: 'forgotten' }
  /** Not granted, and held by nobody: the lease was granted to this level, and the requester reads less. */
  | ({ status: 'too-old' } & StoreLevel)
  /** Not granted yet, and held by nobody: an agent that reads this lower level stands by. */
  | { status: 'later'; level: number };

/** Latest committed state of one actor. A tombstone (`gone`) remains of a deleted actor. */
export interface StoredRecord {
  address: string;
  seq: number;
  epoch: number;
  owner: string;
  commitId: string;
  gone: boolean;
  /** Earliest moment at which the actor has work to do, in milliseconds since the epoch. */
  wakeAtMs?: number;
  text: Encoded;
}

export interface Commit {
  address: string;
  /** Names this write: a repeat after a lost answer gets `done`, and is never applied twice. */
  commitId: string;
  /** Stored seq that this commit builds on; 0 for an actor that never existed. */
  expectedSeq: number;
  /**
   * Seq of the new record; default `expectedSeq + 1`. Higher for several steps in one commit, and if the store has lost the
   * commits in between.
   */
  seq?: number;
  /** Lease that allows this write. The store refuses the commit unless epoch and owner match the lease's last grant. */
  lease?: string;
  epoch: number;
  owner: string;
  text: Encoded;
  /** Deletes the actor: listings omit it. Its seq continues if the actor is created again. */
  gone?: boolean;
  wakeAtMs?: number;
  /** Journal entry of the new seq. */
  journal: Encoded;
  /** Journal entries of the seqs right before the new one, oldest first; all are above `expectedSeq`. */
  journalBefore?: Encoded[];
  /** Messages and broadcast events still to be delivered; kept until `settle`. */
  outbox?: Encoded;
  /** Ids of the stored inbox messages that this commit has applied. */
  consumed?: number[];
}

export type CommitResult =
  | { status: 'done' }
  /** Nothing was written for this address. `stored` is absent if the store has no record. */
  | { status: 'conflict'; stored?: Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'> }
  /** Nothing was written: the lease now belongs to `owner`. A repeat of a written commit gets `done`. */
  | { status: 'fenced'; epoch: number; owner: string }
  /** Nothing was written for this address: the store accepts no writes now, or not this commit. */
  | { status: 'refused'; reason: string };

/** Outbox of a commit: deliveries still owed to other actors and to topics. */
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
  /** Seq of the step that broadcast the event. */
  seq: number;
  /** Position among the events of that step. */
  index: number;
  text: Encoded;
}

export interface TopicRow extends TopicEntry {
  cursor: Cursor;
}

export interface TopicPage {
  rows: TopicRow[];
  /** First cursor still kept. A reader that asks from before `oldest - 1` has missed events. */
  oldest: Cursor;
  /** Cursor of the newest event; 0 if the topic never had an event. */
  newest: Cursor;
}

export interface DueRow {
  address: string;
  wakeAtMs: number;
}

/** Page of a long listing. Pass `next` as `after` to get the following page. */
export interface StorePage<T> {
  rows: T[];
  next?: string;
}

export interface Range {
  /** Common prefix of the listed addresses. */
  prefix: string;
  after?: string;
  limit: number;
}

/** Notices from the store to its user, at any time until the store is closed. */
export interface StoreEvents {
  /**
   * Called when the store works but cannot keep all promises of this port. The message says what is wrong and what to
   * do.
   */
  warn(message: string): void;
  /**
   * Called when acknowledged writes may be lost: another server answers now, or the same server with older data. Called
   * before the store returns any answer of this server.
   */
  suspect(reason: string): void;
}

/**
 * Every method rejects with an `Error` if the store is unreachable or fails. The engine then retries or reports, and
 * never assumes an outcome.
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
  /** Lists actors whose `wakeAtMs` is at or before `untilMs`, tombstones included, ordered by time, then address. */
  due(query: Range & { untilMs: number }): Promise<StorePage<DueRow>>;

  /**
   * Writes each item atomically; the failure of one item does not affect others. Resolves in the given order, once all
   * is durable.
   */
  commit(items: Commit[]): Promise<CommitResult[]>;

  /** Lists outboxes that are not settled, ordered by address and seq. */
  unsettled(range: Range): Promise<StorePage<OutboxRow>>;
  /** Drops the outboxes of these commits: everything in them was delivered. A repeat changes nothing. */
  settle(rows: { address: string; seq: number }[]): Promise<void>;

  /** Appends in order. Resolves with the new ids, which rise by one per address. */
  appendInbox(address: string, texts: Encoded[]): Promise<number[]>;
  readInbox(address: string, after: number, limit: number): Promise<InboxRow[]>;

  /**
   * Appends the entries newer than the topic's last (seq, index) of the same source; skips older entries as repeats.
   * Resolves with the cursor of the newest event.
   */
  appendTopic(topic: string, entries: TopicEntry[]): Promise<Cursor>;
  readTopic(topic: string, after: Cursor, limit: number): Promise<TopicPage>;
  /** Deletes events up to and including this cursor. */
  trimTopic(topic: string, upTo: Cursor): Promise<void>;

  /** Returns entries with a seq of at least `from`, in order. */
  readJournal(address: string, from: number, limit: number): Promise<JournalRow[]>;
  /** Deletes entries below this seq. */
  trimJournal(address: string, below: number): Promise<void>;

  /** How the processes that share the store send each other texts. Absent: one process has the store for itself. */
  readonly wire?: Wire;
}

/**
 * Carries texts between the processes that share a store, and keeps the roster of those processes. A text may be lost or
 * come twice: what has to arrive is sent again until it is answered.
 */
export interface Wire {
  /**
   * Puts a text into an inbox, within `putWithinMs` of this call or never. Resolves with whether there is such an inbox; its reader
   * may have died since.
   * @throws {Error} the store is unreachable or fails; the text may have arrived
   */
  post(inbox: string, text: string): Promise<boolean>;
  /**
   * Makes an inbox and hears what comes into it, in order, until the signal is aborted. Resolves once it is there. Goes on
   * by itself after a lost connection.
   * @throws {Error} the store is unreachable or fails
   */
  listen(inbox: string, receive: Receive, signal: AbortSignal): Promise<void>;
  /**
   * Writes a sign of life into the roster. Resolves with false, and has written nothing, if the roster has no entry of this
   * node and none was given: call again with one.
   * @throws {Error} the store is unreachable or fails
   */
  beat(beat: Beat): Promise<boolean>;
  /** Removes a node from the roster, if the entry is still that of this run. @throws {Error} as beat */
  leave(nodeId: string, run: string): Promise<void>;
  /**
   * Reads what has changed in the roster since a version that was read before; 0: all of it. Removes entries that have been
   * silent for ten minutes.
   * @throws {Error} as beat
   */
  roster(since: number): Promise<RosterChanges>;
}

/** `post` puts a text into the inbox within so many milliseconds of its call, or never. */
export const putWithinMs = 3_000;

/**
 * Takes one text. `ageMs`: it was put into the inbox at most so many milliseconds ago, on the monotonic clock of this process;
 * Infinity: not known. A process that was frozen gets the true age or more.
 */
export type Receive = (text: string, ageMs: number) => void;

export interface Beat {
  nodeId: string;
  /** Names this run of the process. */
  run: string;
  /** The process counts as away after so many milliseconds without a beat. */
  awayAfterMs: number;
  /** New entry. Absent: the entry stays as it is. */
  entry?: string;
}

export interface RosterChanges {
  /** Pass it as `since` to read the next changes. */
  version: number;
  /** Whether these are all entries: those read before are void. */
  isComplete: boolean;
  /** New and changed entries; without `entry`: the node has left. */
  changed: { nodeId: string; run: string; entry?: string }[];
  /** Milliseconds since the last beat, of the nodes that count as away. */
  away: Map<string, number>;
}
