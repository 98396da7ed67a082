/** Decodes rows read from Redis. How they are written: redis-commits.ts, redis-scripts.ts */

import type { DueRow, JournalRow, OutboxRow, StoredRecord, TopicRow } from '../../engine/store.js';
import type { Head } from '../commit-rule.js';
import { fromSortable } from './redis-keys.js';
import { arrayOf, entriesOf, numberOf, type StreamEntry, textOf } from './redis-replies.js';

/** Recognizable: no commit has seq 0. */
const unreadableHead: Head = { seq: 0, epoch: 0, owner: '', commitId: '' };

/** Fields of a record's hash, in the order in which recordRow reads them. */
export const recordFields = ['seq', 'epoch', 'owner', 'commitId', 'gone', 'wake', 'text'];

/**
 * Decodes a record. An unreadable hash becomes a record whose text cannot be decoded, so that only this one actor is
 * harmed.
 */
export function recordRow(address: string, reply: unknown): StoredRecord | undefined {
  if (reply instanceof Error) return unreadableRow(address, reply.message);
  const fields = arrayOf(reply);
  if (fields.every((field) => field === null)) return undefined;
  try {
    return readableRow(address, fields);
  } catch {
    return unreadableRow(address, JSON.stringify(fields));
  }
}

function unreadableRow(address: string, why: string): StoredRecord {
  return { address, ...unreadableHead, gone: false, text: unreadableText(why) };
}

/** Text that nobody can decode. */
const unreadableText = (why: string): string => `unreadable row: ${why}`;

function readableRow(address: string, [seq, epoch, owner, commitId, gone, wake, text]: unknown[]): StoredRecord {
  const record = { address, ...headRow([seq, epoch, owner, commitId]), gone: gone === '1', text: textOf(text) };
  return wake === '' ? record : { ...record, wakeAtMs: fromSortable(textOf(wake)) };
}

function headRow([seq, epoch, owner, commitId]: unknown[]): Head {
  return { seq: numberOf(seq), epoch: numberOf(epoch), owner: textOf(owner), commitId: textOf(commitId) };
}

/** Reads the fields that a conflict reports, in the order of recordFields. */
export function conflictHead(fields: unknown[]): Head {
  try {
    return headRow(fields);
  } catch {
    return { ...unreadableHead };
  }
}

/** Decodes a member of the zset of due times; undefined: the store did not write it. */
export function dueRow(member: string): DueRow | undefined {
  if (!/^[0-9a-f]{16}\//.test(member)) return undefined;
  return { wakeAtMs: fromSortable(member.slice(0, 16)), address: member.slice(17) };
}

/** Decodes an outbox. One that can't be read becomes a row whose text can't be decoded. */
export function outboxRows(address: string, reply: unknown): OutboxRow[] {
  if (reply instanceof Error) return [{ address, seq: 0, text: unreadableText(reply.message) }];
  return entriesOf(reply).map((entry) => ({ address, seq: entry.id[0], text: entryText(entry) }));
}

/** Decodes a journal from an entry on. One that can't be read becomes an entry whose text can't be decoded. */
export function decodeJournal(reply: unknown, from: number): JournalRow[] {
  if (reply instanceof Error) return [{ seq: from, text: unreadableText(reply.message) }];
  return entriesOf(reply).map((entry) => ({ seq: entry.id[0], text: entryText(entry) }));
}

export function topicRow(entry: StreamEntry): TopicRow {
  const { fields, id } = entry;
  return {
    cursor: id[1],
    source: textOf(fields.get('s')),
    seq: numberOf(fields.get('q')),
    index: numberOf(fields.get('i')),
    text: entryText(entry),
  };
}

export function entryText({ fields }: StreamEntry): string {
  return fields.get('t') ?? unreadableText('it has no text');
}
