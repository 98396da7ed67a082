/**
 * The Controller and GroupController services: capabilities and parts. Parts: volumes.ts,
 * publications.ts, snapshots.ts; on disk: contents.ts
 */
import type { ControllerServiceCapabilityRPCType } from '../../csi/generated/plain.js';
import type { CsiHandlers } from '../../csi/server.js';
import { StagecraftError } from '../../errors.js';
import { completeSnapshot } from './answers.js';
import { Budget, fileSystemBytes } from './capacity.js';
import { runner } from './commands.js';
import { Contents } from './contents.js';
import type { AttachOptions, ControllerContext } from './controller-context.js';
import { checkNodeId } from './identity.js';
import { publicationHandlers } from './publications.js';
import { getSnapshotHandler, groupSnapshotHandlers, removeIncomplete, snapshotHandlers } from './snapshots.js';
import type { DriverState } from './state.js';
import { usageMeter } from './usage.js';
import { volumeHandlers } from './volumes.js';

export interface ControllerOptions {
  /** Total capacity of all volumes; default: the size of their file system. */
  capacityBytes?: number | undefined;
  /** Whether the controller publishes volumes to nodes before they are used there; default false. */
  attach?: boolean;
  /** With `attach`: ids of nodes besides our own. */
  peerNodes?: readonly string[];
  /** With `attach`: volumes that may be published to a node; default 0: any number. */
  maxVolumesPerNode?: number | undefined;
  /** Whether it offers GetSnapshot, which is new in CSI: some callers refuse a driver that has it; default false. */
  getSnapshot?: boolean;
}

interface Controller {
  handlers: CsiHandlers;
  /** Ends copies under way. */
  stop(): void;
}

/** Limit for a condition: callers wait for a list of volumes. */
const measureTimeoutMs = 5_000;

const always: ControllerServiceCapabilityRPCType[] = [
  'CREATE_DELETE_VOLUME',
  'LIST_VOLUMES',
  'GET_CAPACITY',
  'CREATE_DELETE_SNAPSHOT',
  'LIST_SNAPSHOTS',
  'CLONE_VOLUME',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'GET_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
  'MODIFY_VOLUME',
];

const whereAttached: ControllerServiceCapabilityRPCType[] = [
  'PUBLISH_UNPUBLISH_VOLUME',
  'PUBLISH_READONLY',
  'LIST_VOLUMES_PUBLISHED_NODES',
];

/**
 * Clears away what a killed driver left, then answers.
 * @param lockFile the lock of the data directory: see RunOptions
 * @throws {StagecraftError} INVALID_ARGUMENT: peer nodes without `attach`, or with an id that is none
 */
export async function openController(
  state: DriverState,
  lockFile: number,
  options: ControllerOptions,
): Promise<Controller> {
  const attach = attachOptions(options);
  const contents = await Contents.open({
    directory: state.contentDir,
    hasRecord: (id) => (state.volumes.get(id) ?? completeSnapshot(state, id)) !== undefined,
    lockFile,
  });
  await removeIncomplete({ state, contents });
  const budget = new Budget(options.capacityBytes ?? (await fileSystemBytes(state.contentDir)), state.volumes);
  const measure = usageMeter(runner({ timeoutMs: measureTimeoutMs }));
  const context: ControllerContext = { state, contents, budget, measure, attach };
  const types = [...always, ...(attach ? whereAttached : [])];
  if (options.getSnapshot) types.push('GET_SNAPSHOT');
  const handlers: CsiHandlers = {
    ControllerGetCapabilities: () => ({ capabilities: types.map((type) => ({ rpc: { type } })) }),
    ...volumeHandlers(context),
    ...(attach && publicationHandlers(context, attach)),
    ...snapshotHandlers(context),
    ...(options.getSnapshot && getSnapshotHandler(context)),
    ...groupSnapshotHandlers(context),
  };
  return { handlers, stop: () => contents.stop() };
}

function attachOptions({
  attach,
  peerNodes = [],
  maxVolumesPerNode = 0,
}: ControllerOptions): AttachOptions | undefined {
  for (const id of peerNodes) checkNodeId(id);
  if (attach) return { peerNodes, maxVolumesPerNode };
  if (peerNodes.length === 0) return undefined;
  throw new StagecraftError('INVALID_ARGUMENT', 'there are peer nodes only with attach: ask for that too');
}
