/** Capabilities that offer each RPC, as csi.proto says. RPCs that are not listed are offered by every service. */
import type { RpcName } from './answers.js';
import type {
  ControllerServiceCapabilityRPCType,
  GroupControllerServiceCapabilityRPCType,
  NodeServiceCapabilityRPCType,
} from './generated/plain.js';
import type { UnaryRpc } from './server.js';

/** RPCs of one service, each with its capabilities: one of them is enough. */
export type Gates<Type extends string> = readonly (readonly [UnaryRpc, readonly Type[]])[];

export const controllerGates: Gates<ControllerServiceCapabilityRPCType> = [
  ['CreateVolume', ['CREATE_DELETE_VOLUME']],
  ['DeleteVolume', ['CREATE_DELETE_VOLUME']],
  ['ControllerPublishVolume', ['PUBLISH_UNPUBLISH_VOLUME']],
  ['ControllerUnpublishVolume', ['PUBLISH_UNPUBLISH_VOLUME']],
  ['ListVolumes', ['LIST_VOLUMES']],
  ['GetCapacity', ['GET_CAPACITY']],
  ['CreateSnapshot', ['CREATE_DELETE_SNAPSHOT']],
  ['DeleteSnapshot', ['CREATE_DELETE_SNAPSHOT']],
  ['ListSnapshots', ['LIST_SNAPSHOTS']],
  ['GetSnapshot', ['GET_SNAPSHOT']],
  ['ControllerExpandVolume', ['EXPAND_VOLUME']],
  ['ControllerGetVolume', ['GET_VOLUME']],
  ['ControllerModifyVolume', ['MODIFY_VOLUME']],
];

const groupGates: Gates<GroupControllerServiceCapabilityRPCType> = [
  ['CreateVolumeGroupSnapshot', ['CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT']],
  ['DeleteVolumeGroupSnapshot', ['CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT']],
  ['GetVolumeGroupSnapshot', ['CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT']],
];

export const nodeGates: Gates<NodeServiceCapabilityRPCType> = [
  ['NodeStageVolume', ['STAGE_UNSTAGE_VOLUME']],
  ['NodeUnstageVolume', ['STAGE_UNSTAGE_VOLUME']],
  ['NodeGetVolumeStats', ['GET_VOLUME_STATS', 'VOLUME_CONDITION']],
  ['NodeExpandVolume', ['EXPAND_VOLUME']],
];

/** Capabilities of the RPC's service, one of which offers it. */
export const gates: ReadonlyMap<RpcName, readonly string[]> = new Map<RpcName, readonly string[]>([
  ...controllerGates,
  ...groupGates,
  ...nodeGates,
]);
