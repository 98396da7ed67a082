/**
 * Reads and writes rows within one LMDB transaction. Each function runs to its end inside a write transaction, so its
 * checks still hold when it writes. The caller: lmdb.ts
 */

import type {
  Commit,
  CommitResult,
  Lease,
  LeaseAsked,
  StoredRecord,
  TopicEntry,
  TopicRow,
} from '../../engine/store.js';
import { commitRefusal, headOf, isNewer, journalRows, seqOf, type TopicMark } from '../commit-rule.js';
import { holderAfter, type KeptLease, type LastHolder, nextEpoch } from '../leases.js';
import type { Environment } from './lmdb-environment.js';

/** Part of a record that is neither in its key nor in its text. */
type RecordHead = Omit<StoredRecord, 'address' | 'text'>;

/** Recognizable: no commit has seq 0. */
const unreadableHead: RecordHead = { seq: 0, epoch: 0, owner: '', commitId: '', gone: false };

export function readRecord(env: Environment, address: string): StoredRecord | undefined {
  const value = env.records.get(address) ?? env.tombstones.get(address);
  return value === undefined ? undefined : decodeRow(address, value);
}

/**
 * Decodes a record. A row with an unreadable head becomes a record whose text cannot be decoded, so that only this
 * one actor is harmed.
 */
export function decodeRow(address: string, value: string): StoredRecord {
  const [head, text] = split(value, isRecordHead) ?? [unreadableHead, `unreadable row: ${value}`];
  return { address, ...head, text };
}

/**
 * Writes one commit, or returns its refusal. Writes the record last. If a put fails before that, the commit has not
 * happened: its rows are hidden, and gone with the next commits of its seqs.
 */
export function applyCommit(env: Environment, commit: Commit, lastGrant: LastGrant): CommitResult {
  const { address } = commit;
  const stored = readRecord(env, address);
  if (stored?.seq === 0) return { status: 'conflict', stored: headOf(stored) };
  const refused = commitRefusal(stored, commit, lastGrant(commit.lease));
  if (refused !== undefined) return refused;
  const seq = seqOf(commit);
  for (const row of leftBehind(env, commit)) {
    env.journal.removeSync([address, row]);
    env.outbox.removeSync([address, row]);
  }
  for (const row of journalRows(commit)) env.journal.putSync([address, row.seq], row.text);
  if (commit.outbox === undefined) env.outbox.removeSync([address, seq]);
  else env.outbox.putSync([address, seq], commit.outbox);
  for (const id of commit.consumed ?? []) env.inbox.removeSync([address, id]);
  moveWake(env, address, stored?.wakeAtMs, commit.wakeAtMs);
  putRecord(env, stored, commit);
  return { status: 'done' };
}

/** Seqs below that of a commit of several, for which an earlier commit that has not happened may have left rows. */
function leftBehind(env: Environment, commit: Commit): number[] {
  const { address, expectedSeq } = commit;
  const seq = seqOf(commit);
  if (seq === expectedSeq + 1) return [];
  const range: { start: [string, number]; end: [string, number] } = {
    start: [address, expectedSeq + 1],
    end: [address, seq],
  };
  return [env.journal, env.outbox].flatMap((rows) => [...rows.getKeys(range)].map(([, row]) => row));
}

/** Seq of the record: later journal entries have not happened. Infinity: its head can't be read. */
export function lastSeq(env: Environment, address: string): number {
  const record = readRecord(env, address);
  return record?.seq === unreadableHead.seq ? Number.POSITIVE_INFINITY : (record?.seq ?? 0);
}

/** Tells whether the commit of an outbox row has happened. */
export function isOwed(env: Environment, address: string, seq: number): boolean {
  return seq <= (readRecord(env, address)?.seq ?? 0);
}

export function appendInbox(env: Environment, address: string, texts: string[]): number[] {
  let id = lastGiven(env, 'inbox', address);
  const ids = texts.map((text) => {
    id += 1;
    env.inbox.putSync([address, id], text);
    return id;
  });
  env.counters.putSync(['inbox', address], String(id));
  return ids;
}

/** Appends events to a topic. Returns the cursor of the topic's newest event. */
export function appendTopic(env: Environment, topic: string, entries: TopicEntry[]): number {
  let cursor = newestCursor(env, topic);
  // Reads all marks before the first write: an unreadable mark must not leave half of the entries written.
  const marks = new Map(entries.map(({ source }) => [source, readMark(env, topic, source)]));
  for (const { source, seq, index, text } of entries) {
    if (!isNewer({ seq, index }, marks.get(source))) continue;
    marks.set(source, { seq, index });
    cursor += 1;
    env.topics.putSync([topic, cursor], join({ source, seq, index }, text));
    env.marks.putSync([topic, source], JSON.stringify({ seq, index }));
  }
  env.counters.putSync(['topic', topic], String(cursor));
  return cursor;
}

