/** Shares one store among several runtimes: a close by one leaves it open for the others. */
import type { Store } from '../../src/engine/store.js';

/** @returns makes the view of one runtime */
export function fencing(): (store: Store) => Store {
  return (store) => ({ ...store, close: async () => {} });
}
