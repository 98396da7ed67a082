/**
 * Random callers that wait for their turn and their plugin and may be cancelled at any moment; commits may outlast a
 * ticket. Each caller comes to an end, no two call about one volume at once, and no lock stays taken.
 */
import { expect } from 'chai';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../../machines/kit/csi-types.js';
import { onAbort } from '../../src/abort.js';
import type { PluginCall } from '../../src/calls/homes.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import type { PluginObservation } from '../../src/calls/plugin-port.js';
import { lockKey, VolumeLocks } from '../../src/calls/volume-locks.js';
import { pause } from '../../src/engine/clock.js';
import type { EffectCall } from '../../src/engine/effects/effects.js';
import { noSecrets } from '../../src/secrets/secrets.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const plugin = 'disk';
const volumes = ['vol-1', 'vol-2', 'vol-3'];
const well: PluginObservation = {
  capabilities: new Set(),
  pluginCapabilities: new Set(),
  hasService: true,
  wellAtMs: 1,
};
const away: PluginObservation = { ...well, trouble: 'it is away', troubleKind: 'absent' };
const about = [[], ['vol-1'], ['vol-2'], ['vol-3'], ['vol-1', 'vol-2'], ['vol-2', 'vol-3']];
const givenUp = { status: 'given-up' } as const;

class World {
  readonly clock = simulatedClock();
  readonly locks = new VolumeLocks();
  readonly access: PluginAccess;
  readonly #calls: PluginCalls;
  readonly #chance: () => number;
  readonly #commitMs: number;
  readonly #underWay = new Set<readonly string[]>();
  readonly #maxInFlight: number;
  #observation = well;
  #changed = (): void => {};
  /** True once no caller is cancelled any more. */
  #isQuiet = false;
  waits = 0;

  constructor(seed: number) {
    this.#chance = seededRandom(seed).next;
    this.#maxInFlight = 1 + this.#below(3);
    this.#commitMs = this.#pick([5, 100, 2_500]);
    const plugins = {
      isKnown: () => true,
      observation: () => this.#observation,
      client: async () => ({}),
      lookAgain: () => {},
      watch: (_: string, changed: () => void) => {
        this.#changed = changed;
        return () => {};
      },
    };
    this.access = new PluginAccess(plugins, { clock: this.clock, maxInFlight: this.#maxInFlight });
    const { clock, locks, access } = this;
    this.#calls = new PluginCalls({ access, clock, locks, secrets: noSecrets, retry: { initialMs: 1, maxMs: 1 } });
  }

  /** Calls until three of its calls are done. */
  async caller(address: string): Promise<void> {
    for (let done = 0; done < 3; ) {
      const call: PluginCall = { plugin, secrets: {}, isForced: this.#below(3) === 0 };
      const keys = this.#pick(about);
      const outcome = await this.#bounded((signal) =>
        this.#calls.run(this.#run(address, call, signal), { volumes: keys, call: () => this.#call(keys, signal) }),
      );
      await this.#commit();
      if (outcome.status === 'done') done += 1;
      if (outcome.status !== 'must-wait') continue;
      this.waits += 1;
      const { status: _, ...wait } = outcome;
      const input: AdmissionCall<PluginCall> = { src: 'publish', call, wait };
      const effect = this.#calls.admission(() => keys);
      await this.#bounded((signal) => effect.run(this.#run(address, input, signal)) as Promise<AdmissionOutcome>);
      await this.#commit();
    }
  }

  async wild(): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) {
      await this.clock.advance(this.#below(1_500));
      this.#see(this.#below(2) === 0 ? away : { ...well, wellAtMs: turn + 2 });
    }
  }

  async quiet(): Promise<void> {
    this.#isQuiet = true;
    this.#see({ ...well, wellAtMs: 1_000 });
    await this.clock.advance(400_000);
  }

  /** Checks that all places in flight and all volumes can be taken. */
  async judge(): Promise<void> {
    expect(this.locks.take(volumes.map((csiId) => lockKey(plugin, csiId)))).to.equal(true);
    const { signal } = new AbortController();
    for (let place = 0; place < this.#maxInFlight; place += 1) {
      expect(this.access.obstacle({ plugin })).to.equal(undefined);
      await this.access.enter({ plugin }, { signal, waits: () => {} });
    }
    expect(this.access.obstacle({ plugin })).not.to.equal(undefined);
  }

  #below(count: number): number {
    return Math.floor(this.#chance() * count);
  }

  #pick<T>(list: readonly T[]): T {
    const one = list[this.#below(list.length)];
    if (one === undefined) throw new Error('there is nothing to pick');
    return one;
  }

  #see(observation: PluginObservation): void {
    this.#observation = observation;
    this.#changed();
  }

  #commit(): Promise<void> {
    return pause(this.clock, this.#below(this.#commitMs));
  }

  async #call(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (const others of this.#underWay)
      for (const key of keys) if (others.includes(key)) throw new Error(`two calls about ${key} at once`);
    const own = [...keys];
    this.#underWay.add(own);
    const end = (): boolean => this.#underWay.delete(own);
    signal.addEventListener('abort', end);
    expect(this.#underWay.size).to.be.at.most(this.#maxInFlight);
    await pause(this.clock, this.#below(800), signal);
    end();
  }

  /** Runs the work; cancels some of it after a while, as when its state is left. */
  async #bounded<T extends CallOutcome<void> | AdmissionOutcome>(
    begin: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | typeof givenUp> {
    const state = new AbortController();
    const isLeft = !this.#isQuiet && this.#below(4) === 0;
    const leave = isLeft ? this.clock.after(this.#below(4_000), () => state.abort(new Error('left'))) : undefined;
    try {
      const outcome = await begin(state.signal);
      if (state.signal.aborted) return givenUp;
      // A call that was made is answered.
      if (outcome.status === 'failed') throw new Error(outcome.failure.message);
      return outcome;
    } catch (error) {
      if (state.signal.aborted) return givenUp;
      throw error;
    } finally {
      leave?.();
    }
  }

  #run<TInput>(address: string, input: TInput, signal: AbortSignal): EffectCall<TInput> {
    const names = { address, id: 'publish', src: 'publish', seq: 1, recovered: false, attempt: 1 };
    const engine = {
      sent: () => {},
      mayGoOn: () => {},
      send: () => {},
      clearInMs: () => 0,
      endDoubts: async () => false,
    };
    return { ...names, ...engine, input, signal, onAbort: (callback) => onAbort(signal, callback) };
  }
}

describe('random calls that wait', () => {
  it('V9 V13 all calls end, one at a time per volume, and no lock stays taken', async () => {
    let waits = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const world = new World(seed);
      let ended = 0;
      const callers = Promise.all(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => world.caller(name).then(() => (ended += 1))),
      );
      callers.catch(() => {});
      await world.wild();
      await world.quiet();
      expect(ended, `how many came to an end, seed ${seed}`).to.equal(6);
      await callers;
      await world.judge();
      waits += world.waits;
    }
    expect(waits).to.be.greaterThan(1_000);
  });
});
