/** What CSI asks of each call by itself: fields that must be there, and the capability that it is offered by. */
import type { RpcName } from '../../../csi/answers.js';

const stageFields = ['volumeId', 'stagingTargetPath'];

export const requiredFields: Readonly<Partial<Record<RpcName, readonly string[]>>> = {
  CreateVolume: ['name', 'volumeCapabilities'],
  DeleteVolume: ['volumeId'],
  ControllerPublishVolume: ['volumeId', 'nodeId', 'volumeCapability'],
  // Without a node id it means all nodes: allowed, but what no caller with more than one node wants.
  ControllerUnpublishVolume: ['volumeId', 'nodeId'],
  ValidateVolumeCapabilities: ['volumeId', 'volumeCapabilities'],
  ControllerGetVolume: ['volumeId'],
  ControllerModifyVolume: ['volumeId'],
  ControllerExpandVolume: ['volumeId', 'capacityRange'],
  CreateSnapshot: ['name', 'sourceVolumeId'],
  DeleteSnapshot: ['snapshotId'],
  GetSnapshot: ['snapshotId'],
  CreateVolumeGroupSnapshot: ['name', 'sourceVolumeIds'],
  DeleteVolumeGroupSnapshot: ['groupSnapshotId'],
  GetVolumeGroupSnapshot: ['groupSnapshotId'],
  GetMetadataAllocated: ['snapshotId'],
  GetMetadataDelta: ['baseSnapshotId', 'targetSnapshotId'],
  NodeStageVolume: [...stageFields, 'volumeCapability'],
  NodeUnstageVolume: stageFields,
  NodePublishVolume: ['volumeId', 'targetPath', 'volumeCapability'],
  NodeUnpublishVolume: ['volumeId', 'targetPath'],
  NodeGetVolumeStats: ['volumeId', 'volumePath'],
  NodeExpandVolume: ['volumeId', 'volumePath'],
};

export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const volumes = ['CREATE_DELETE_VOLUME'];
const attach = ['PUBLISH_UNPUBLISH_VOLUME'];
const snapshots = ['CREATE_DELETE_SNAPSHOT'];
const groups = ['CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT'];
const stage = ['STAGE_UNSTAGE_VOLUME'];

/** Any one of these, of the same service, offers the call. */
export const offeredBy: Readonly<Partial<Record<RpcName, readonly string[]>>> = {
  CreateVolume: volumes,
  DeleteVolume: volumes,
  ControllerPublishVolume: attach,
  ControllerUnpublishVolume: attach,
  ListVolumes: ['LIST_VOLUMES'],
  GetCapacity: ['GET_CAPACITY'],
  CreateSnapshot: snapshots,
  DeleteSnapshot: snapshots,
  ListSnapshots: ['LIST_SNAPSHOTS'],
  GetSnapshot: ['GET_SNAPSHOT'],
  ControllerExpandVolume: ['EXPAND_VOLUME'],
  ControllerGetVolume: ['GET_VOLUME'],
  ControllerModifyVolume: ['MODIFY_VOLUME'],
  CreateVolumeGroupSnapshot: groups,
  DeleteVolumeGroupSnapshot: groups,
  GetVolumeGroupSnapshot: groups,
  NodeStageVolume: stage,
  NodeUnstageVolume: stage,
  NodeGetVolumeStats: ['GET_VOLUME_STATS', 'VOLUME_CONDITION'],
  NodeExpandVolume: ['EXPAND_VOLUME'],
};
