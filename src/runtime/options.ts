/** Options of `createRuntime`, and their checks. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { Clock } from '../engine/clock.js';
import type { Feed, FeedRecord } from '../engine/feed.js';
import type { Logger } from '../engine/logger.js';
import type { Random } from '../engine/random.js';
import type { Store } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import type { DataDirAccess } from '../host/data-dir-access.js';
import { nodeIdSchema } from '../host/names.js';
import { type Shown, shown } from '../host/shown.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import type { OnPluginLoss } from '../mounts/mount-reconciler.js';
import type { Dependents } from '../registry/dependents.js';
import type { Dispenser } from '../registry/dispenser.js';
import type { FingerprintTimes } from '../registry/fingerprint-loop.js';
import { dispenserFaults } from '../registry/validate.js';
import { checked } from '../requests/fields.js';
import { ownSchema, settingsShape, shortestKeyBytes } from '../requests/settings.js';
import type { SecretsProvider } from '../secrets/secrets.js';

export interface RuntimeOptions {
  /** Name of this host, 1 to 256 bytes. */
  nodeId: string;
  /** Absolute; created if missing, kept private, used by one runtime at a time. */
  dataDir: string;
  /**
   * Users who may pass through the data directory to the volumes below it. `owner`, the default, is enough for workloads
   * in containers; others need `{ group }`, by name or number, or `everyone`. A data directory of an earlier version
   * stays open to everyone until this is set.
   */
  dataDirAccess?: DataDirAccess;
  /**
   * Store of this runtime alone, which opens and closes it. Default: the embedded store, in `state` below the data directory.
   */
  store?: Store;
  /** Checks of plugins; default: every 30 s, each at most 30 s. */
  fingerprint?: Partial<FingerprintTimes>;
  /** Calls to plugins for volumes. */
  calls?: CallOptions;
  /** Part of this runtime among those that share its store. */
  cluster?: ClusterSettings;
  /** Backoff after failures; default: 100 ms, doubling up to 5 min, with full jitter. */
  retry?: Partial<BackoffPolicy>;
  /** Time until the volumes on a node that is down are given up; default: never. */
  fencing?: { afterMs?: number | undefined };
  /** Interval at which volumes are compared with the plugins' lists; default 5 min. */
  reconcile?: { intervalMs?: number | undefined };
  /** Resolves the secrets of volumes when a call is made; default: none can be. */
  secrets?: SecretsProvider;
  /** Prefix of the plugins' names of volumes; default `sc`. */
  volumeNamePrefix?: string;
  /**
   * Handling of mounts that are gone since their plugin was restarted: `remount`, the default, mounts them again;
   * `report` only reports them until somebody asks.
   */
  onPluginLoss?: OnPluginLoss;
  /** Interval at which plugins are asked for the condition of mounted volumes; default 1 min. */
  stats?: { intervalMs?: number | undefined };
  /** Port to the controller side; default: in this process, while this runtime leads. */
  claims?: ClaimClient;
  /** How much of the past is kept. */
  retention?: Retention;
  /** Logs of plugin processes. */
  logs?: LogOptions;
  /** Further kinds of plugin by type; one for `csi-controller` or `csi-node` replaces the built-in one. */
  dispensers?: Record<string, Dispenser>;
  /**
   * Names what depends on a plugin instance, e.g. mounted volumes; asked before it is deregistered or its task is
   * stopped.
   */
  dependents?: Dependents;
  /** Listens to the live feed from the start on, as `runtime.inspect` does later. */
  inspect?: FeedListener;
  clock?: Clock;
  random?: Random;
  /** E.g. pino; default: nothing is logged. */
  logger?: Logger;
}

export interface ClusterSettings {
  /**
   * Whether this runtime may work on the volumes of all: `auto`, the default, if it is to; `never` for hosts that only use them.
   * Not for a store of one process.
   */
  own?: 'auto' | 'never' | undefined;
  /**
   * Signs all messages, and refuses those without this signature: at least 32 bytes, the same for all runtimes on the store.
   * Default: nothing is signed. Not for a store of one process.
   */
  key?: string | Uint8Array | undefined;
}

export interface CallOptions {
  /** Limit of one call; default 2 minutes. */
  timeoutMs?: number | undefined;
  /** Limit of one call to the node service; default as `timeoutMs`, but at least a minute. */
  nodeTimeoutMs?: number | undefined;
  /** Calls to one plugin at the same time; default 64. Use 1 for a driver that can't take more. */
  maxInFlightPerPlugin?: number | undefined;
}

/** Least limit of node calls: some drivers take half a minute to answer for a busy mount. */
const leastNodeTimeoutMs = 60_000;

/** Limits of calls to plugins, with their defaults. */
export const callLimitsOf = ({
  timeoutMs = 120_000,
  nodeTimeoutMs = Math.max(timeoutMs, leastNodeTimeoutMs),
  maxInFlightPerPlugin: maxInFlight = 64,
}: CallOptions = {}) => ({ timeoutMs, nodeTimeoutMs, maxInFlight });

export interface Retention {
  /** Entries kept of each actor's journal, at least; default 1,000. */
  journalEntries?: number | undefined;
  /** Events kept of each topic, at least; default 100,000. */
  topicEvents?: number | undefined;
}

