/** What an engine is made of. */
import type { ActorPolicy } from './actor/policy.js';
import type { Clock } from './clock.js';
import type { Inbox } from './delivery/inbox.js';
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
  /** Shared by all engines of a runtime: a store that is away is one trouble for all. Default: one of its own. */
  troubles?: TroubleLog;
  /**
   * `owner`: default a fresh one; of those that have one in common, only one may live at a time.
   * `covers`: the addresses that it allows to write; default all.
   * `inUse`: what `open` throws where somebody else holds it; default NODE_IN_USE.
   */
  lease: Omit<LeaseRequest, 'owner'> & {
    owner?: string;
    covers?(address: string): boolean;
    inUse?: InUse;
    /** Told, while it is held, that another one was refused it and wants it. */
    wanted?(): void;
  };
  /** Trouble with the same store, as seen by another engine of this process. */
  troubleElsewhere?(forMs?: number): Error | undefined;
  /** Takes the messages to addresses that the lease does not cover; default: they stay owed. */
  elsewhere?: Inbox;
  policy?: Partial<ActorPolicy>;
  /** What the records of idle actors that stay in memory may take as text, for kinds on demand; default 64 MiB. */
  idleBytes?: number;
  /** Those of another engine on the same store, which outlives this one; default: its own. */
  topics?: TopicsOptions | Topics;
}
