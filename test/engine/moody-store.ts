/** Store that answers late or not at all, as a test asks. */
import type { Commit, Store } from '../../src/engine/store.js';
import { interceptedStore, type StoreMethod } from './intercepted-store.js';

/** `before`: the call had no effect. `after`: the call took effect, and its answer is lost. */
export type Moment = 'before' | 'after';

export interface MoodyStore extends Store {
  /** Calls in order. */
  readonly calls: StoreMethod[];
  /** Items of each commit() call, in order. */
  readonly commits: Commit[][];
  /**
   * Holds the next `times` calls of this method; default all. @returns a function that releases them, and later calls
   */
  hold(method: StoreMethod, moment?: Moment, times?: number): () => void;
  /** Fails the next `times` calls of this method. */
  fail(method: StoreMethod, moment: Moment, times?: number): void;
}

export function moodyStore(inner: Store): MoodyStore {
  const calls: StoreMethod[] = [];
  const commits: Commit[][] = [];
  const holds = new Map<StoreMethod, { moment: Moment; times: number; released: Promise<void> }>();
  const failures = new Map<StoreMethod, { moment: Moment; times: number }>();

  const failing = (method: StoreMethod): Moment | undefined => {
    const failure = failures.get(method);
    if (!failure || failure.times === 0) return undefined;
    failure.times -= 1;
    return failure.moment;
  };
  const waitFor = async (method: StoreMethod, moment: Moment): Promise<void> => {
    const hold = holds.get(method);
    if (hold?.moment !== moment || hold.times === 0) return;
    hold.times -= 1;
    await hold.released;
  };
  const gated = interceptedStore(inner, {
    async pass(method, proceed) {
      calls.push(method);
      const failure = failing(method);
      await waitFor(method, 'before');
      if (failure === 'before') throw new Error(`${method}: no connection`);
      const result = await proceed();
      await waitFor(method, 'after');
      if (failure === 'after') throw new Error(`${method}: the answer was lost`);
      return result;
    },
  });
  return {
    ...gated,
    commit: (items) => {
      commits.push(items);
      return gated.commit(items);
    },
    calls,
    commits,
    hold(method, moment = 'before', times = Number.POSITIVE_INFINITY) {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      holds.set(method, { moment, times, released });
      return () => {
        holds.delete(method);
        release();
      };
    },
    fail: (method, moment, times = 1) => void failures.set(method, { moment, times }),
  };
}
