/** Messages of the live feed over WebSocket, with sentences for its records: those of histories, as far as one record tells. */
import type { ActorSummary, Trouble } from '../api/actor-routes.js';
import type { FeedRecord } from '../engine/feed.js';
import { fromOf, type HistoryTone, recordedAnswer } from '../journal/history.js';
import { sentenceOf } from '../journal/history-words.js';

/** Messages of the feed over WebSocket, as JSON: first one `hello`, then batches. */
export type FeedMessage =
  | { type: 'hello'; nodeId: string; version: string; at: number }
  /** Records in order, how many were dropped before them, and the actors that they have changed, as they are now. */
  | {
      type: 'batch';
      records: FeedRecord[];
      /** A sentence for each input of an actor among the records. */
      lines: FeedLine[];
      dropped: number;
      /** More than `dropped` were lost. */
      stopped?: true;
      /** `trouble`: what is wrong with it now; absent: nothing. */
      changed: (ActorSummary & { trouble?: Trouble })[];
      gone: string[];
    };

export interface FeedLine {
  /** Seq of the record in the feed. */
  seq: number;
  at: number;
  address: string;
  /** Seq of the step in the actor's journal. */
  commit: number;
  what: string;
  from: string;
  tone: HistoryTone;
  message?: string;
}

/** A sentence for each input of an actor; other records have none. */
export function linesOf(records: readonly FeedRecord[]): FeedLine[] {
  return records.flatMap((record): FeedLine[] => {
    if (record.kind !== 'event') return [];
    const { seq, at, address, commit, entry } = record;
    const plain = { seq, at, address, commit, what: sentenceOf(entry), from: fromOf(entry), tone: 'plain' as const };
    if (entry.kind === 'crash') return [{ ...plain, tone: 'failed', message: entry.error ?? '' }];
    if (entry.source.kind !== 'effect') return [plain];
    const answer = recordedAnswer(entry, address, { src: entry.source.id })?.line;
    if (!answer) return [plain];
    const { what, from, tone = 'plain', message } = answer;
    return [{ ...plain, what, from, tone, ...(message !== undefined && { message }) }];
  });
}
