/** What a topic takes: of each source only what comes after the last that it has. */

import type { TopicEntry } from '../engine/store.js';

/** The last event that a topic has of one source. */
export type TopicMark = Pick<TopicEntry, 'seq' | 'index'>;

export function isNewer(entry: TopicMark, mark: TopicMark | undefined): boolean {
  return mark === undefined || entry.seq > mark.seq || (entry.seq === mark.seq && entry.index > mark.index);
}
