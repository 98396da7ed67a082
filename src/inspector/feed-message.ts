/** Messages of the live feed over WebSocket. */
import type { ActorSummary, Trouble } from '../api/actor-routes.js';
import type { FeedRecord } from '../engine/feed.js';
import type { FeedLine } from './feed-lines.js';

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
