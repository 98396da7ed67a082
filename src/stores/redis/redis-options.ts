/** Options of redisStore: checks them and converts them to those of ioredis. */

import type { RedisOptions } from 'ioredis';
import { z } from 'zod';

/** When a write counts as done. */
export type RedisDurability =
  /** Once the server has answered. Its own settings decide how durable that is (see redisStore). */
  | 'server'
  /** Once so many replicas have the write too. A call that reaches fewer within `timeoutMs` rejects. */
  | { replicas: number; timeoutMs: number };

/** Options of ioredis, except those about order and repetition, which the store decides. */
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

/** Address of the server: exactly one of `url`, `host`, `path`, `sentinels` and `cluster`. */
export interface RedisStoreOptions extends ConnectionOptions {
  /**
   * `redis://user:password@host:6379/0`, or `rediss://` for TLS. Options beside it (user, password …) override its
   * parts.
   */
  url?: string;
  /** Some nodes of a cluster; the store finds the others. */
  cluster?: { host: string; port: number }[];
  /** Prefix of all keys; default `stagecraft:`. Stores with different prefixes on one server share nothing. */
  prefix?: string;
  /** Default `server`. */
  durability?: RedisDurability;
  /** Time for an answer, in milliseconds; then the call rejects. Default 5,000. */
  commandTimeoutMs?: number;
}

export interface RedisSettings {
  connection: RedisOptions;
  cluster?: { host: string; port: number }[];
  prefix: string;
  durability: RedisDurability;
  commandTimeoutMs: number;
}

const natural = z.int().nonnegative();
const positive = z.int().positive();
const port = z.int().min(1).max(65_535);
const text = z.string().min(1);
const tlsOptions = z.custom((value) => typeof value === 'object' && value !== null, 'must be an object');
const natMap = z.custom((value) => value instanceof Object, 'must be an object or a function');

/** Strict object of zod with our message for unknown keys. */
const only = <T extends z.core.$ZodLooseShape>(shape: T): z.ZodObject<T, z.core.$strict> =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown key; allowed here: ${Object.keys(shape).join(', ')}` : undefined,
  });

const optionsSchema = only({
  url: z.string().refine((url) => fromUrl(url), {
    // Does not show the URL: it may contain a password.
    message: 'must be redis://[user:password@]host[:port][/db], or rediss:// for TLS',
  }),
  host: text,
  port,
  path: text,
  sentinels: z.array(only({ host: text, port: port.optional(), family: natural.optional() })).min(1),
  name: text,
  cluster: z.array(only({ host: text, port })).min(1),
  username: z.string(),
  password: z.string(),
  tls: tlsOptions,
  db: natural,
  prefix: text.refine((prefix) => !/[{}]/.test(prefix), 'must have no brace: Redis Cluster gives them a meaning'),
  durability: z.union(
    [z.literal('server'), only({ replicas: positive, timeoutMs: positive })],
    "must be 'server', or { replicas, timeoutMs }, both at least 1",
  ),
  commandTimeoutMs: positive,
  protocol: z.literal([2, 3], 'must be 2 or 3'),
  family: natural,
  connectionName: z.string(),
  connectTimeout: positive,
  keepAlive: natural,
  noDelay: z.boolean(),
  sentinelUsername: z.string(),
  sentinelPassword: z.string(),
  sentinelTLS: tlsOptions,
  enableTLSForSentinelMode: z.boolean(),
  natMap,
  disableClientInfo: z.boolean(),
} satisfies Record<keyof RedisStoreOptions, z.ZodType>).partial();

/** Finds options that are valid alone and contradict each other. */
function* contradictions(options: RedisStoreOptions): Generator<string> {
  const { url, host, path, sentinels, name, cluster, db } = options;
  if ([url, host, path, sentinels, cluster].filter((place) => place !== undefined).length !== 1)
    yield 'give exactly one of url, host, path, sentinels and cluster';
  if ((sentinels === undefined) !== (name === undefined))
    yield 'sentinels are asked for a master by its name: give both, sentinels and name';
  if (cluster !== undefined && db) yield 'db: a cluster has no database but 0';
}

/** Lists each fault with its path. Values are not shown: they may be secret. */
function faultsOf(options: RedisStoreOptions): string[] {
  const { error } = optionsSchema.safeParse(options);
  const faults = (error?.issues ?? []).flatMap((issue) => {
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    return paths.map((at) => `${at.join('.') || 'the options'}: ${issue.message}`);
  });
  return options instanceof Object ? [...faults, ...contradictions(options)] : faults;
}

/**
 * Checks and converts the options.
 * @throws {TypeError} naming every fault with its path
 */
export function redisSettings(given: string | RedisStoreOptions): RedisSettings {
  const options = typeof given === 'string' ? { url: given } : given;
  const faults = faultsOf(options);
  if (faults.length > 0) throw new TypeError(`redisStore can't take its options: ${faults.join('; ')}`);
  const {
    url,
    cluster,
    prefix = 'stagecraft:',
    durability = 'server',
    commandTimeoutMs = 5_000,
    ...connection
  }: RedisStoreOptions = options;
  return {
    connection: { ...(url === undefined ? {} : fromUrl(url)), ...connection },
    ...(cluster === undefined ? {} : { cluster }),
    prefix,
    durability,
    commandTimeoutMs,
  };
}

/** Returns undefined if the text is no URL of a Redis server. */
function fromUrl(text: string): RedisOptions | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const db = /^\/?(\d*)$/.exec(url?.pathname ?? '-')?.[1];
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !isRedis || url.hostname === '' || db === undefined || url.search !== '') return undefined;
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (username === undefined || password === undefined) return undefined;
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 6379),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(db === '' ? {} : { db: Number(db) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // a % that begins no valid escape
  }
}

/** Describes the server's address, for messages. */
export function serverText({ sentinels, name, path, host = '127.0.0.1', port = 6379 }: RedisOptions): string {
  if (sentinels) return `${name} (sentinels ${sentinels.map((at) => `${at.host}:${at.port}`).join(', ')})`;
  return path ?? `${host}:${port}`;
}
