/**
 * A store whose every call ends: one that gives no answer in time counts as failed, its outcome unknown.
 * What it still answers later is heard by nobody; whoever asked has asked again by then.
 */
import type { Store } from './store.js';
import type { TimerHeap } from './timer-heap.js';

/** @param limitMs longer than the store's own limits, if it has any */
export function timedStore(store: Store, timers: TimerHeap, limitMs: number): Store {
  const timed = <T>(call: string, answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const late = timers.after(limitMs, () => reject(new Error(`no answer to ${call} within ${limitMs} ms`)));
      answer.then(resolve, reject).finally(() => timers.cancel(late));
    });
  return {
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
