/** The fields that CSI asks for in each call. The capability that offers it: src/csi/gates.ts */
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
