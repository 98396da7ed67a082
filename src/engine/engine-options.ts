/** Options of an engine. */
import type { ActorPolicy } from './actor/policy.js';
import type { Clock } from './clock.js';
import type { Inbox } from './delivery/inbox.js';
import type { Feed } from './feed.js';
import type { InUse, LeaseRequest } from './lease/lease-keeper.js';
import type { Logger } from './logger.js';
import type { Random } from './random.js';
import type { TroubleLog } from './storage/trouble-log.js';
import type { Store } from './store.js';
import type { Topics, TopicsOptions } from './topics/topics.js';

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
