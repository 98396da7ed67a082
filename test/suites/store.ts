/**
 * The contract of a store, sentence by sentence of src/engine/store.ts: every store runs it, none has another.
 * The sections are in store/; the last of them compares random commits with a simple model.
 */

import type { Store } from '../../src/engine/store.js';
import { commitSection } from './store/commits.js';
import { inboxSection } from './store/inbox.js';
import { journalSection } from './store/journal.js';
import { leaseSection } from './store/leases.js';
import { listingSection } from './store/listings.js';
import { modelSection } from './store/model.js';
import { outboxSection } from './store/outbox.js';
import type { Subject } from './store/subject.js';
import { topicSection } from './store/topics.js';

export interface StoreHarness {
  /** Open and empty. */
  store: Store;
  /** Closes the store and opens the same data again. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
  /** Lets time pass on the store's monotonic clock. */
  elapse(ms: number): void;
}

/** @param make called before each test, disposed of after it */
export function storeSuite(name: string, make: () => Promise<StoreHarness>): void {
  describe(`store contract: ${name}`, () => {
    let harness: StoreHarness;
    let store: Store;

    beforeEach(async () => {
      harness = await make();
      store = harness.store;
    });

    afterEach(() => harness.dispose());

    const subject: Subject = {
      get store() {
        return store;
      },
      async reopen() {
        store = await harness.reopen();
      },
      elapse(ms) {
        harness.elapse(ms);
      },
    };

    commitSection(subject);
    listingSection(subject);
    journalSection(subject);
    outboxSection(subject);
    inboxSection(subject);
    topicSection(subject);
    leaseSection(subject);
    modelSection(subject);
  });
}
