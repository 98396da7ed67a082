/** How a Redis is named: the options of redisStore, checked and made into what ioredis takes. */

import type { RedisOptions } from 'ioredis';

/** When a write counts as done. */
export type RedisDurability =
  /** When the server says so: how much that is, its own settings decide (see redisStore). */
  | 'server'
  /** When so many replicas have it too; a call that gets fewer within `timeoutMs` rejects. */
  | { replicas: number; timeoutMs: number };

/** What ioredis takes, but for what decides over order and repeats: that is the store's. */
type ConnectionOptions = Pick<
  RedisOptions,
  | 'host'
  | 'port'
  | 'path'
  | 'family'
  | 'tls'
  | 'username'
  | 'password'
  | 'db'
  | 'protocol'
  | 'connectionName'
  | 'connectTimeout'
  | 'keepAlive'
  | 'noDelay'
  | 'sentinels'
  | 'name'
  | 'sentinelUsername'
  | 'sentinelPassword'
  | 'sentinelTLS'
  | 'enableTLSForSentinelMode'
  | 'natMap'
  | 'disableClientInfo'
>;

export interface RedisStoreOptions extends ConnectionOptions {
  /** `redis://user:password@host:6379/0`, `rediss://` for TLS; what else is given goes before it. */
  url?: string;
  /** Some nodes of a cluster; the others are found. */
  cluster?: { host: string; port: number }[];
  /** All keys begin with it; default `stagecraft:`. Stores of different prefixes on one server share nothing. */
  prefix?: string;
  /** Default `server`. */
  durability?: RedisDurability;
  /** A call without an answer for so long rejects; default 5,000. */
  commandTimeoutMs?: number;
}

export interface RedisSettings {
  connection: RedisOptions;
  cluster?: { host: string; port: number }[];
  prefix: string;
  durability: RedisDurability;
  commandTimeoutMs: number;
}

/** @throws {TypeError} for a url or a prefix that can't be used, saying what is expected */
export function redisSettings(given: string | RedisStoreOptions): RedisSettings {
  const {
    url,
    cluster,
    prefix = 'stagecraft:',
    durability = 'server',
    commandTimeoutMs = 5_000,
    ...connection
  } = typeof given === 'string' ? { url: given } : given;
  if (/[{}]/.test(prefix))
    throw new TypeError(`The prefix ${prefix} holds a brace: Redis Cluster gives them a meaning.`);
  if (connection.sentinels !== undefined && connection.name === undefined)
    throw new TypeError('Sentinels are asked for a master by name: give `name` with `sentinels`.');
  if (durability !== 'server' && !(durability.replicas >= 1 && durability.timeoutMs >= 1))
    throw new TypeError("durability is 'server', or { replicas, timeoutMs }, both at least 1.");
  if (cluster !== undefined && (cluster.length === 0 || connection.sentinels !== undefined || connection.db))
    throw new TypeError('A cluster needs at least one node, and knows neither `sentinels` nor a `db` but 0.');
  return {
    connection: { ...(url === undefined ? {} : fromUrl(url)), ...connection },
    ...(cluster === undefined ? {} : { cluster }),
    prefix,
    durability,
    commandTimeoutMs,
  };
}

function fromUrl(text: string): RedisOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const db = /^\/?(\d*)$/.exec(url?.pathname ?? '-')?.[1];
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !isRedis || url.hostname === '' || db === undefined || url.search !== '') {
    // Not the url itself: it may hold a password.
    throw new TypeError(
      'The url of a Redis store must be redis://[user:password@]host[:port][/db], or rediss:// for TLS.',
    );
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 6379),
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

/** Where a connection goes, in words. */
export function whereOf({ sentinels, name, path, host = '127.0.0.1', port = 6379 }: RedisOptions): string {
  if (sentinels) return `${name} (sentinels ${sentinels.map((at) => `${at.host}:${at.port}`).join(', ')})`;
  return path ?? `${host}:${port}`;
}
