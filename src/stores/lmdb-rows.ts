/**
 * What the LMDB store writes within one transaction, row by row. Every function here runs to its end inside a
 * write transaction, so that what it checks still holds when it writes. Who calls it: lmdb.ts
 */

import type { Commit, CommitResult, StoredRecord, TopicEntry } from '../engine/store.js';
import { refusal } from './commit-rule.js';
import type { Environment } from './lmdb-environment.js';
import { isNewer, type TopicMark } from './topic-rule.js';

/** A record without the parts that its key and its text hold. */
type RecordHead = Omit<StoredRecord, 'address' | 'text'>;

export function readRecord(env: Environment, address: string): StoredRecord | undefined {
  const value = env.records.get(address) ?? env.tombstones.get(address);
  return value === undefined ? undefined : decodeRecord(address, value);
}

export function decodeRecord(address: string, value: string): StoredRecord {
  const [head, text] = split<RecordHead>(value);
  return { address, ...head, text };
}

/**
 * Writes one commit, or tells why not. The record goes last: should a put fail half-way, the commit hasn't
 * happened, and its repeat overwrites the rows it left, which stand under the same keys.
 */
export function applyCommit(env: Environment, commit: Commit): CommitResult {
  const { address } = commit;
  const stored = readRecord(env, address);
  const refused = refusal(stored, commit);
  if (refused !== undefined) return refused;
  const seq = commit.expectedSeq + 1;
  env.journal.putSync([address, seq], commit.journal);
  if (commit.outbox !== undefined) env.outbox.putSync([address, seq], commit.outbox);
  for (const id of commit.consumed ?? []) env.inbox.removeSync([address, id]);
  moveWake(env, address, stored?.wakeAtMs, wakeOf(commit));
  putRecord(env, stored, commit);
  return { status: 'done' };
}

export function appendInbox(env: Environment, address: string, texts: string[]): number[] {
  const last = env.counters.get(['inbox', address]);
  let id = Number(last ?? 0);
  const ids = texts.map((text) => {
    id += 1;
    env.inbox.putSync([address, id], text);
    return id;
  });
  env.counters.putSync(['inbox', address], String(id));
  return ids;
}

export function appendTopic(env: Environment, topic: string, entries: TopicEntry[]): void {
  let cursor = newestCursor(env, topic);
  for (const { source, seq, index, text } of entries) {
    if (!isNewer({ seq, index }, readMark(env, topic, source))) continue;
    cursor += 1;
    env.topics.putSync([topic, cursor], join({ source, seq, index }, text));
    env.marks.putSync([topic, source], JSON.stringify({ seq, index }));
  }
  env.counters.putSync(['topic', topic], String(cursor));
}

export function decodeTopicEntry(value: string): TopicEntry {
  const [head, text] = split<Omit<TopicEntry, 'text'>>(value);
  return { ...head, text };
}

export function newestCursor(env: Environment, topic: string): number {
  return Number(env.counters.get(['topic', topic]) ?? 0);
}

export function nextEpoch(env: Environment, lease: string): number {
  const epoch = Number(env.counters.get(['epoch', lease]) ?? 0) + 1;
  env.counters.putSync(['epoch', lease], String(epoch));
  return epoch;
}

function readMark(env: Environment, topic: string, source: string): TopicMark | undefined {
  const value = env.marks.get([topic, source]);
  if (value === undefined) return undefined;
  const mark: TopicMark = JSON.parse(value);
  return mark;
}

function putRecord(env: Environment, stored: StoredRecord | undefined, commit: Commit): void {
  const { address, epoch, owner, commitId, gone = false } = commit;
  const wakeAtMs = wakeOf(commit);
  const head: RecordHead = { seq: commit.expectedSeq + 1, epoch, owner, commitId, gone };
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

/** What is gone has nothing to do. */
function wakeOf(commit: Commit): number | undefined {
  return commit.gone ? undefined : commit.wakeAtMs;
}

/** JSON holds no bare line feed: the first one ends the head, and the text is kept as it came. */
function join(head: object, text: string): string {
  return `${JSON.stringify(head)}\n${text}`;
}

function split<Head>(value: string): [Head, string] {
  const end = value.indexOf('\n');
  const head: Head = JSON.parse(value.slice(0, end));
  return [head, value.slice(end + 1)];
}
