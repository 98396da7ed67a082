/** Decodes rows read from Redis. How they are written: redis-commit-script.ts, redis-scripts.ts */

import type { DueRow, OutboxRow, StoredRecord, TopicRow } from '../../engine/store.js';
import type { Head } from '../commit-rule.js';
import { fromSortable } from './redis-keys.js';
import { numberOf, rowOf, type StreamEntry, textOf } from './redis-replies.js';

/** Recognizable: no commit has seq 0. */
const unreadableHead: Head = { seq: 0, epoch: 0, owner: '', commitId: '' };

/** Fields of a record's hash, in the order in which recordRow reads them. */
export const recordFields = ['seq', 'epoch', 'owner', 'commitId', 'gone', 'wake', 'text'];

/**
 * Decodes a record. An unreadable hash becomes a record whose text cannot be decoded, so that only this one actor is
 * harmed.
 */
export function recordRow(address: string, reply: unknown): StoredRecord | undefined {
  const fields = rowOf(reply);
  if (fields.every((field) => field === null)) return undefined;
  try {
    return readableRow(address, fields);
  } catch {
    return { address, ...unreadableHead, gone: false, text: `unreadable row: ${JSON.stringify(fields)}` };
  }
}

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

/** Decodes a member of the zset of due times. */
export function dueRow(member: string): DueRow {
  return { wakeAtMs: fromSortable(member.slice(0, 16)), address: member.slice(17) };
}

export function outboxRow(address: string, entry: StreamEntry): OutboxRow {
  return { address, seq: entry.id[0], text: entryText(entry) };
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
  return textOf(fields.get('t'));
}
