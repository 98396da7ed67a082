/** `runtime.inspect`: hands the feed of the engines on, without secrets. */
import type { Feed, FeedRecord } from '../engine/feed.js';
import { StagecraftError } from '../errors.js';
import { type Shown, shown } from '../host/shown.js';

export type FeedListener = (record: Shown<FeedRecord>) => void;

export const inspecting = (feed: Feed, listener: FeedListener): (() => void) =>
  feed.watch((record) => listener(shown(record)));

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkedListener(listener: unknown): FeedListener {
  if (typeof listener === 'function') return listener as FeedListener;
  throw new StagecraftError(
    'INVALID_ARGUMENT',
    `inspect needs a function that gets each record, not ${typeof listener}`,
  );
}
