// Generated, do not edit: npm run generate
/** The fields that csi.proto marks `csi_secret`, by message name below the package csi.v1. */
export const secretFields: Readonly<Record<string, readonly string[]>> = {
  CreateVolumeRequest: ['secrets'],
  DeleteVolumeRequest: ['secrets'],
  ControllerPublishVolumeRequest: ['secrets'],
  ControllerUnpublishVolumeRequest: ['secrets'],
  ValidateVolumeCapabilitiesRequest: ['secrets'],
  CreateSnapshotRequest: ['secrets'],
  DeleteSnapshotRequest: ['secrets'],
  ListSnapshotsRequest: ['secrets'],
  GetSnapshotRequest: ['secrets'],
  ControllerExpandVolumeRequest: ['secrets'],
  ControllerModifyVolumeRequest: ['secrets'],
  CreateVolumeGroupSnapshotRequest: ['secrets'],
  DeleteVolumeGroupSnapshotRequest: ['secrets'],
  GetVolumeGroupSnapshotRequest: ['secrets'],
  GetMetadataAllocatedRequest: ['secrets'],
  GetMetadataDeltaRequest: ['secrets'],
  NodeStageVolumeRequest: ['secrets'],
  NodePublishVolumeRequest: ['secrets'],
  NodeExpandVolumeRequest: ['secrets'],
};
