/**
 * The contract of a store as tests: every sentence of src/engine/store.ts, for every store alike. It needs nothing
 * but Node and the functions of a test runner. The last of its sections compares random calls with a
 * simple model. What a store keeps over the death of its process or its server is for its own tests.
 */

import type { Store } from '../../engine/store.js';
import { batchSection } from './batches.js';
import { commitSection } from './commits.js';
import { journalSection } from './journal.js';
import { leaseSection } from './leases.js';
import { dueSection, listSection } from './lists.js';
import { inboxSection, outboxSection } from './messages.js';
import { modelSection } from './model.js';
import { nameSection } from './names.js';
import { openingSection } from './opening.js';
import { conflictSection, fenceSection } from './refusals.js';
import { seqJumpSection, severalStepsSection } from './seqs.js';
import { globalRunner, type StoreSubject, type TestRunner } from './subject.js';
import { tombstoneSection } from './tombstones.js';
import { topicSection } from './topics.js';

/** Store under test, with the operations that the port does not offer. */
export interface StoreHarness {
  /** Open and empty. */
  store: Store;
  /** Closes the store and opens the same data again, as the next process would. */
  reopen(): Promise<Store>;
  /** Closes the store, if it is open, and removes its data. */
  dispose(): Promise<void>;
  /**
   * Lets at least this much time pass for the store's leases. Where they lapse on a clock that nobody can turn, as
   * on a Redis server, it really waits: then give a short `leaseTtlMs`.
   */
  elapse(ms: number): void | Promise<void>;
  /** Term of the leases that the suite asks for; default 1,000. A tenth of it must be enough for a few calls. */
  leaseTtlMs?: number;
  /** Seeds of random runs; default 1 to 200. A failure names its seed: pass that one alone to repeat it. */
  modelSeeds?: readonly number[];
}

const sections = [
  openingSection,
  commitSection,
  conflictSection,
  fenceSection,
  seqJumpSection,
  severalStepsSection,
  batchSection,
  nameSection,
  tombstoneSection,
  listSection,
  dueSection,
  journalSection,
  outboxSection,
  inboxSection,
  topicSection,
  leaseSection,
  modelSection,
];

/**
 * Declares the tests that a store must pass. With mocha (`mocha --timeout 30000`: some tests write thousands of rows) or
 * jest (`testTimeout: 30_000`) nothing more is needed than:
 * ```ts
 * import { mkdtemp, rm } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import type { Store } from 'stagecraft/stores';
 * import { storeSuite } from 'stagecraft/testing';
 * import { myStore } from './my-store.js';
 *
 * storeSuite('my store', async () => {
 *   const path = await mkdtemp(join(tmpdir(), 'my-store-'));
 *   let nowMs = 0;
 *   let store: Store;
 *   const open = async () => {
 *     store = myStore(path, { monotonicMs: () => nowMs });
 *     await store.open();
 *     return store;
 *   };
 *   return {
 *     store: await open(),
 *     reopen: () => store.close().then(open),
 *     dispose: () => store.close().then(() => rm(path, { recursive: true })),
 *     elapse: (ms) => void (nowMs += ms),
 *   };
 * });
 * ```
 * A store that keeps all in memory is the same object before and after `reopen`, which closes and opens it.
 * @param make called before each test; what it made is disposed of after it
 * @param runner default: the globals, as mocha and jest have them; else for instance `await import('node:test')`
 */
export function storeSuite(name: string, make: () => Promise<StoreHarness>, runner: TestRunner = globalRunner()): void {
  runner.describe(`store contract: ${name}`, () => {
    let harness: StoreHarness;
    let store: Store;

    runner.beforeEach(async () => {
      harness = await make();
      store = harness.store;
    });

    runner.afterEach(() => harness.dispose());

    const subject: StoreSubject = {
      get store() {
        return store;
      },
      get leaseTtlMs() {
        return harness.leaseTtlMs ?? 1_000;
      },
      get modelSeeds() {
        return harness.modelSeeds ?? Array.from({ length: 200 }, (_, i) => i + 1);
      },
      async reopen() {
        store = await harness.reopen();
      },
      async elapse(ms) {
        await harness.elapse(ms);
      },
    };

    for (const section of sections) section(runner, subject);
  });
}
