/** A store whose process dies at its n-th call: just before that took effect, or just after. Nobody hears of it again. */
import type { Store } from '../../src/engine/store.js';
import { interceptedStore } from './intercepted-store.js';
import type { Moment } from './moody-store.js';

export interface Cut {
  /** Which call, counted from 1; Infinity: none. */
  at: number;
  moment: Moment;
}

export interface CutStore extends Store {
  readonly isCut: boolean;
}

/** @param onCut ends everything else of the process, in that very moment */
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
