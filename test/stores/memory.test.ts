/** The memory store under the contract of all stores, and what is its own. */

import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type StoreHarness, storeSuite } from '../../src/tools/store-suite/store-suite.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';

async function harness(): Promise<StoreHarness> {
  let nowMs = 0;
  const store = memoryStore({ monotonicMs: () => nowMs });
  await store.open();
  const reopen = async (): Promise<Store> => {
    await store.close();
    await store.open();
    return store;
  };
  const elapse = (ms: number) => {
    nowMs += ms;
  };
  return { store, reopen, elapse, dispose: () => store.close() };
}

storeSuite('memory', harness);

describe('memory store', () => {
  it('two stores share nothing', async () => {
    const [one, other] = [memoryStore(), memoryStore()];
    await Promise.all([one.open(), other.open()]);
    await one.commit([plainCommit('a', 0)]);
    expect(await other.load('a')).to.equal(undefined);
  });

  it('a lease of before a close is void after it, as that of a dead process', async () => {
    const { store, reopen } = await harness();
    const request = { name: 'node/n1', ttlMs: 1_000, holder: 'a' };
    const first = await store.acquireLease({ ...request, owner: 'a' });
    if (first.status !== 'granted') throw new Error('not granted');
    await reopen();
    expect(await store.renewLease(first.lease)).to.equal(false);
    const second = await store.acquireLease({ ...request, owner: 'b' });
    expect(second).to.have.nested.property('lease.epoch', 2);
  });

  it('a lease is held until the last millisecond of its term, and then no more', async () => {
    const { store, elapse } = await harness();
    const request = { name: 'node/n1', ttlMs: 1_000, holder: 'a' };
    const first = await store.acquireLease({ ...request, owner: 'a' });
    if (first.status !== 'granted') throw new Error('not granted');
    await elapse(999);
    expect(await store.acquireLease({ ...request, owner: 'b' })).to.include({ status: 'held' });
    expect(await store.renewLease(first.lease)).to.equal(true);
    await elapse(999);
    expect(await store.acquireLease({ ...request, owner: 'b' })).to.include({ status: 'held' });
    await elapse(1);
    expect(await store.acquireLease({ ...request, owner: 'b' })).to.include({ status: 'granted' });
  });

  it('a record that its reader changes stays as it was', async () => {
    const { store } = await harness();
    await store.commit([plainCommit('a', 0)]);
    const record = await store.load('a');
    if (record !== undefined) record.seq = 77;
    expect(await store.load('a')).to.include({ seq: 1 });
  });
});
