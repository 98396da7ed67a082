/**
 * Adds a time limit to each store call: a call without an answer fails, with an unknown outcome. Late answers are
 * dropped.
 */
import { messageOf } from '../../errors.js';
import type { Clock } from '../clock.js';
import type { Store } from '../store.js';
import type { TimerHeap } from '../timer-heap.js';

export interface TimedStore extends Store {
  /** Start of the silence, milliseconds since the epoch; absent while the store answers. */
  readonly silentSince: number | undefined;
  /** Reports trouble: the store answers nothing, or has left a call unanswered for `forMs`. Undefined: none. */
  trouble(forMs?: number): Error | undefined;
}

/** Time in which a healthy store answers a call. */
export const longMs = 1_000;

/** A call of the store has had no answer, or has none yet. */
export class NoAnswer extends Error {
  constructor(call: string, forMs: number) {
    super(`no answer to ${call} for ${forMs} ms`);
  }
}

interface TimedStoreOptions {
  clock: Clock;
  timers: TimerHeap;
  /** Longer than the store's own limits, if it has any. */
  limitMs: number;
}

export function timedStore(store: Store, { clock, timers, limitMs }: TimedStoreOptions): TimedStore {
  let answers = 0;
  let silentSince: number | undefined;
  let lastError: unknown;
  /** Calls in flight, in order, with their start on the monotonic clock. */
  const unanswered = new Set<{ call: string; atMs: number }>();
  const timed = <T>(call: string, answer: Promise<T>): Promise<T> => {
    const askedAt = clock.now();
    const answersBefore = answers;
    const pending = { call, atMs: clock.monotonicMs() };
    unanswered.add(pending);
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        unanswered.delete(pending);
        lastError = error;
        // Any answer meanwhile shows that the store is there.
        if (answers === answersBefore) silentSince ??= askedAt;
        reject(error);
      };
      const late = timers.after(limitMs, () => fail(new NoAnswer(call, limitMs)));
      const take = (value: T): void => {
        timers.cancel(late);
        unanswered.delete(pending);
        answers += 1;
        silentSince = undefined;
        resolve(value);
      };
      answer.then(take, (error: unknown) => {
        timers.cancel(late);
        fail(error);
      });
    });
  };
  return {
    get silentSince() {
      return silentSince;
    },
    trouble(forMs = longMs) {
      if (silentSince !== undefined) return lastError instanceof Error ? lastError : new Error(messageOf(lastError));
      const [oldest] = unanswered;
      const waitedMs = oldest ? Math.round(clock.monotonicMs() - oldest.atMs) : 0;
      return oldest && waitedMs >= forMs ? new NoAnswer(oldest.call, waitedMs) : undefined;
    },
    open: (events) => store.open(events),
    close: () => store.close(),
    acquireLease: (asked) => timed('acquireLease', store.acquireLease(asked)),
    renewLease: (lease) => timed('renewLease', store.renewLease(lease)),
    releaseLease: (lease) => timed('releaseLease', store.releaseLease(lease)),
    load: (address) => timed('load', store.load(address)),
    list: (range) => timed('list', store.list(range)),
    due: (query) => timed('due', store.due(query)),
    commit: (items) => timed('commit', store.commit(items)),
    unsettled: (range) => timed('unsettled', store.unsettled(range)),
    settle: (rows) => timed('settle', store.settle(rows)),
    appendInbox: (address, texts) => timed('appendInbox', store.appendInbox(address, texts)),
    readInbox: (address, after, limit) => timed('readInbox', store.readInbox(address, after, limit)),
    appendTopic: (topic, entries) => timed('appendTopic', store.appendTopic(topic, entries)),
    readTopic: (topic, after, limit) => timed('readTopic', store.readTopic(topic, after, limit)),
    trimTopic: (topic, upTo) => timed('trimTopic', store.trimTopic(topic, upTo)),
    readJournal: (address, from, limit) => timed('readJournal', store.readJournal(address, from, limit)),
    trimJournal: (address, below) => timed('trimJournal', store.trimJournal(address, below)),
  };
}
