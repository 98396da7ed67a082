/** Shared store of two engines in one process: opened once, closed once, and its notices reach the right engines. */
import { expect } from 'chai';
import { SharedStore } from '../../../src/engine/storage/shared-store.js';
import type { Store, StoreEvents } from '../../../src/engine/store.js';
import { memoryStore } from '../../../src/stores/memory/memory.js';
import { faultyStore } from '../../support/faulty-store.js';

describe('a shared store', () => {
  let calls: string[];
  let heard: string[];
  let fails: boolean;
  let events: StoreEvents | undefined;
  let shared: SharedStore;
  let left: Store;
  let right: Store;

  beforeEach(() => {
    calls = [];
    heard = [];
    fails = false;
    const inner = faultyStore(memoryStore(), {
      how: async ({ method }, proceed) => {
        calls.push(method);
        if (fails) throw new Error('no connection');
        return proceed();
      },
    });
    const store: Store = {
      ...inner,
      open: (given) => {
        events = given;
        return inner.open();
      },
    };
    shared = new SharedStore(store);
    left = shared.handle();
    right = shared.handle();
  });

  const listener = (name: string): StoreEvents => ({
    warn: (message) => void heard.push(`${name} warned: ${message}`),
    suspect: (reason) => void heard.push(`${name} suspects: ${reason}`),
  });

  it('opened with the first engine, closed with the last; repeated calls count once', async () => {
    await Promise.all([left.open(), right.open()]);
    await left.open();
    await left.close();
    await left.close();
    expect(await right.load('desk/a')).to.equal(undefined);
    await right.close();
    expect(calls).to.deep.equal(['open', 'load', 'close']);
  });

  it('open fails: both engines get the error, and open can be tried again', async () => {
    fails = true;
    const outcomes = await Promise.allSettled([left.open(), right.open()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    fails = false;
    await right.open();
    await right.close();
    expect(calls).to.deep.equal(['open', 'open', 'close']);
  });

  it('opened again after it was closed', async () => {
    await left.open();
    await left.close();
    await right.open();
    expect(calls).to.deep.equal(['open', 'close', 'open']);
  });

  it('warning: one engine gets it; suspicion: all engines with an open store get it', async () => {
    await left.open(listener('left'));
    await right.open(listener('right'));
    events?.warn('unsafe');
    events?.suspect('another server');
    await left.close();
    events?.suspect('older data');
    expect(heard).to.deep.equal([
      'left warned: unsafe',
      'left suspects: another server',
      'right suspects: another server',
      'right suspects: older data',
    ]);
  });
});
