/** Lab with policies for its engines: limits of crashes, journals and idle actors. */

import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import type { Clock } from '../../src/engine/clock.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import { Engine } from '../../src/engine/engine.js';
import type { EngineOptions } from '../../src/engine/engine-parts.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { seededRandom } from '../../src/testing/index.js';
import { Lab, leaseTtlMs, textsOf, topicOf } from './lab.js';

type Limits = Pick<EngineOptions, 'policy' | 'idleBytes'>;

export class PolicyLab extends Lab {
  limits: Limits;
  #lives = 0;
  #alive = { now: true };

  constructor(limits: Limits = {}) {
    super();
    this.limits = limits;
  }

  override engine(kinds: ActorKind[], store: Store): Engine {
    this.#lives += 1;
    const lease = { name: 'node/n1', holder: `runtime ${this.#lives}`, ttlMs: leaseTtlMs };
    const { error, warn } = this.#logger;
    const logger = { debug: () => {}, info: () => {}, error, warn };
    const random = seededRandom(this.#lives);
    const clock = this.#clock(this.#alive);
    return new Engine({ store, clock, random, logger, lease, ...this.limits }).host(kinds);
  }

  override async crash(): Promise<void> {
    this.#alive.now = false;
    this.#alive = { now: true };
    await super.crash();
  }

  /** Returns the engine's own broadcasts. */
  async told(topic = 'actors'): Promise<object[]> {
    return textsOf(await topicOf(this, topic));
  }

  #clock(alive: { now: boolean }): Clock {
    return {
      now: () => this.clock.now(),
      monotonicMs: () => this.clock.monotonicMs(),
      after: (delayMs, callback) => this.clock.after(delayMs, () => alive.now && callback()),
    };
  }

  readonly #logger = {
    warn: (fields: object, message: string) => void this.logged.push({ level: 'warn', fields, message }),
    error: (fields: object, message: string) => void this.logged.push({ level: 'error', fields, message }),
  };
}

/** Makes a journal policy with low limits. */
export const journalPolicy = (keep: number, snapshotEvery: number, goneMs = 86_400_000): Partial<ActorPolicy> => ({
  journal: { keep, snapshotEvery, goneMs },
});

/** Writes a record and its journal to a store, as a runtime before the test could have. */
export async function plant(lab: Lab, address: string, text: string, more: Partial<Commit> = {}): Promise<void> {
  const { seq = 0, epoch = 1, owner = 'planter' } = (await lab.data.load(address)) ?? {};
  const commit: Commit = { address, commitId: `planted.${seq}`, expectedSeq: seq, epoch, owner, text, journal: '{}' };
  const [result] = await lab.data.commit([{ ...commit, ...more }]);
  if (result?.status !== 'done') throw new Error(`not planted: ${JSON.stringify(result)}`);
}

export const textOf = async (lab: Lab, address: string): Promise<string> => (await lab.data.load(address))?.text ?? '';
