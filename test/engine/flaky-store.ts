/** Store that fails at random calls, half of them after they took effect. */
import type { Random } from '../../src/engine/random.js';
import type { Store } from '../../src/engine/store.js';
import { interceptedStore, type StoreMethod } from './intercepted-store.js';

/** Calls that never fail, as no life could begin without them. */
const reliable: ReadonlySet<StoreMethod> = new Set<StoreMethod>([
  'open',
  'close',
  'acquireLease',
  'renewLease',
  'list',
  'unsettled',
  'readJournal',
]);

export function flakyStore(inner: Store, { random, likelihood }: { random: Random; likelihood: number }): Store {
  return interceptedStore(inner, {
    async pass(method, proceed) {
      const fails = !reliable.has(method) && random.next() < likelihood;
      const isDone = random.next() < 0.5;
      if (fails && !isDone) throw new Error(`${method}: no connection`);
      const result = await proceed();
      if (fails) throw new Error(`${method}: the answer was lost`);
      return result;
    },
  });
}
