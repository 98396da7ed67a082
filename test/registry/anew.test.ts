/** An instance that is made anew under the allocId that it had: what was known of the one before counts no more. */
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { type FakeClient, healthy } from './fake-kind.js';
import { device, House } from './house.js';

/** Keeps back what instances commit, not what their names do; the answer lets it through. */
function holdInstances(store: Store): () => void {
  const commit = store.commit.bind(store);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  store.commit = async (items) => {
    if (items.some(({ address }) => address.startsWith('plugin/'))) await released;
    return commit(items);
  };
  return release;
}

describe('an instance made anew', () => {
  let house: House;

  const register = (version: string): Promise<void> => house.plugins.register(device('a1', { version }));
  const deregister = (): Promise<void> => house.plugins.deregister('device', 'gpu', 'a1');
  const dispense = (): Promise<FakeClient> => house.plugins.dispense<FakeClient>('device', 'gpu');

  /** How an instance that was seen healthy, and is of version 1, is made anew. */
  const ways: [title: string, version: string, anew: () => Promise<void>][] = [
    ['defined anew', '2', () => register('2')],
    ['deregistered, and registered as it was', '1', () => deregister().then(() => register('1'))],
    ['deregistered, and registered as another', '2', () => deregister().then(() => register('2'))],
  ];

  const toAndFro: (typeof ways)[number] = [
    'defined anew, and as it was again',
    '1',
    () => register('2').then(() => register('1')),
  ];

  beforeEach(async () => {
    house = await new House().open();
    await house.register(device('a1', { version: '1' }));
  });

  afterEach(() => house.dispose());

  /** The status in short. */
  function seen(): string {
    const { info, state, description, checkedAt } = house.plugins.status('device', 'gpu');
    return `${info.version} ${state}: ${description}${checkedAt === undefined ? '' : ', looked at'}`;
  }

  function waitForIt(): { outcome: string } {
    const wait = { outcome: 'waits' };
    house.plugins.waitFor('device', 'gpu').then(
      ({ info, state }) => {
        wait.outcome = `${info.version} ${state}`;
      },
      ({ code }: { code: string }) => {
        wait.outcome = code;
      },
    );
    return wait;
  }

  for (const [title, version, anew] of [...ways, toAndFro]) {
    it(`R4 R12 ${title}: nothing that was seen before counts, however late its machine takes it`, async () => {
      const found = house.kind.hold();
      const release = holdInstances(house.store);
      await anew();
      expect(seen()).to.equal(`${version} registering: being registered`);
      const wait = waitForIt();
      await house.rest();
      expect([seen(), wait.outcome]).to.deep.equal([`${version} registering: being registered`, 'waits']);
      release();
      await house.rest();
      expect([seen(), wait.outcome]).to.deep.equal([`${version} fingerprinting: not yet fingerprinted`, 'waits']);
      while (wait.outcome === 'waits') {
        found(healthy);
        await house.rest();
      }
      expect([seen(), wait.outcome]).to.deep.equal([`${version} healthy: ready, looked at`, `${version} healthy`]);
    });

    it(`R11 R12 ${title}, and the runtime ends before its machine takes it: the same after the restart`, async () => {
      const { commit } = house.store;
      holdInstances(house.store);
      await anew();
      const closed = house.runtime.close();
      await house.clock.advance(60_000);
      await closed;
      house.store.commit = commit;
      const release = holdInstances(house.store);
      await house.open();
      const wait = waitForIt();
      await house.rest();
      expect([seen(), wait.outcome]).to.deep.equal([`${version} registering: being registered`, 'waits']);
      release();
      await house.rest();
      expect([seen(), wait.outcome]).to.deep.equal([`${version} healthy: ready, looked at`, `${version} healthy`]);
    });
  }

  for (const [title, version, anew] of ways) {
    it(`R9 I13 ${title}: what is dispensed from then on stays open, what was before is closed`, async () => {
      const before = await dispense();
      const release = holdInstances(house.store);
      await anew();
      const client = await dispense();
      release();
      await house.rest();
      expect([client.info.version, client.closes]).to.deep.equal([version, 0]);
      expect(await dispense()).to.equal(client);
      if (before !== client) expect(before.closes).to.equal(1);
      expect(house.kind.closes.filter((closes) => closes === 0)).to.have.lengthOf(1);
      await deregister();
      await house.rest();
      expect(house.kind.closes.every((closes) => closes === 1)).to.equal(true);
    });
  }
});