/**
 * Decodes one event of a topic.
 * @throws {Error} naming topic and cursor if the row cannot be read
 */
export function decodeTopicRow(topic: string, cursor: number, value: string): TopicRow {
  const parts = split(value, isTopicHead);
  if (parts === undefined) throw new Error(`The event at cursor ${cursor} of topic ${topic} can't be read.`);
  const [{ source, seq, index }, text] = parts;
  return { source, seq, index, text, cursor };
}

export function newestCursor(env: Environment, topic: string): number {
  return lastGiven(env, 'topic', topic);
}

export const keptLease = (env: Environment, name: string): KeptLease => ({
  epoch: lastGiven(env, 'epoch', name),
  last: lastHolder(env, name),
});

export function grantLease(env: Environment, kept: KeptLease, asked: LeaseAsked): { lease: Lease; since: number } {
  const { name, owner, ttlMs } = asked;
  const epoch = nextEpoch(kept.epoch, asked);
  env.counters.putSync(['epoch', name], String(epoch));
  const last = holderAfter(kept.last, asked, epoch);
  env.holders.putSync(name, JSON.stringify(last));
  return { lease: { name, epoch, owner, ttlMs }, since: last.since };
}

interface Grant {
  epoch: number;
  owner: string;
}

type LastGrant = (lease: string | undefined) => Grant | undefined;

/** Reads the last grant of each lease once: within one transaction, all commits of a group are checked against it. */
export function lastGrants(env: Environment): LastGrant {
  const known = new Map<string, Grant | undefined>();
  return (lease) => {
    if (lease === undefined) return undefined;
    if (!known.has(lease)) {
      const last = lastHolder(env, lease);
      known.set(lease, last && { epoch: lastGiven(env, 'epoch', lease), owner: last.owner });
    }
    return known.get(lease);
  };
}

/**
 * Returns the last holder of a lease; undefined also if the row cannot be read: then nobody counts as the last
 * holder.
 */
function lastHolder(env: Environment, lease: string): LastHolder | undefined {
  const last = parsed(env.holders.get(lease) ?? '');
  return isLastHolder(last) ? last : undefined;
}

function readMark(env: Environment, topic: string, source: string): TopicMark | undefined {
  const value = env.marks.get([topic, source]);
  if (value === undefined) return undefined;
  const mark = parsed(value);
  if (isTopicMark(mark)) return mark;
  const cursor = newestCursor(env, topic);
  throw new Error(`What topic ${topic} has of ${source}, up to cursor ${cursor}, can't be read.`);
}

function lastGiven(env: Environment, kind: 'epoch' | 'inbox' | 'topic', name: string): number {
  const value = env.counters.get([kind, name]) ?? '0';
  if (/^\d+$/.test(value)) return Number(value);
  throw new Error(`The last number given (${kind}) of ${name} can't be read.`);
}

function putRecord(env: Environment, stored: StoredRecord | undefined, commit: Commit): void {
  const { address, epoch, owner, commitId, gone = false, wakeAtMs } = commit;
  const head: RecordHead = { seq: seqOf(commit), epoch, owner, commitId, gone };
  const value = join(wakeAtMs === undefined ? head : { ...head, wakeAtMs }, commit.text);
  const [home, other] = gone ? [env.tombstones, env.records] : [env.records, env.tombstones];
  home.putSync(address, value);
  if (stored !== undefined && stored.gone !== gone) other.removeSync(address);
}

function moveWake(env: Environment, address: string, from: number | undefined, to: number | undefined): void {
  if (from === to) return;
  if (from !== undefined) env.wakes.removeSync([from, address]);
  if (to !== undefined) env.wakes.putSync([to, address], '');
}

/** Joins head and text by a line feed: JSON contains no bare one, so the first one ends the head. */
function join(head: object, text: string): string {
  return `${JSON.stringify(head)}\n${text}`;
}

/** Splits a row into head and text; undefined if the head cannot be read. */
function split<Head>(value: string, isHead: (head: unknown) => head is Head): [Head, string] | undefined {
  const end = value.indexOf('\n');
  const head = end < 0 ? undefined : parsed(value.slice(0, end));
  return isHead(head) ? [head, value.slice(end + 1)] : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isRecordHead = (head: unknown): head is RecordHead =>
  isObject(head) &&
  [head.seq, head.epoch, head.wakeAtMs ?? 0].every(Number.isFinite) &&
  typeof head.owner === 'string' &&
  typeof head.commitId === 'string' &&
  typeof head.gone === 'boolean';

const isLastHolder = (last: unknown): last is LastHolder =>
  isObject(last) && typeof last.owner === 'string' && typeof last.since === 'number';

const isTopicMark = (mark: unknown): mark is TopicMark =>
  isObject(mark) && [mark.seq, mark.index].every(Number.isFinite);

const isTopicHead = (head: unknown): head is Omit<TopicEntry, 'text'> =>
  isTopicMark(head) && 'source' in head && typeof head.source === 'string';
