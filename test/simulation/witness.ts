/**
 * Stands directly before the true store and knows what that took, whoever asked and whatever they were told:
 * commits, topics, leases. It outlives every life.
 */
import type { Commit, CommitResult, Store, TopicEntry } from '../../src/engine/store.js';
import { journalRows, seqOf } from '../../src/stores/commit-rule.js';
import { faultyStore } from '../support/faulty-store.js';
import type { Timeline } from './timeline.js';

/** Step that was written, with the record and the outbox of its whole commit. */
export interface Witnessed extends Commit {
  seq: number;
  /** Of its commit among all commits of a history, from 1. */
  order: number;
  /** True: the record and the outbox of the commit are those after this step. */
  isLast: boolean;
}

export interface Witness {
  /** The store as those see it who are seen. */
  before(store: Store): Store;
  /** By address, each step that was written, in order. */
  commits: Map<string, Witnessed[]>;
  /** How many there are. */
  count(): number;
  /** What happened that never may. */
  faults: string[];
  /** Whether the lease of this owner is valid now. */
  isOwner(owner: string): boolean;
  /** All leases end, as with the process that they were kept in. */
  forgetLeases(): void;
}

/** @param calls counts those that the true store works for */
export function witness(timeline: Timeline, calls: { now: number }): Witness {
  const commits = new Map<string, Witnessed[]>();
  const faults: string[] = [];
  let count = 0;
  const leases = new Map<string, { owner: string; epoch: number; endsMs: number }>();
  const note = (commit: Commit, result: CommitResult | undefined): void => {
    if (result?.status !== 'done') return;
    const known = commits.get(commit.address) ?? [];
    commits.set(commit.address, known);
    if (known.some(({ commitId }) => commitId === commit.commitId)) return;
    const last = known.at(-1);
    if (last && commit.epoch < last.epoch)
      faults.push(`${commit.address}: epoch ${commit.epoch} wrote after ${last.epoch}`);
    count += 1;
    for (const { seq, text: journal } of journalRows(commit)) {
      const before = known.at(-1)?.seq ?? 0;
      if (seq !== before + 1) faults.push(`${commit.address}: seq ${seq} was written after ${before}`);
      known.push({ ...commit, seq, journal, order: count, isLast: seq === seqOf(commit) });
    }
  };

  const counted = (store: Store): Store =>
    faultyStore(store, {
      how: async (_, proceed) => {
        calls.now += 1;
        try {
          return await proceed();
        } finally {
          calls.now -= 1;
        }
      },
    });
  const before = (store: Store): Store => ({
    ...store,
    async commit(items) {
      const results = await store.commit(items);
      for (const [at, item] of items.entries()) note(item, results[at]);
      return results;
    },
    async appendTopic(topic: string, entries: TopicEntry[]) {
      for (const { source, seq, index } of entries) {
        const isCommitted = commits.get(source)?.some((commit) => commit.seq === seq);
        if (!isCommitted) faults.push(`${source} broadcast (${seq}, ${index}) before its commit`);
      }
      return store.appendTopic(topic, entries);
    },
    async acquireLease(request) {
      const askedAtMs = timeline.nowMs;
      const result = await store.acquireLease(request);
      if (result.status === 'granted') {
        const { name, owner, epoch, ttlMs } = result.lease;
        leases.set(name, { owner, epoch, endsMs: askedAtMs + ttlMs });
      }
      return result;
    },
    async renewLease(lease) {
      const isRenewed = await store.renewLease(lease);
      const held = leases.get(lease.name);
      if (isRenewed && held?.epoch === lease.epoch) held.endsMs = timeline.nowMs + lease.ttlMs;
      return isRenewed;
    },
    async releaseLease(lease) {
      await store.releaseLease(lease);
      if (leases.get(lease.name)?.epoch === lease.epoch) leases.delete(lease.name);
    },
  });

  return {
    before: (store) => before(counted(store)),
    commits,
    count: () => count,
    faults,
    isOwner: (asked) => [...leases.values()].some(({ owner, endsMs }) => owner === asked && timeline.nowMs < endsMs),
    forgetLeases: () => leases.clear(),
  };
}
