/** Parts of an engine, and its options. Makes the parts and ties them to each other; nothing runs yet. */

import type { StagecraftError } from '../errors.js';
import { actorHost } from './actor/actor-host.js';
import type { CommitNotice } from './actor/actor-ports.js';
import { Actors } from './actor/actors.js';
import { Committer } from './actor/committer.js';
import { type ActorPolicy, defaultPolicy } from './actor/policy.js';
import type { Clock } from './clock.js';
import { Deliveries, Redelivery } from './delivery/deliveries.js';
import type { Inbox } from './delivery/inbox.js';
import { EffectGate } from './effects/effect-gate.js';
import { EffectRunner } from './effects/effect-runner.js';
import { Feed } from './feed.js';
import { Journals, unreadableWords } from './journals.js';
import { type InUse, LeaseKeeper, type LeaseRequest } from './lease/lease-keeper.js';
import type { Logger } from './logger.js';
import type { Random } from './random.js';
import { patienceMs, StorePatience } from './storage/store-patience.js';
import { timedStore } from './storage/timed-store.js';
import { storeSubject, TroubleLog } from './storage/trouble-log.js';
import { WriteWatch } from './storage/write-watch.js';
import type { Store } from './store.js';
import { TimerHeap } from './timer-heap.js';
import { Topics, type TopicsOptions } from './topics/topics.js';

/** Limit for one call of the store. */
const storeLimitMs = 10_000;
/** Term of the lease that a trial write takes: nobody else asks for it. */
const trialMs = 1_000;
const defaultIdleBytes = 64 * 2 ** 20;

export interface EngineOptions {
  store: Store;
  clock: Clock;
  random: Random;
  logger: Logger;
  /** Shared by all engines of a runtime, so that an absent store is logged once. Default: a log of its own. */
  troubles?: TroubleLog;
  /**
   * `owner`: random id of the holder; default: a fresh one. Of all engines that share an owner, only one may run at a
   * time.
   * `covers`: tells whether the lease allows to write an address; default: all addresses.
   * `inUse`: makes the error that `open` throws while another owner holds the lease; default NODE_IN_USE.
   */
  lease: Omit<LeaseRequest, 'owner'> & {
    owner?: string;
    covers?(address: string): boolean;
    inUse?: InUse;
    /** Called, while the lease is held, when the store has refused it to another owner that wants it. */
    wanted?(): void;
  };
  /** Receives messages to addresses that the lease does not cover. Default: those messages stay in the outbox. */
  elsewhere?: Inbox;
  /** Shared by all engines of a runtime. Default: a feed that nobody can watch. */
  feed?: Feed;
  policy?: Partial<ActorPolicy>;
  /**
   * Total size of the records of idle actors kept in memory, as text. Only for kinds with `onDemand`; default 64 MiB.
   */
  idleBytes?: number;
  /** Topics of another engine on the same store, which outlives this engine; default: topics of its own. */
  topics?: TopicsOptions | Topics;
}

/** Engine that the parts belong to. */
interface Owner {
  inbox: Inbox;
  /** Aborted when the engine stops. */
  stopped: AbortSignal;
  /** Whether it is checked what the store still has. */
  isChecking(): boolean;
  fence(reason: StagecraftError): void;
  /** Called when the store seems to have lost writes. */
  suspect(reason: string): void;
}

export type EngineParts = ReturnType<typeof engineParts>;

export function engineParts(options: EngineOptions, { inbox, stopped, isChecking, fence, suspect }: Owner) {
  const { clock, random, logger } = options;
  const { troubles = new TroubleLog({ clock, logger }), feed = new Feed(clock, logger) } = options;
  const { covers = () => true, inUse, wanted: _, ...request } = options.lease;
  const incarnation = random.id();
  const leaseRequest: LeaseRequest = { owner: incarnation, ...request };
  const timers = new TimerHeap(clock);
  const store = timedStore(options.store, { clock, timers, limitMs: storeLimitMs });
  /** The store with a shorter limit, for callers that wait. */
  const reads = timedStore(store, { clock, timers, limitMs: patienceMs });
  const writes = new WriteWatch({
    clock,
    stopped,
    write: () => {
      const { owner, holder } = leaseRequest;
      // Same name for all: where another agent holds it, the store took that agent's write within its second.
      return store.acquireLease({ name: 'trial', owner, holder, ttlMs: trialMs });
    },
  });
  const committer = new Committer({ store, clock, logger, troubles, writes });
  const hasOwnTopics = !(options.topics instanceof Topics);
  const topics =
    options.topics instanceof Topics
      ? options.topics
      : new Topics(store, clock, { ...options.topics, logger, troubles });
  const deliveries = new Deliveries({ store, clock, logger, topics, inbox });
  const redelivery = new Redelivery({
    store,
    clock,
    troubles,
    deliveries,
    unreadable: (address, reason) => actors.quarantine(address, reason),
    stopped,
  });
  const leases: LeaseKeeper = new LeaseKeeper(store, clock, {
    lapsed: () => {
      const message = 'the store did not renew our lease in time: nothing is begun until it does';
      troubles.failed(leases, { subject: storeSubject, fields: { lease: leaseRequest.name }, message });
    },
    regained: () => {
      troubles.over(leases);
      gate.reopen();
    },
    lost: fence,
    forgotten: () => suspect('it does not know of our lease'),
    wanted: () => options.lease.wanted?.(),
  });
  // Another runtime may hold a lapsed lease by now, and a store that forgot may have lost the reason of an effect.
  const gate = new EffectGate(clock, timers, () => leases.held && !isChecking());
  const effects = new EffectRunner(
    clock,
    timers,
    ({ address, live, sentAtMs, isInDoubt }, event, says) => {
      if (feed.isWatched) feed.effect(address, live, { phase: says, event });
      actors.post(address, { kind: 'effect', id: live.id, seq: live.seq, event, says, sentAtMs, isInDoubt });
    },
    { feed, mayAct: () => leases.held },
  );
  const observers = new Set<(notice: CommitNotice) => void>();
  const host = actorHost({
    ...{
      incarnation,
      store,
      clock,
      random,
      logger,
      troubles,
      timers,
      committer,
      effects,
      gate,
      deliveries,
      redelivery,
    },
    ...{ leases, observers, feed, covers, fence, suspect, stopped },
    actors: () => actors,
  });
  const actors: Actors = new Actors({
    ...{ store, clock, timers, troubles, host, covers },
    policy: { ...defaultPolicy, ...options.policy },
    idleBytes: options.idleBytes ?? defaultIdleBytes,
    // A message that an actor sends as it is loaded must not overtake those that it owed before.
    mayLoad: () => redelivery.done,
  });
  const journals = new Journals({
    store: reads,
    machineOf: (address) => actors.kindOf(address).machine,
    seqOf: (address) => (leases.held ? actors.get(address)?.seq : undefined),
    unreadable: (entry) =>
      logger.error({ address: entry.address, seq: entry.seq, code: 'JOURNAL_BROKEN' }, unreadableWords(entry)),
  });
  return {
    ...{ clock, logger, troubles, timers, store, reads, writes, committer, patience: new StorePatience(store, timers) },
    ...{ leases, leaseRequest, inUse, covers, effects, gate, deliveries, redelivery, observers, actors },
    ...{ topics, hasOwnTopics, journals },
  };
}
