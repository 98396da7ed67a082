/**
 * Stores with faults for tests: each call passes a gate, which makes it late, lost, failed or the last one.
 * Random faults over whole lives: simulation/life-store.ts. A death at a chosen write: registry/cable.ts.
 */
import type { Random } from '../../src/engine/random.js';
import type { Commit, Store } from '../../src/engine/store.js';

export type StoreMethod = keyof Store;

export interface StoreCall {
  method: StoreMethod;
  /** Counts the calls of this store, from 1. */
  number: number;
}

/** `before`: the store does nothing. `after`: it does the call, and the answer is lost. */
export type Moment = 'before' | 'after';

/** Handles one call. `proceed` makes it; that may be done late, twice or never. */
export type How = <T>(call: StoreCall, proceed: () => Promise<T>) => Promise<T>;

export interface Fault {
  /** The calls that are hit: one method, or those for which it says true. Default all. */
  at?: StoreMethod | ((call: StoreCall) => boolean);
  how: How;
}

/** Returns the store without faults, behind gates, if no fault is given. */
export function faultyStore(inner: Store, { at, how }: Fault = { how: (_, proceed) => proceed() }): Store {
  let number = 0;
  const isHit = (call: StoreCall): boolean =>
    typeof at === 'function' ? at(call) : at === undefined || at === call.method;
  const pass = <T>(method: StoreMethod, proceed: () => Promise<T>): Promise<T> => {
    number += 1;
    const call = { method, number };
    return isHit(call) ? how(call, proceed) : proceed();
  };
  return {
    open: () => pass('open', () => inner.open()), // events of the inner store end here: tests make their own
    close: () => pass('close', () => inner.close()),
    acquireLease: (request) => pass('acquireLease', () => inner.acquireLease(request)),
    renewLease: (lease) => pass('renewLease', () => inner.renewLease(lease)),
    releaseLease: (lease) => pass('releaseLease', () => inner.releaseLease(lease)),
    load: (address) => pass('load', () => inner.load(address)),
    list: (range) => pass('list', () => inner.list(range)),
    due: (query) => pass('due', () => inner.due(query)),
    commit: (items) => pass('commit', () => inner.commit(items)),
    unsettled: (range) => pass('unsettled', () => inner.unsettled(range)),
    settle: (rows) => pass('settle', () => inner.settle(rows)),
    appendInbox: (address, texts) => pass('appendInbox', () => inner.appendInbox(address, texts)),
    readInbox: (address, after, limit) => pass('readInbox', () => inner.readInbox(address, after, limit)),
    appendTopic: (topic, entries) => pass('appendTopic', () => inner.appendTopic(topic, entries)),
    readTopic: (topic, after, limit) => pass('readTopic', () => inner.readTopic(topic, after, limit)),
    trimTopic: (topic, upTo) => pass('trimTopic', () => inner.trimTopic(topic, upTo)),
    readJournal: (address, from, limit) => pass('readJournal', () => inner.readJournal(address, from, limit)),
    trimJournal: (address, below) => pass('trimJournal', () => inner.trimJournal(address, below)),
  };
}

/** The same store for one of several runtimes: it stays open when that one closes it. */
export const keptOpen = (store: Store): Store => ({ ...faultyStore(store), close: async () => {} });

const failed = (method: StoreMethod, moment: Moment): Error =>
  new Error(moment === 'before' ? `${method}: no connection` : `${method}: the answer was lost`);

/** Without these calls a runtime has no life in which anything could go wrong. */
const reliable: ReadonlySet<StoreMethod> = new Set<StoreMethod>([
  'open',
  'close',
  'acquireLease',
  'renewLease',
  'list',
  'unsettled',
  'readJournal',
]);

/** Fails some calls at random, half of them after the store has done them. */
export const failsAtRandom =
  ({ random, likelihood }: { random: Random; likelihood: number }): How =>
  async ({ method }, proceed) => {
    const fails = !reliable.has(method) && random.next() < likelihood;
    const isDone = random.next() < 0.5;
    if (fails && !isDone) throw failed(method, 'before');
    const result = await proceed();
    if (fails) throw failed(method, 'after');
    return result;
  };

export interface Death {
  /** The call at which the process dies, counted from 1; Infinity: none. */
  at: number;
  moment: Moment;
}

/** The process dies at one call: no answer, also of an earlier call, comes after it. @param onDeath ends the rest of the process at once */
export function dies({ at, moment }: Death, onDeath: () => void): How {
  let isDead = false;
  const alive = (): void => {
    if (isDead) throw new Error('the process is dead');
  };
  const die = (): never => {
    isDead = true;
    onDeath();
    throw new Error('the process has died');
  };
  return async ({ number }, proceed) => {
    alive();
    if (number === at && moment === 'before') die();
    const result = await proceed();
    alive();
    if (number === at) die();
    return result;
  };
}

/** A store that a test controls while it is in use: it answers late, or not at all. */
export interface ControlledStore extends Store {
  /** Calls in order. */
  readonly calls: StoreMethod[];
  /** Items of each commit() call, in order. */
  readonly commits: Commit[][];
  /**
   * Holds the next `times` calls of this method; default all. @returns a function that releases them, and later calls
   */
  hold(method: StoreMethod, moment?: Moment, times?: number): () => void;
  /** The next `times` calls of this method fail. */
  fail(method: StoreMethod, moment: Moment, times?: number): void;
}

export function controlledStore(inner: Store): ControlledStore {
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
  const how: How = async ({ method }, proceed) => {
    calls.push(method);
    const failure = failing(method);
    await waitFor(method, 'before');
    if (failure === 'before') throw failed(method, failure);
    const result = await proceed();
    await waitFor(method, 'after');
    if (failure) throw failed(method, failure);
    return result;
  };
  const gated = faultyStore(inner, { how });
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
