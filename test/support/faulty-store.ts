/**
 * Stores with faults for tests: each call passes a gate, which makes it late, lost, failed or the last one.
 * Random faults over whole lives: simulation/life-store.ts. A death at a chosen write: registry/cable.ts.
 */
import type { Random } from '../../src/engine/random.js';
import type { Commit, Store } from '../../src/engine/store.js';

export type StoreMethod = keyof Store;

interface StoreCall {
  method: StoreMethod;
  /** Counts the calls of this store, from 1. */
  number: number;
}

/** `before`: the call has no effect. `after`: the call takes effect, and its answer is lost. */
export type Moment = 'before' | 'after';

/** Handles one call. `proceed` makes the call; a handler may use it late, twice or never. */
export type How = <T>(call: StoreCall, proceed: () => Promise<T>) => Promise<T>;

interface Fault {
  /** Calls with the fault: a method, or a predicate. Default: all calls. */
  at?: StoreMethod | ((call: StoreCall) => boolean);
  how: How;
}

/** Wraps a store with a fault; without `fault`, every call passes unchanged. */
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

/** Shares a store among several runtimes: a close by one of them leaves it open. */
export const keptOpen = (store: Store): Store => ({ ...faultyStore(store), close: async () => {} });

const failed = (method: StoreMethod, moment: Moment): Error =>
  new Error(moment === 'before' ? `${method}: no connection` : `${method}: the answer was lost`);

/** Calls that never fail at random, as no runtime could start without them. */
const reliable: ReadonlySet<StoreMethod> = new Set<StoreMethod>([
  'open',
  'close',
  'acquireLease',
  'renewLease',
  'list',
  'unsettled',
  'readJournal',
]);

/** Fails some calls at random, half of them after they took effect. */
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
  /** Number of the fatal call, from 1; Infinity: none. */
  at: number;
  moment: Moment;
}

/**
 * Ends the process at one call; no later answer arrives, even of an earlier call.
 * @param onDeath ends the rest of the process at that moment
 */
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

/** Store that answers late or not at all, as a test asks. */
export interface ControlledStore extends Store {
  /** Calls in order. */
  readonly calls: StoreMethod[];
  /** Items of each commit() call, in order. */
  readonly commits: Commit[][];
  /**
   * Holds the next `times` calls of this method; default all.
   * @returns a function that releases these calls and later ones
   */
  hold(method: StoreMethod, moment?: Moment, times?: number): () => void;
  /** Fails the next `times` calls of this method. */
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
