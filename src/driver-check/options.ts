/** What a run is told: which driver, with what, and where on this host. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messages, rpcs } from '../csi/generated/plain.js';
import { StagecraftError } from '../errors.js';
import { checkSocketPath } from '../host/socket-path.js';
import type { Side } from './ask.js';
import type { AccessType } from './context.js';

/** By the name of an RPC, e.g. `CreateVolume`. */
export type ByRpc = Readonly<Record<string, Record<string, string>>>;

export interface CheckDriverOptions {
  /** `unix:///abs/path` or `/abs/path`: serves all of the driver. */
  endpoint?: string;
  /** Serves Identity, Controller and GroupController, where those are apart. */
  controllerEndpoint?: string;
  /** Serves Identity and Node, where those are apart. */
  nodeEndpoint?: string;
  /** The `parameters` of CreateVolume, CreateSnapshot and CreateVolumeGroupSnapshot; the `mutableParameters` of ControllerModifyVolume. */
  parameters?: ByRpc;
  /** The `secrets` of any RPC that has them. */
  secrets?: ByRpc;
  /** Default: mount, and block too where the driver takes it. */
  accessType?: AccessType;
  /** Of mounted volumes; default: what the driver chooses. */
  fsType?: string;
  /** Of each volume; default 1 GiB. */
  sizeBytes?: number;
  /** A directory of the driver's host that exists; the run makes one of its own in it. Default: that for temporary files. */
  stagingDir?: string;
  /** The same, for targets. */
  targetDir?: string;
  /** Another node that the controller knows, for what concerns two nodes. */
  otherNodeId?: string;
  /** Only the checks in whose id or rule this is found. */
  only?: string;
  /** Ids of checks, or how they begin: these are not made, and are `skipped`. */
  skip?: readonly string[];
  /** How long a driver is waited for that is gone after a check, before the next is made; default 30 s. */
  restartWaitMs?: number;
  /** Of each call, and of each look at a mount; default 30 s. */
  timeoutMs?: number;
  /** Ends the run early: it cleans up, and the checks that are left are not made. */
  signal?: AbortSignal;
  /** Begins the name of everything that the run makes; up to 64 letters, digits, dashes and underscores; default `stagecraft-check-` and 8 random characters. */
  prefix?: string;
}

export interface Settings {
  socketPaths: Partial<Record<Side, string>>;
  parameters: ByRpc;
  secrets: ByRpc;
  accessType: AccessType | undefined;
  fsType: string;
  sizeBytes: number;
  stagingDir: string | undefined;
  targetDir: string | undefined;
  otherNodeId: string | undefined;
  only: string;
  skip: readonly string[];
  restartWaitMs: number;
  timeoutMs: number;
  prefix: string;
}

const defaultSizeBytes = 2 ** 30;
const defaultTimeoutMs = 30_000;
/** As long as a supervisor may take to start a container anew. */
const defaultRestartWaitMs = 30_000;
const prefixForm = /^[\w-]{1,64}$/;
const parameterRpcs = ['CreateVolume', 'CreateSnapshot', 'CreateVolumeGroupSnapshot', 'ControllerModifyVolume'];

export const newPrefix = (): string => `stagecraft-check-${randomBytes(4).toString('hex')}`;

/** @throws {StagecraftError} INVALID_ARGUMENT, and what checkSocketPath throws */
export function settingsOf(options: CheckDriverOptions): Settings {
  const { sizeBytes = defaultSizeBytes, timeoutMs = defaultTimeoutMs, accessType } = options;
  if (!(Number.isSafeInteger(sizeBytes) && sizeBytes > 0))
    throw invalid(`the size must be a whole number of bytes above 0, not ${sizeBytes}`);
  if (!(timeoutMs > 0)) throw invalid(`the timeout must be above 0 ms, not ${timeoutMs}`);
  const { prefix = newPrefix(), restartWaitMs = defaultRestartWaitMs } = options;
  if (!(restartWaitMs >= 0)) throw invalid(`the wait for a restart must not be below 0 ms, as ${restartWaitMs} is`);
  // It begins the names of directories too.
  if (!prefixForm.test(prefix))
    throw invalid(`the prefix must be up to 64 letters, digits, dashes and underscores, not ${JSON.stringify(prefix)}`);
  return {
    socketPaths: socketPathsOf(options),
    parameters: byRpc('parameters', options.parameters, parameterRpcs),
    secrets: byRpc('secrets', options.secrets, rpcsWithSecrets()),
    accessType,
    fsType: options.fsType ?? '',
    sizeBytes,
    stagingDir: options.stagingDir,
    targetDir: options.targetDir,
    otherNodeId: options.otherNodeId,
    only: options.only ?? '',
    skip: options.skip ?? [],
    restartWaitMs,
    timeoutMs,
    prefix,
  };
}

export interface RunDirectories {
  staging: string;
  target: string;
}

/** Directories of one run alone. */
export const directoriesOf = ({ stagingDir, targetDir, prefix }: Settings): RunDirectories => ({
  staging: join(resolve(stagingDir ?? tmpdir()), `${prefix}-s`),
  target: join(resolve(targetDir ?? tmpdir()), `${prefix}-t`),
});

function socketPathsOf({ endpoint, controllerEndpoint, nodeEndpoint }: CheckDriverOptions): Settings['socketPaths'] {
  const controller = controllerEndpoint ?? endpoint;
  const node = nodeEndpoint ?? endpoint;
  if (controller === undefined && node === undefined)
    throw invalid('name the endpoint of the driver: unix:// and its absolute path');
  return {
    ...(controller !== undefined && { controller: socketPathOf(controller) }),
    ...(node !== undefined && { node: socketPathOf(node) }),
  };
}

function socketPathOf(endpoint: string): string {
  const path = endpoint.replace(/^unix:(?:\/\/)?/, '');
  checkSocketPath(path);
  return path;
}

function byRpc(what: string, given: ByRpc = {}, allowed: readonly string[]): ByRpc {
  const stranger = Object.keys(given).find((name) => !allowed.includes(name));
  if (stranger !== undefined) throw invalid(`${what} are given by RPC, one of ${allowed.join(', ')}; not ${stranger}`);
  for (const [rpc, values] of Object.entries(given)) {
    const entries: [string, unknown][] = Object.entries(values ?? {});
    const wrong = entries.find(([, value]) => typeof value !== 'string');
    if (wrong) throw invalid(`the ${what} of ${rpc} must be texts: put '${wrong[0]}' in quotes`);
  }
  return given;
}

const rpcsWithSecrets = (): string[] =>
  Object.entries(rpcs).flatMap(([name, { request }]) => {
    const fields: readonly { name: string; isSecret?: boolean }[] = messages[request];
    return fields.some(({ isSecret }) => isSecret) ? [name] : [];
  });

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);