export interface LogOptions {
  /** Size at which a log is copied to an older file and emptied; default 10 MiB. */
  maxBytes?: number | undefined;
}

/** Names of the methods that an object must have. */
type Methods<T> = { [K in keyof T as undefined extends T[K] ? never : K]: true };

const storeMethods: Methods<Store> = {
  ...{ open: true, close: true, acquireLease: true, renewLease: true, releaseLease: true },
  ...{ load: true, list: true, due: true, commit: true, unsettled: true, settle: true },
  ...{ appendInbox: true, readInbox: true, appendTopic: true, readTopic: true, trimTopic: true },
  ...{ readJournal: true, trimJournal: true },
};
const claimMethods: Methods<ClaimClient> = {
  ...{ look: true, claim: true, holds: true, publish: true },
  ...{ release: true, unstaged: true, expanded: true },
};
const clockMethods: Methods<Clock> = { now: true, monotonicMs: true, after: true };
const randomMethods: Methods<Random> = { next: true, id: true };
const loggerMethods: Methods<Logger> = { debug: true, info: true, warn: true, error: true };

/**
 * An object that stands behind a port. A fault says what the value lacks, and never shows the value: it may hold a password.
 * @param what what it must be, e.g. `a clock` @param advice where to get one
 */
const port = <T>(what: string, methods: object, advice: string) =>
  z
    .custom<T>()
    .superRefine((value, context) => {
      if (!isObject(value))
        return context.addIssue({ code: 'custom', message: `must be ${what}, not ${kindOf(value)}: ${advice}` });
      const missing = Object.keys(methods).filter((method) => typeof Reflect.get(value, method) !== 'function');
      if (missing.length > 0)
        context.addIssue({ code: 'custom', message: `must be ${what}, but lacks ${missing.join(', ')}: ${advice}` });
    })
    .optional();

const isObject = (value: unknown): value is object => Object(value) === value;

const kindOf = (value: unknown): string => (value === null ? 'null' : typeof value);

const secretsSchema = port<SecretsProvider>(
  'a provider with a function resolve',
  { resolve: true },
  "e.g. fileSecrets('/run/secrets')",
).refine((provider) => provider?.check === undefined || typeof provider.check === 'function', {
  path: ['check'],
  message: 'must be a function: leave it out, or give one',
});

const dispensersSchema = z
  .custom<Record<string, Dispenser>>()
  .superRefine((dispensers, context) => {
    for (const message of dispenserFaults(dispensers)) context.addIssue({ code: 'custom', message });
  })
  .optional();

const keySchema = z.custom<string | Uint8Array>(
  (key) => (typeof key === 'string' || key instanceof Uint8Array) && Buffer.byteLength(key) >= shortestKeyBytes,
  `must be a text or a Uint8Array of at least ${shortestKeyBytes} bytes`,
);

const shape = {
  nodeId: nodeIdSchema,
  dataDir: z
    .string({ error: 'must be the absolute path of a directory' })
    .refine(isAbsolute, 'is relative: give an absolute path'),
  ...settingsShape,
  store: port<Store>(
    'a store',
    storeMethods,
    "leave it out, or give redisStore('redis://…') or another of stagecraft/stores",
  ),
  cluster: z.strictObject({ own: ownSchema.optional(), key: keySchema.optional() }).optional(),
  secrets: secretsSchema,
  claims: port<ClaimClient>('a ClaimClient', claimMethods, 'leave it out where volumes are managed in this process'),
  dispensers: dispensersSchema,
  dependents: z.custom<Dependents>((value) => typeof value === 'function', 'must be a function').optional(),
  inspect: z.custom<FeedListener>((value) => typeof value === 'function', 'must be a function').optional(),
  clock: port<Clock>('a clock', clockMethods, 'leave it out, or take simulatedClock of stagecraft/testing'),
  random: port<Random>('a source of chance', randomMethods, 'leave it out, or take seededRandom of stagecraft/testing'),
  logger: port<Logger>('a logger', loggerMethods, 'leave it out, or take one of pino'),
} satisfies Record<keyof RuntimeOptions, z.ZodType>;

const optionsSchema = z
  .strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? 'must be an object: give at least { nodeId, dataDir }' : undefined),
  })
  .refine(({ cluster, store }) => cluster?.key === undefined || store?.wire, {
    path: ['cluster', 'key'],
    message: 'has no use: this store is for one runtime, which gets no messages. Leave it out, or give redisStore(…)',
  })
  .refine(({ cluster, store }) => cluster?.own !== 'never' || store?.wire, {
    path: ['cluster', 'own'],
    message: 'must be auto: this store is for one runtime, and no other one can work on its volumes',
  });

/** @throws StagecraftError INVALID_ARGUMENT with every fault and its path */
export function checkRuntimeOptions(options: RuntimeOptions): void {
  checked(optionsSchema, options, 'the options of createRuntime');
}

export type FeedListener = (record: Shown<FeedRecord>) => void;

export const inspecting = (feed: Feed, listener: FeedListener): (() => void) =>
  feed.watch((record) => listener(shown(record)));

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkedListener(listener: unknown): FeedListener {
  if (typeof listener === 'function') return listener as FeedListener;
  throw new StagecraftError(
    'INVALID_ARGUMENT',
    `inspect needs a function that gets each record, not ${typeof listener}`,
  );
}
