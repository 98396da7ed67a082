/**
 * Store whose calls all pass a gate, where tests delay, fail, count or cut them. Ready gates: moody-store.ts,
 * cut-store.ts
 */
import type { Store } from '../../src/engine/store.js';

export type StoreMethod = keyof Store;

/** `proceed` makes the call; a gate may call it late, twice or never. */
export interface Gate {
  pass<T>(method: StoreMethod, proceed: () => Promise<T>): Promise<T>;
}

export function interceptedStore(inner: Store, gate: Gate): Store {
  return {
    open: () => gate.pass('open', () => inner.open()),
    close: () => gate.pass('close', () => inner.close()),
    acquireLease: (request) => gate.pass('acquireLease', () => inner.acquireLease(request)),
    renewLease: (lease) => gate.pass('renewLease', () => inner.renewLease(lease)),
    releaseLease: (lease) => gate.pass('releaseLease', () => inner.releaseLease(lease)),
    load: (address) => gate.pass('load', () => inner.load(address)),
    list: (range) => gate.pass('list', () => inner.list(range)),
    due: (query) => gate.pass('due', () => inner.due(query)),
    commit: (items) => gate.pass('commit', () => inner.commit(items)),
    unsettled: (range) => gate.pass('unsettled', () => inner.unsettled(range)),
    settle: (rows) => gate.pass('settle', () => inner.settle(rows)),
    appendInbox: (address, texts) => gate.pass('appendInbox', () => inner.appendInbox(address, texts)),
    readInbox: (address, after, limit) => gate.pass('readInbox', () => inner.readInbox(address, after, limit)),
    appendTopic: (topic, entries) => gate.pass('appendTopic', () => inner.appendTopic(topic, entries)),
    readTopic: (topic, after, limit) => gate.pass('readTopic', () => inner.readTopic(topic, after, limit)),
    trimTopic: (topic, upTo) => gate.pass('trimTopic', () => inner.trimTopic(topic, upTo)),
    readJournal: (address, from, limit) => gate.pass('readJournal', () => inner.readJournal(address, from, limit)),
    trimJournal: (address, below) => gate.pass('trimJournal', () => inner.trimJournal(address, below)),
  };
}
