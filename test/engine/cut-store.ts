/**
 * Store whose process dies at its n-th call, just before or just after the call takes effect. Callers get no answer.
 */
import type { Store } from '../../src/engine/store.js';
import { interceptedStore } from './intercepted-store.js';
import type { Moment } from './moody-store.js';

export interface Cut {
  /** Number of the fatal call, from 1; Infinity: none. */
  at: number;
  moment: Moment;
}

export interface CutStore extends Store {
  readonly isCut: boolean;
}

/** @param onCut ends the rest of the process at that moment */
export function cutStore(inner: Store, { at, moment }: Cut, onCut: () => void): CutStore {
  let calls = 0;
  let isCut = false;
  const cut = (): Error => {
    isCut = true;
    onCut();
    return new Error('the process has died');
  };
  const gated = interceptedStore(inner, {
    async pass(_, proceed) {
      if (isCut) throw new Error('the process is dead');
      calls += 1;
      const isTheOne = calls === at;
      if (isTheOne && moment === 'before') throw cut();
      const result = await proceed();
      if (isCut) throw new Error('the process is dead');
      if (isTheOne) throw cut();
      return result;
    },
  });
  return {
    ...gated,
    get isCut() {
      return isCut;
    },
  };
}
