/** Status of a store that answers, but takes no writes: its disk or its memory is full. */
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('a store that takes no writes', () => {
  let house: VolumeHouse;
  let isFull: boolean;
  /** Whether the store refuses the commits of volumes only. */
  let leases: Set<string>;
  let isPicky: boolean;

  beforeEach(async () => {
    isFull = false;
    isPicky = false;
    leases = new Set();
    house = new VolumeHouse();
    house.store = fullable(memoryStore());
    await house.furnish();
  });
  afterEach(() => house.dispose());

  const fullable = (store: Store): Store => ({
    ...{ open: () => store.open(), close: () => store.close(), load: (address) => store.load(address) },
    ...{ list: (range) => store.list(range), due: (query) => store.due(query) },
    acquireLease: async (asked) => {
      leases.add(asked.name);
      if (isFull && asked.name.startsWith('trial')) throw new Error('no room');
      return store.acquireLease(asked);
    },
    renewLease: (lease) => store.renewLease(lease),
    releaseLease: (lease) => store.releaseLease(lease),
    commit: async (items) => {
      const isRefused = isFull || (isPicky && items.some(({ address }) => address.startsWith('volume/')));
      return isRefused ? items.map(() => ({ status: 'refused', reason: 'no room' })) : store.commit(items);
    },
    unsettled: (range) => store.unsettled(range),
    settle: (rows) => store.settle(rows),
    appendInbox: (address, texts) => store.appendInbox(address, texts),
    readInbox: (address, after, limit) => store.readInbox(address, after, limit),
    appendTopic: (topic, entries) => store.appendTopic(topic, entries),
    readTopic: (topic, after, limit) => store.readTopic(topic, after, limit),
    trimTopic: (topic, upTo) => store.trimTopic(topic, upTo),
    readJournal: (address, from, limit) => store.readJournal(address, from, limit),
    trimJournal: (address, below) => store.trimJournal(address, below),
  });

  it('34.28 commits are refused: not available since then, until a trial write is taken', async () => {
    isFull = true;
    const sinceMs = house.clock.now();
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ code: 'STORE_UNAVAILABLE' });
    await house.rest();
    expect(house.runtime.store).to.deep.equal({ available: false, since: sinceMs });
    await house.clock.advance(20_000);
    expect(house.runtime.store).to.deep.include({ available: false, since: sinceMs });
    isFull = false;
    await house.clock.advance(5_000);
    expect(house.runtime.store).to.deep.equal({ available: true });
  });

  it('34.28 a trial write is of one lease for all: the store keeps no row for each node', async () => {
    isFull = true;
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ code: 'STORE_UNAVAILABLE' });
    await house.rest();
    expect([...leases].filter((name) => name.startsWith('trial'))).to.deep.equal(['trial']);
    isFull = false;
    await house.clock.advance(5_000);
  });

  it('34.28 a single commit is refused, and others are taken: available', async () => {
    isPicky = true;
    expect(await refusalOf(house.volumes.create(spec('data')))).to.include({ code: 'STORE_UNAVAILABLE' });
    await house.rest();
    expect(house.runtime.store).to.deep.equal({ available: true });
  });
});
