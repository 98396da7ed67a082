/** Stores that come with Stagecraft, and the interface that they implement. */

export type {
  Commit,
  CommitResult,
  Cursor,
  DueRow,
  Encoded,
  InboxRow,
  JournalRow,
  Lease,
  LeaseAsked,
  LeaseResult,
  OutboxRow,
  Range,
  Store,
  StoredRecord,
  StoreEvents,
  StorePage,
  TopicEntry,
  TopicPage,
  TopicRow,
} from '../engine/store.js';
export type { LmdbStoreOptions } from './lmdb/lmdb.js';
export { lmdbStore } from './lmdb/lmdb.js';
export type { MemoryStoreOptions } from './memory/memory.js';
export { memoryStore } from './memory/memory.js';
export { redisStore } from './redis/redis.js';
export type { RedisDurability, RedisStoreOptions } from './redis/redis-options.js';
