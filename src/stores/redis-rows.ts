/** Rows as they come out of Redis. How they got in: redis-commit-script.ts, redis-scripts.ts */

import type { DueRow, OutboxRow, StoredRecord, TopicRow } from '../engine/store.js';
import { fromSortable } from './redis-keys.js';
import { numberOf, rowOf, type StreamEntry, textOf } from './redis-replies.js';

/** Of a record's hash, in the order in which recordRow reads them. */
export const recordFields = ['seq', 'epoch', 'owner', 'commitId', 'gone', 'wake', 'text'];

export function recordRow(address: string, reply: unknown): StoredRecord | undefined {
  const [seq, epoch, owner, commitId, gone, wake, text] = rowOf(reply);
  if (seq === null) return undefined;
  const record = {
    address,
    seq: numberOf(seq),
    epoch: numberOf(epoch),
    owner: textOf(owner),
    commitId: textOf(commitId),
    gone: gone === '1',
    text: textOf(text),
  };
  return wake === '' ? record : { ...record, wakeAtMs: fromSortable(textOf(wake)) };
}

/** The member of the due zset that says so. */
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
