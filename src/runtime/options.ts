/** What `createRuntime` takes, and what of it is refused. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { Random } from '../engine/random.js';
import type { Store } from '../engine/store.js';
import { nodeIdSchema } from '../host/names.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import type { OnPluginLoss } from '../mounts/mount-reconciler.js';
import type { Dependents } from '../registry/dependents.js';
import type { Dispenser } from '../registry/dispenser.js';
import type { FingerprintTimes } from '../registry/fingerprint-loop.js';
import { dispenserFaults } from '../registry/validate.js';
import { checked } from '../requests/fields.js';
import { settingsShape } from '../requests/settings.js';
import type { SecretsProvider } from '../secrets/secrets.js';

export interface RuntimeOptions {
  /** This host, 1 to 256 bytes. */
  nodeId: string;
  /** Absolute; made if it is not there, kept private, used by one runtime at a time. */
  dataDir: string;
  /** The runtime opens and closes it: one for each runtime. Default: the embedded store, in `state` below the data directory. */
  store?: Store;
  /** Default: every 30 s, each at most 30 s. */
  fingerprint?: Partial<FingerprintTimes>;
  /** Calls to plugins for volumes. */
  calls?: CallOptions;
  /** Between attempts at what has failed; default: 100 ms, doubling up to 5 min, with full jitter. */
  retry?: Partial<BackoffPolicy>;
  /** When what is on a node that is down is taken for lost; default: never. */
  fencing?: { afterMs?: number | undefined };
  /** How often volumes are compared with what their plugins list; default every 5 min. */
  reconcile?: { intervalMs?: number | undefined };
  /** Resolves the secrets of volumes, when a call is made; default: none can be. */
  secrets?: SecretsProvider;
  /** What the plugins' names of volumes begin with; default `sc`. */
  volumeNamePrefix?: string;
  /**
   * What is done about a mount that is gone, as its plugin was started anew: `remount`, the default, mounts it again;
   * `report` only tells, until it is asked for again.
   */
  onPluginLoss?: OnPluginLoss;
  /** How often plugins are asked for the condition of mounted volumes; default every minute. */
  stats?: { intervalMs?: number | undefined };
  /** The way to whoever has the volumes; default: in process, where this runtime leads. */
  claims?: ClaimClient;
  /** What is kept of the past; what is older is forgotten. */
  retention?: Retention;
  /** What the processes of tasks write. */
  logs?: LogOptions;
  /** Further kinds of plugin by type; what is given for `csi-controller` or `csi-node` takes the place of the built-in one. */
  dispensers?: Record<string, Dispenser>;
  /** Names what depends on a plugin instance, e.g. mounted volumes; asked before it is deregistered or its task is stopped. */
  dependents?: Dependents;
  clock?: Clock;
  random?: Random;
  /** pino fits as it is; default: nothing is logged. */
  logger?: Logger;
}

export interface CallOptions {
  /** Of one call; default 2 minutes. */
  timeoutMs?: number | undefined;
  /** Of one call to the node side of a plugin; default as `timeoutMs`, but a minute at least. */
  nodeTimeoutMs?: number | undefined;
  /** Calls to one plugin at a time; default 64. 1 for a driver that can't take more. */
  maxInFlightPerPlugin?: number | undefined;
}

export interface Retention {
  /** Of each actor's journal at least its last entries; default 1,000. */
  journalEntries?: number | undefined;
  /** Of each topic at least its newest events; default 100,000. */
  topicEvents?: number | undefined;
}

export interface LogOptions {
  /** A log larger than this is copied to an older one, then emptied; default 10 MiB. */
  maxBytes?: number | undefined;
}

/** Methods that an object has to have, by name. */
type Methods<T> = { [K in keyof T as undefined extends T[K] ? never : K]: true };

const storeMethods: Methods<Store> = {
  ...{ open: true, close: true, acquireLease: true, renewLease: true, releaseLease: true },
  ...{ load: true, list: true, due: true, commit: true, unsettled: true, settle: true },
  ...{ appendInbox: true, readInbox: true, appendTopic: true, readTopic: true, trimTopic: true },
  ...{ readJournal: true, trimJournal: true },
};
const claimMethods: Methods<ClaimClient> = {
  ...{ look: true, claim: true, holds: true, publish: true },
  ...{ release: true, unstaged: true, holdReleased: true, expanded: true },
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
  secrets: secretsSchema,
  claims: port<ClaimClient>('a ClaimClient', claimMethods, 'leave it out where volumes are managed in this process'),
  dispensers: dispensersSchema,
  dependents: z.custom<Dependents>((value) => typeof value === 'function', 'must be a function').optional(),
  clock: port<Clock>('a clock', clockMethods, 'leave it out, or take simulatedClock of stagecraft/testing'),
  random: port<Random>('a source of chance', randomMethods, 'leave it out, or take seededRandom of stagecraft/testing'),
  logger: port<Logger>('a logger', loggerMethods, 'leave it out, or take one of pino'),
} satisfies Record<keyof RuntimeOptions, z.ZodType>;

const optionsSchema = z.strictObject(shape, {
  error: ({ code }) => (code === 'invalid_type' ? 'must be an object: give at least { nodeId, dataDir }' : undefined),
});

/** @throws StagecraftError INVALID_ARGUMENT with every fault and its path */
export function checkOptions(options: RuntimeOptions): void {
  checked(optionsSchema, options, 'the options of createRuntime');
}
