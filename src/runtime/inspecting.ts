/** `runtime.inspect`: hands the feed of the engines on, without secrets. */
import type { Feed, FeedListener, FeedRecord } from '../engine/feed.js';
import { StagecraftError } from '../errors.js';
import { withoutEnvironment } from './without-environment.js';

/** Only the actors of tasks, and messages to them, can hold an environment. */
const mayHoldEnvironment = (record: FeedRecord): boolean =>
  record.address.startsWith('task/') || (record.kind === 'message' && record.to.startsWith('task/'));

export const inspecting = (feed: Feed, listener: FeedListener): (() => void) =>
  feed.watch((record) => listener(mayHoldEnvironment(record) ? withoutEnvironment(record) : record));

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkedListener(listener: unknown): FeedListener {
  if (typeof listener === 'function') return listener as FeedListener;
  throw new StagecraftError(
    'INVALID_ARGUMENT',
    `inspect needs a function that gets each record, not ${typeof listener}`,
  );
}
