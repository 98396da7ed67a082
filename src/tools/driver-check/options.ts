/** Options of a run: the driver, its parameters and the paths on this host. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messages, rpcs } from '../../csi/generated/plain.js';
import { StagecraftError } from '../../errors.js';
import { checkSocketPath } from '../../host/socket-path.js';
import type { Side } from './ask.js';
import type { AccessType } from './context.js';

/** Values by the name of an RPC, e.g. `CreateVolume`. */
export type ByRpc = Readonly<Record<string, Record<string, string>>>;

export interface CheckDriverOptions {
  /** `unix:///abs/path` or `/abs/path`: serves all of the driver's services. */
  endpoint?: string;
  /** Serves Identity, Controller and GroupController if they run apart from the node. */
  controllerEndpoint?: string;
  /** Serves Identity and Node if they run apart from the controller. */
  nodeEndpoint?: string;
  /**
   * `parameters` of CreateVolume, CreateSnapshot and CreateVolumeGroupSnapshot; `mutableParameters` of
   * ControllerModifyVolume.
   */
  parameters?: ByRpc;
  /** `secrets` of any RPC that takes them. */
  secrets?: ByRpc;
  /** Default: mount, and also block if the driver accepts it. */
  accessType?: AccessType;
  /** File system of mounted volumes; default: chosen by the driver. */
  fsType?: string;
  /** Size of each volume; default 1 GiB. */
  sizeBytes?: number;
  /**
   * Existing directory on the driver's host, in which the run creates its own. Default: the one for temporary files.
   */
  stagingDir?: string;
  /** Existing directory for target paths, likewise. */
  targetDir?: string;
  /** Id of a second node that the controller knows, for checks with two nodes. */
  otherNodeId?: string;
  /**
   * Topology of the volumes, e.g. `{ 'example.com/zone': 'z1' }`, for a controller without its node. Default: that of the node.
   */
  topology?: Readonly<Record<string, string>>;
  /** Run only checks with this text in their id or rule. */
  only?: string;
  /** Ids of checks, or beginnings of ids, to report as `skipped`. */
  skip?: readonly string[];
  /** Wait for a driver that is gone after a check, in milliseconds; default 30,000. */
  restartWaitMs?: number;
  /** Limit for each call and each access to a mount, in milliseconds; default 30,000. */
  timeoutMs?: number;
  /** Ends the run early: it cleans up, and leaves out the remaining checks. */
  signal?: AbortSignal;
  /**
   * Beginning of the names of everything that the run creates: up to 64 letters, digits, dashes and underscores;
   * default `stagecraft-check-` and 8 random characters.
   */
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
  topology: Readonly<Record<string, string>> | undefined;
  only: string;
  skip: readonly string[];
  restartWaitMs: number;
  timeoutMs: number;
  prefix: string;
}

const defaultSizeBytes = 2 ** 30;
const defaultTimeoutMs = 30_000;
/** Time that a supervisor may need to restart a container. */
const defaultRestartWaitMs = 30_000;
const prefixForm = /^[\w-]{1,64}$/;
const parameterRpcs = ['CreateVolume', 'CreateSnapshot', 'CreateVolumeGroupSnapshot', 'ControllerModifyVolume'];

export const newPrefix = (): string => `stagecraft-check-${randomBytes(4).toString('hex')}`;

/** @throws {StagecraftError} INVALID_ARGUMENT, and the errors of checkSocketPath */
export function settingsOf(options: CheckDriverOptions): Settings {
  const { sizeBytes = defaultSizeBytes, timeoutMs = defaultTimeoutMs, accessType } = options;
  if (!(Number.isSafeInteger(sizeBytes) && sizeBytes > 0))
    throw invalid(`the size must be a whole number of bytes above 0, not ${sizeBytes}`);
  if (!(timeoutMs > 0)) throw invalid(`the timeout must be above 0 ms, not ${timeoutMs}`);
  const { prefix = newPrefix(), restartWaitMs = defaultRestartWaitMs } = options;
  if (!(restartWaitMs >= 0)) throw invalid(`the wait for a restart must not be below 0 ms, as ${restartWaitMs} is`);
  // The prefix also begins names of directories.
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
    topology: options.topology,
    only: options.only ?? '',
    skip: options.skip ?? [],
    restartWaitMs,
    timeoutMs,
    prefix,
  };
}

/** A directory of this run: a shared mount, so that drivers in containers see what is mounted below it. */
export interface RunDirectory {
  /** The mount. */
  root: string;
  /** Directory in it for the paths: a driver can remove it, which shows. */
  paths: string;
}

export interface RunDirectories {
  staging: RunDirectory;
  target: RunDirectory;
}

/** Returns directories that only this run uses. */
export const directoriesOf = ({ stagingDir, targetDir, prefix }: Settings): RunDirectories => ({
  staging: directoryIn(stagingDir, `${prefix}-s`),
  target: directoryIn(targetDir, `${prefix}-t`),
});

function directoryIn(parent: string | undefined, name: string): RunDirectory {
  const root = join(resolve(parent ?? tmpdir()), name);
  return { root, paths: join(root, 'p') };
}

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
