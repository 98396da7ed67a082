/** What `createRuntime` takes, and what of it is refused. */
import { type BackoffPolicy, defaultBackoff } from '../machines/backoff.js';
import type { SecretsProvider } from './calls/secrets.js';
import type { Clock } from './engine/clock.js';
import type { Logger } from './engine/logger.js';
import type { Random } from './engine/random.js';
import type { Store } from './engine/store.js';
import { StagecraftError } from './errors.js';
import { faultIn, nodeIdSchema } from './host/names.js';
import type { ClaimClient } from './mounts/claim-client.js';
import type { OnPluginLoss } from './mounts/mount-watch.js';
import type { Dependents } from './registry/dependents.js';
import type { Dispenser } from './registry/dispenser.js';
import type { FingerprintTimes } from './registry/fingerprint-loop.js';
import { checkDispensers } from './registry/validate.js';

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

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

function checkSecrets(secrets: SecretsProvider | undefined): void {
  if (secrets === undefined) return;
  if (!isObject(secrets) || typeof secrets.resolve !== 'function')
    throw invalid("secrets must be a provider with a function resolve, e.g. fileSecrets('/run/secrets')");
  if (secrets.check !== undefined && typeof secrets.check !== 'function')
    throw invalid('secrets.check must be a function, or not be there');
}

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkOptions(options: RuntimeOptions): void {
  if (!isObject(options)) throw invalid('createRuntime takes an object: give at least { nodeId, dataDir }');
  const { nodeId, dataDir, store, fingerprint = {}, retention = {}, logs = {}, dependents, dispensers = {} } = options;
  checkNodeId(nodeId);
  if (typeof dataDir !== 'string') {
    throw invalid(`dataDir must be the absolute path of a directory, it is ${typeof dataDir}`);
  }
  if (store !== undefined && !(store instanceof Object)) {
    // The URL itself may hold a password.
    const advice = typeof store === 'string' ? " give redisStore('redis://…') of stagecraft/stores" : ' leave it out';
    throw invalid(`store must be a store, it is ${typeof store}:${advice}`);
  }
  checkDispensers(dispensers);
  checkSecrets(options.secrets);
  if (dependents !== undefined && typeof dependents !== 'function') {
    throw invalid(`dependents must be a function, it is ${typeof dependents}`);
  }
  const { calls = {}, retry = {}, fencing = {}, reconcile = {}, stats = {}, volumeNamePrefix } = options;
  const groups = { fingerprint, retention, logs, calls, retry, fencing, reconcile, stats };
  for (const [group, values] of Object.entries(groups)) {
    if (!isObject(values)) throw invalid(`${group} must be an object, it is ${values}`);
  }
  for (const [name, value] of Object.entries(fingerprint)) {
    if (!(typeof value === 'number' && value > 0)) {
      throw invalid(`fingerprint.${name} must be a positive number of milliseconds, it is ${value}`);
    }
  }
  for (const [group, values] of Object.entries({ retention, logs })) {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
      throw invalid(`${group}.${name} must be a positive whole number, it is ${value}`);
    }
  }
  checkVolumeOptions(options);
  checkMountOptions(options);
  checkNamePrefix(volumeNamePrefix);
}

/** Names at plugins have 128 bytes at most, and some backends take no other characters. */
const namePrefix = /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/i;

function checkNamePrefix(prefix: unknown): void {
  if (prefix === undefined || (typeof prefix === 'string' && namePrefix.test(prefix))) return;
  const rule = '1 to 64 letters and digits of ASCII, with hyphens between them';
  throw invalid(`volumeNamePrefix must be ${rule}, it is ${JSON.stringify(prefix)}`);
}

/** What volumes are worked on with. */
function checkVolumeOptions(
  options: Pick<RuntimeOptions, 'calls' | 'retry' | 'fencing' | 'reconcile' | 'stats'>,
): void {
  const { calls = {}, retry = {}, fencing = {}, reconcile = {}, stats = {} } = options;
  const { maxInFlightPerPlugin, ...callTimes } = calls;
  if (maxInFlightPerPlugin !== undefined && !(Number.isSafeInteger(maxInFlightPerPlugin) && maxInFlightPerPlugin > 0))
    throw invalid(`calls.maxInFlightPerPlugin must be a positive whole number, it is ${maxInFlightPerPlugin}`);
  for (const [group, times] of Object.entries({ calls: callTimes, retry, fencing, reconcile, stats })) {
    for (const [name, value] of Object.entries(times)) {
      if (value === undefined || (Number.isFinite(value) && value > 0)) continue;
      throw invalid(`${group}.${name} must be a positive number of milliseconds, it is ${value}`);
    }
  }
  const { initialMs, maxMs } = { ...defaultBackoff, ...retry };
  if (initialMs > maxMs) throw invalid(`retry.initialMs is ${initialMs}, above retry.maxMs, which is ${maxMs}`);
}

const lossAnswers: readonly unknown[] = ['remount', 'report'] satisfies OnPluginLoss[];
const claimMethods = Object.keys({
  look: true,
  claim: true,
  holds: true,
  publish: true,
  release: true,
  unstaged: true,
  holdReleased: true,
  expanded: true,
} satisfies Record<keyof ClaimClient, true>);

/** What mounts are worked on with. */
function checkMountOptions({ onPluginLoss, claims }: Pick<RuntimeOptions, 'onPluginLoss' | 'claims'>): void {
  if (onPluginLoss !== undefined && !lossAnswers.includes(onPluginLoss))
    throw invalid(`onPluginLoss must be 'remount' or 'report', it is ${JSON.stringify(onPluginLoss)}`);
  if (claims === undefined) return;
  if (!isObject(claims)) throw invalid(`claims must be an object with the methods of a ClaimClient, it is ${claims}`);
  const missing = claimMethods.filter((method) => typeof Reflect.get(claims, method) !== 'function');
  if (missing.length > 0)
    throw invalid(`claims must have the methods of a ClaimClient, it lacks ${missing.join(', ')}`);
}

function checkNodeId(nodeId: unknown): void {
  const fault = faultIn(nodeIdSchema, nodeId);
  if (fault !== undefined) throw invalid(`nodeId ${fault}`);
}
