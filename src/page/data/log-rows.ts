/** Rows of the log, one for each record of the feed, with a text for people. */
import type { FeedRecord } from '../../engine/feed.js';
import type { FeedLine } from '../../inspector/feed-message.js';
import type { HistoryTone } from '../../journal/history.js';

export interface LogRow {
  seq: number;
  at: number;
  address: string;
  kind: FeedRecord['kind'];
  text: string;
  tone: HistoryTone;
  /** Step of the actor that it belongs to. */
  commit: number | undefined;
  record: FeedRecord;
}

export function rowOf(record: FeedRecord, line: FeedLine | undefined): LogRow {
  const { seq, at, address, kind } = record;
  return {
    ...{ seq, at, address, kind, record },
    commit: 'commit' in record ? record.commit : undefined,
    text: line ? sentenceOf(line) : textOf(record),
    tone: kind === 'crash' ? 'failed' : (line?.tone ?? 'plain'),
  };
}

/** Answers of plugins begin with the call that they answer: it is told once. */
const sentenceOf = ({ what, message = '' }: FeedLine): string =>
  message === '' || message.startsWith(what) ? message || what : `${what}: ${message}`;

function textOf(record: FeedRecord): string {
  switch (record.kind) {
    case 'actor':
      return [record.phase, record.reason].filter(Boolean).join(': ');
    case 'event':
      return record.entry.event?.type ?? record.entry.kind;
    case 'snapshot': {
      const { pathBefore = 'nothing', path = 'gone' } = record;
      return pathBefore === path ? `${path}, context changed` : `${pathBefore} → ${path}`;
    }
    case 'part':
      return `${record.id}: ${record.before ?? 'new'} → ${record.part?.at ?? 'gone'}`;
    case 'effect':
      return `${record.src} ${record.phase}${record.attempt > 1 ? `, attempt ${record.attempt}` : ''}`;
    case 'timer':
      return `${record.event.type} ${record.phase}`;
    case 'message':
      return `to ${record.to}: ${record.event?.type ?? 'begins'}`;
    case 'broadcast':
      return `${record.topic}: ${record.event.type}`;
    case 'crash':
      return record.error;
  }
}
