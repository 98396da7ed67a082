/** Decides which events a topic accepts: of each source, only those after the last one that it has. */

import type { TopicEntry } from '../engine/store.js';

/** Last event that a topic has of one source. */
export type TopicMark = Pick<TopicEntry, 'seq' | 'index'>;

export function isNewer(entry: TopicMark, mark: TopicMark | undefined): boolean {
  return mark === undefined || entry.seq > mark.seq || (entry.seq === mark.seq && entry.index > mark.index);
}
