/** The store as one life sees it: it takes its time, has moods, and is where that life can be made to end. */
import type { Commit, CommitResult, Store } from '../../src/engine/store.js';
import { faultyStore, type StoreMethod } from '../support/faulty-store.js';
import { chance } from './dice.js';
import type { Mood, Outage } from './plan.js';
import type { MortalClock } from './timeline.js';

interface LifeStoreOptions {
  clock: MortalClock;
  seed: number;
  latencyMs: number;
  outages: Outage[];
  /** Told of each boundary as it is passed; may end the life there. */
  passed(call: number, moment: 'before' | 'after', method: StoreMethod): void;
  log(line: string): void;
}

/** Long ones. */
const listings: ReadonlySet<StoreMethod> = new Set<StoreMethod>(['list', 'unsettled']);

const never = (): Promise<never> => new Promise(() => {});

export function lifeStore(inner: Store, options: LifeStoreOptions): Store {
  const { clock, seed, latencyMs, outages, passed, log } = options;
  let calls = 0;

  const moodOf = (call: number, method: StoreMethod): Mood | undefined => {
    const outage = outages.find(
      ({ from, to, methods }) => from <= call && call <= to && (!methods || methods.includes(method)),
    );
    return outage?.moods[Math.floor(chance(seed, call, 'mood') * outage.moods.length)];
  };
  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
    else await clock.awake();
  };
  const latency = (call: number, moment: string, method: StoreMethod): number => {
    const mostMs = listings.has(method) ? latencyMs * 4 : latencyMs;
    return mostMs === 0 ? 0 : Math.floor(Math.max(0, chance(seed, call, moment) * 2 - 1) * mostMs);
  };

  const gated = faultyStore(inner, {
    how: async ({ method }, proceed) => {
      if (!clock.isAlive) return never();
      calls += 1;
      const call = calls;
      const mood = moodOf(call, method);
      log(`store call ${call}: ${method}${mood ? ` (${JSON.stringify(mood)})` : ''}`);
      passed(call, 'before', method);
      await wait(latency(call, 'before', method));
      if (mood?.answer === 'fails' && mood.moment === 'before') throw new Error(`${method}: no connection`);
      if (mood?.answer === 'late') {
        await wait(mood.delayMs);
        if (mood.fails) throw new Error(`${method}: given up`);
      }
      if (mood?.answer === 'never' && !mood.isDone) return never();
      const result = await proceed();
      passed(call, 'after', method);
      await wait(latency(call, 'after', method));
      if (mood?.answer === 'never') return never();
      if (mood?.answer === 'fails') throw new Error(`${method}: the answer was lost`);
      return result;
    },
  });
  const refusing = async (items: Commit[]): Promise<CommitResult[] | undefined> => {
    const mood = clock.isAlive ? moodOf(calls + 1, 'commit') : undefined;
    if (mood?.answer !== 'refused') return undefined;
    if (mood.isDone) await gated.commit(items);
    else calls += 1;
    await wait(0);
    log('  refused');
    return items.map(() => ({ status: 'refused', reason: 'not now' }));
  };
  return { ...gated, commit: async (items) => (await refusing(items)) ?? gated.commit(items) };
}
