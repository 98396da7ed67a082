// Generated, do not edit: npm run generate
/**
 * CSI's messages as plain data: field names in camelCase, int64 as bigint, enums by name, maps as records. What was
 * not sent is absent where it is a message or a wrapper, else it is empty. Converted by codec.ts.
 */
import { csi } from './csi.js';
import { google } from './google/protobuf/timestamp.js';

/** A value that this version does not know: its number. */
export type BlockMetadataType = 'UNKNOWN' | 'FIXED_LENGTH' | 'VARIABLE_LENGTH' | `${number}`;

/** A value that this version does not know: its number. */
export type PluginCapabilityServiceType = 'UNKNOWN' | 'CONTROLLER_SERVICE' | 'VOLUME_ACCESSIBILITY_CONSTRAINTS' | 'GROUP_CONTROLLER_SERVICE' | 'SNAPSHOT_METADATA_SERVICE' | `${number}`;

/** A value that this version does not know: its number. */
export type PluginCapabilityVolumeExpansionType = 'UNKNOWN' | 'ONLINE' | 'OFFLINE' | `${number}`;

/** A value that this version does not know: its number. */
export type VolumeCapabilityAccessModeMode = 'UNKNOWN' | 'SINGLE_NODE_WRITER' | 'SINGLE_NODE_READER_ONLY' | 'MULTI_NODE_READER_ONLY' | 'MULTI_NODE_SINGLE_WRITER' | 'MULTI_NODE_MULTI_WRITER' | 'SINGLE_NODE_SINGLE_WRITER' | 'SINGLE_NODE_MULTI_WRITER' | `${number}`;

/** A value that this version does not know: its number. */
export type ControllerServiceCapabilityRPCType = 'UNKNOWN' | 'CREATE_DELETE_VOLUME' | 'PUBLISH_UNPUBLISH_VOLUME' | 'LIST_VOLUMES' | 'GET_CAPACITY' | 'CREATE_DELETE_SNAPSHOT' | 'LIST_SNAPSHOTS' | 'CLONE_VOLUME' | 'PUBLISH_READONLY' | 'EXPAND_VOLUME' | 'LIST_VOLUMES_PUBLISHED_NODES' | 'VOLUME_CONDITION' | 'GET_VOLUME' | 'SINGLE_NODE_MULTI_WRITER' | 'MODIFY_VOLUME' | 'GET_SNAPSHOT' | `${number}`;

/** A value that this version does not know: its number. */
export type GroupControllerServiceCapabilityRPCType = 'UNKNOWN' | 'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT' | `${number}`;

/** A value that this version does not know: its number. */
export type VolumeUsageUnit = 'UNKNOWN' | 'BYTES' | 'INODES' | `${number}`;

/** A value that this version does not know: its number. */
export type NodeServiceCapabilityRPCType = 'UNKNOWN' | 'STAGE_UNSTAGE_VOLUME' | 'GET_VOLUME_STATS' | 'EXPAND_VOLUME' | 'VOLUME_CONDITION' | 'SINGLE_NODE_MULTI_WRITER' | 'VOLUME_MOUNT_GROUP' | `${number}`;

export interface Timestamp {
  seconds: bigint;
  nanos: number;
}

export type GetPluginInfoRequest = Record<never, never>;

export interface GetPluginInfoResponse {
  name: string;
  vendorVersion: string;
  manifest: Record<string, string>;
}

export type GetPluginCapabilitiesRequest = Record<never, never>;

export interface GetPluginCapabilitiesResponse {
  capabilities: PluginCapability[];
}

export interface PluginCapability {
  service?: PluginCapabilityService;
  volumeExpansion?: PluginCapabilityVolumeExpansion;
}

export interface PluginCapabilityService {
  type: PluginCapabilityServiceType;
}

export interface PluginCapabilityVolumeExpansion {
  type: PluginCapabilityVolumeExpansionType;
}

export type ProbeRequest = Record<never, never>;

export interface ProbeResponse {
  ready?: boolean;
}

export interface CreateVolumeRequest {
  name: string;
  capacityRange?: CapacityRange;
  volumeCapabilities: VolumeCapability[];
  parameters: Record<string, string>;
  secrets: Record<string, string>;
  volumeContentSource?: VolumeContentSource;
  accessibilityRequirements?: TopologyRequirement;
  mutableParameters: Record<string, string>;
}

export interface VolumeContentSource {
  snapshot?: VolumeContentSourceSnapshotSource;
  volume?: VolumeContentSourceVolumeSource;
}

export interface VolumeContentSourceSnapshotSource {
  snapshotId: string;
}

export interface VolumeContentSourceVolumeSource {
  volumeId: string;
}

export interface CreateVolumeResponse {
  volume?: Volume;
}

export interface VolumeCapability {
  block?: VolumeCapabilityBlockVolume;
  mount?: VolumeCapabilityMountVolume;
  accessMode?: VolumeCapabilityAccessMode;
}

export type VolumeCapabilityBlockVolume = Record<never, never>;

export interface VolumeCapabilityMountVolume {
  fsType: string;
  mountFlags: string[];
  volumeMountGroup: string;
}

export interface VolumeCapabilityAccessMode {
  mode: VolumeCapabilityAccessModeMode;
}

export interface CapacityRange {
  requiredBytes: bigint;
  limitBytes: bigint;
}

export interface Volume {
  capacityBytes: bigint;
  volumeId: string;
  volumeContext: Record<string, string>;
  contentSource?: VolumeContentSource;
  accessibleTopology: Topology[];
}

export interface TopologyRequirement {
  requisite: Topology[];
  preferred: Topology[];
}

export interface Topology {
  segments: Record<string, string>;
}

export interface DeleteVolumeRequest {
  volumeId: string;
  secrets: Record<string, string>;
}

export type DeleteVolumeResponse = Record<never, never>;

export interface ControllerPublishVolumeRequest {
  volumeId: string;
  nodeId: string;
  volumeCapability?: VolumeCapability;
  readonly: boolean;
  secrets: Record<string, string>;
  volumeContext: Record<string, string>;
}

export interface ControllerPublishVolumeResponse {
  publishContext: Record<string, string>;
}

export interface ControllerUnpublishVolumeRequest {
  volumeId: string;
  nodeId: string;
  secrets: Record<string, string>;
}

export type ControllerUnpublishVolumeResponse = Record<never, never>;

export interface ValidateVolumeCapabilitiesRequest {
  volumeId: string;
  volumeContext: Record<string, string>;
  volumeCapabilities: VolumeCapability[];
  parameters: Record<string, string>;
  secrets: Record<string, string>;
  mutableParameters: Record<string, string>;
}

export interface ValidateVolumeCapabilitiesResponse {
  confirmed?: ValidateVolumeCapabilitiesResponseConfirmed;
  message: string;
}

export interface ValidateVolumeCapabilitiesResponseConfirmed {
  volumeContext: Record<string, string>;
  volumeCapabilities: VolumeCapability[];
  parameters: Record<string, string>;
  mutableParameters: Record<string, string>;
}

export interface ListVolumesRequest {
  maxEntries: number;
  startingToken: string;
}

export interface ListVolumesResponse {
  entries: ListVolumesResponseEntry[];
  nextToken: string;
}

export interface ListVolumesResponseVolumeStatus {
  publishedNodeIds: string[];
  volumeCondition?: VolumeCondition;
}

export interface ListVolumesResponseEntry {
  volume?: Volume;
  status?: ListVolumesResponseVolumeStatus;
}

export interface GetCapacityRequest {
  volumeCapabilities: VolumeCapability[];
  parameters: Record<string, string>;
  accessibleTopology?: Topology;
}

export interface GetCapacityResponse {
  availableCapacity: bigint;
  maximumVolumeSize?: bigint;
  minimumVolumeSize?: bigint;
}

export type ControllerGetCapabilitiesRequest = Record<never, never>;

export interface ControllerGetCapabilitiesResponse {
  capabilities: ControllerServiceCapability[];
}

export interface ControllerServiceCapability {
  rpc?: ControllerServiceCapabilityRPC;
}

export interface ControllerServiceCapabilityRPC {
  type: ControllerServiceCapabilityRPCType;
}

export interface CreateSnapshotRequest {
  sourceVolumeId: string;
  name: string;
  secrets: Record<string, string>;
  parameters: Record<string, string>;
}

export interface CreateSnapshotResponse {
  snapshot?: Snapshot;
}

export interface Snapshot {
  sizeBytes: bigint;
  snapshotId: string;
  sourceVolumeId: string;
  creationTime?: Timestamp;
  readyToUse: boolean;
  groupSnapshotId: string;
}

export interface DeleteSnapshotRequest {
  snapshotId: string;
  secrets: Record<string, string>;
}

export type DeleteSnapshotResponse = Record<never, never>;

export interface ListSnapshotsRequest {
  maxEntries: number;
  startingToken: string;
  sourceVolumeId: string;
  snapshotId: string;
  secrets: Record<string, string>;
}

export interface ListSnapshotsResponse {
  entries: ListSnapshotsResponseEntry[];
  nextToken: string;
}

export interface ListSnapshotsResponseEntry {
  snapshot?: Snapshot;
}

export interface GetSnapshotRequest {
  snapshotId: string;
  secrets: Record<string, string>;
}

export interface GetSnapshotResponse {
  snapshot?: Snapshot;
}

export interface ControllerExpandVolumeRequest {
  volumeId: string;
  capacityRange?: CapacityRange;
  secrets: Record<string, string>;
  volumeCapability?: VolumeCapability;
}

export interface ControllerExpandVolumeResponse {
  capacityBytes: bigint;
  nodeExpansionRequired: boolean;
}

export interface ControllerGetVolumeRequest {
  volumeId: string;
}

export interface ControllerGetVolumeResponse {
  volume?: Volume;
  status?: ControllerGetVolumeResponseVolumeStatus;
}

export interface ControllerGetVolumeResponseVolumeStatus {
  publishedNodeIds: string[];
  volumeCondition?: VolumeCondition;
}

export interface ControllerModifyVolumeRequest {
  volumeId: string;
  secrets: Record<string, string>;
  mutableParameters: Record<string, string>;
}

export type ControllerModifyVolumeResponse = Record<never, never>;

export interface VolumeCondition {
  abnormal: boolean;
  message: string;
}

export type GroupControllerGetCapabilitiesRequest = Record<never, never>;

export interface GroupControllerGetCapabilitiesResponse {
  capabilities: GroupControllerServiceCapability[];
}

export interface GroupControllerServiceCapability {
  rpc?: GroupControllerServiceCapabilityRPC;
}

export interface GroupControllerServiceCapabilityRPC {
  type: GroupControllerServiceCapabilityRPCType;
}

export interface CreateVolumeGroupSnapshotRequest {
  name: string;
  sourceVolumeIds: string[];
  secrets: Record<string, string>;
  parameters: Record<string, string>;
}

export interface CreateVolumeGroupSnapshotResponse {
  groupSnapshot?: VolumeGroupSnapshot;
}

export interface VolumeGroupSnapshot {
  groupSnapshotId: string;
  snapshots: Snapshot[];
  creationTime?: Timestamp;
  readyToUse: boolean;
}

export interface DeleteVolumeGroupSnapshotRequest {
  groupSnapshotId: string;
  snapshotIds: string[];
  secrets: Record<string, string>;
}

export type DeleteVolumeGroupSnapshotResponse = Record<never, never>;

export interface GetVolumeGroupSnapshotRequest {
  groupSnapshotId: string;
  snapshotIds: string[];
  secrets: Record<string, string>;
}

export interface GetVolumeGroupSnapshotResponse {
  groupSnapshot?: VolumeGroupSnapshot;
}

export interface BlockMetadata {
  byteOffset: bigint;
  sizeBytes: bigint;
}

export interface GetMetadataAllocatedRequest {
  snapshotId: string;
  startingOffset: bigint;
  maxResults: number;
  secrets: Record<string, string>;
}

export interface GetMetadataAllocatedResponse {
  blockMetadataType: BlockMetadataType;
  volumeCapacityBytes: bigint;
  blockMetadata: BlockMetadata[];
}

export interface GetMetadataDeltaRequest {
  baseSnapshotId: string;
  targetSnapshotId: string;
  startingOffset: bigint;
  maxResults: number;
  secrets: Record<string, string>;
}

export interface GetMetadataDeltaResponse {
  blockMetadataType: BlockMetadataType;
  volumeCapacityBytes: bigint;
  blockMetadata: BlockMetadata[];
}

export interface NodeStageVolumeRequest {
  volumeId: string;
  publishContext: Record<string, string>;
  stagingTargetPath: string;
  volumeCapability?: VolumeCapability;
  secrets: Record<string, string>;
  volumeContext: Record<string, string>;
}

export type NodeStageVolumeResponse = Record<never, never>;

export interface NodeUnstageVolumeRequest {
  volumeId: string;
  stagingTargetPath: string;
}

export type NodeUnstageVolumeResponse = Record<never, never>;

export interface NodePublishVolumeRequest {
  volumeId: string;
  publishContext: Record<string, string>;
  stagingTargetPath: string;
  targetPath: string;
  volumeCapability?: VolumeCapability;
  readonly: boolean;
  secrets: Record<string, string>;
  volumeContext: Record<string, string>;
}

export type NodePublishVolumeResponse = Record<never, never>;

export interface NodeUnpublishVolumeRequest {
  volumeId: string;
  targetPath: string;
}

export type NodeUnpublishVolumeResponse = Record<never, never>;

export interface NodeGetVolumeStatsRequest {
  volumeId: string;
  volumePath: string;
  stagingTargetPath: string;
}

export interface NodeGetVolumeStatsResponse {
  usage: VolumeUsage[];
  volumeCondition?: VolumeCondition;
}

export interface VolumeUsage {
  available: bigint;
  total: bigint;
  used: bigint;
  unit: VolumeUsageUnit;
}

export interface NodeExpandVolumeRequest {
  volumeId: string;
  volumePath: string;
  capacityRange?: CapacityRange;
  stagingTargetPath: string;
  volumeCapability?: VolumeCapability;
  secrets: Record<string, string>;
}

export interface NodeExpandVolumeResponse {
  capacityBytes: bigint;
}

export type NodeGetCapabilitiesRequest = Record<never, never>;

export interface NodeGetCapabilitiesResponse {
  capabilities: NodeServiceCapability[];
}

export interface NodeServiceCapability {
  rpc?: NodeServiceCapabilityRPC;
}

export interface NodeServiceCapabilityRPC {
  type: NodeServiceCapabilityRPCType;
}

export type NodeGetInfoRequest = Record<never, never>;

export interface NodeGetInfoResponse {
  nodeId: string;
  maxVolumesPerNode: bigint;
  accessibleTopology?: Topology;
}

/** Of each message, by name below the package. */
export const messages = {
  'Timestamp': { type: google.protobuf.Timestamp, fields: [
    { name: 'seconds', wire: 'seconds', kind: 'int64' },
    { name: 'nanos', wire: 'nanos', kind: 'int32' },
  ] },
  'GetPluginInfoRequest': { type: csi.v1.GetPluginInfoRequest, fields: [] },
  'GetPluginInfoResponse': { type: csi.v1.GetPluginInfoResponse, fields: [
    { name: 'name', wire: 'name', kind: 'string' },
    { name: 'vendorVersion', wire: 'vendor_version', kind: 'string' },
    { name: 'manifest', wire: 'manifest', kind: 'map' },
  ] },
  'GetPluginCapabilitiesRequest': { type: csi.v1.GetPluginCapabilitiesRequest, fields: [] },
  'GetPluginCapabilitiesResponse': { type: csi.v1.GetPluginCapabilitiesResponse, fields: [
    { name: 'capabilities', wire: 'capabilities', kind: 'message', of: 'PluginCapability', isRepeated: true },
  ] },
  'PluginCapability': { type: csi.v1.PluginCapability, fields: [
    { name: 'service', wire: 'service', kind: 'message', of: 'PluginCapability.Service' },
    { name: 'volumeExpansion', wire: 'volume_expansion', kind: 'message', of: 'PluginCapability.VolumeExpansion' },
  ] },
  'PluginCapability.Service': { type: csi.v1.PluginCapability.Service, fields: [
    { name: 'type', wire: 'type', kind: 'enum', of: 'PluginCapability.Service.Type' },
  ] },
  'PluginCapability.VolumeExpansion': { type: csi.v1.PluginCapability.VolumeExpansion, fields: [
    { name: 'type', wire: 'type', kind: 'enum', of: 'PluginCapability.VolumeExpansion.Type' },
  ] },
  'ProbeRequest': { type: csi.v1.ProbeRequest, fields: [] },
  'ProbeResponse': { type: csi.v1.ProbeResponse, fields: [
    { name: 'ready', wire: 'ready', kind: 'boolValue' },
  ] },
  'CreateVolumeRequest': { type: csi.v1.CreateVolumeRequest, fields: [
    { name: 'name', wire: 'name', kind: 'string' },
    { name: 'capacityRange', wire: 'capacity_range', kind: 'message', of: 'CapacityRange' },
    { name: 'volumeCapabilities', wire: 'volume_capabilities', kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'volumeContentSource', wire: 'volume_content_source', kind: 'message', of: 'VolumeContentSource' },
    { name: 'accessibilityRequirements', wire: 'accessibility_requirements', kind: 'message', of: 'TopologyRequirement' },
    { name: 'mutableParameters', wire: 'mutable_parameters', kind: 'map' },
  ] },
  'VolumeContentSource': { type: csi.v1.VolumeContentSource, fields: [
    { name: 'snapshot', wire: 'snapshot', kind: 'message', of: 'VolumeContentSource.SnapshotSource' },
    { name: 'volume', wire: 'volume', kind: 'message', of: 'VolumeContentSource.VolumeSource' },
  ] },
  'VolumeContentSource.SnapshotSource': { type: csi.v1.VolumeContentSource.SnapshotSource, fields: [
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
  ] },
  'VolumeContentSource.VolumeSource': { type: csi.v1.VolumeContentSource.VolumeSource, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
  ] },
  'CreateVolumeResponse': { type: csi.v1.CreateVolumeResponse, fields: [
    { name: 'volume', wire: 'volume', kind: 'message', of: 'Volume' },
  ] },
  'VolumeCapability': { type: csi.v1.VolumeCapability, fields: [
    { name: 'block', wire: 'block', kind: 'message', of: 'VolumeCapability.BlockVolume' },
    { name: 'mount', wire: 'mount', kind: 'message', of: 'VolumeCapability.MountVolume' },
    { name: 'accessMode', wire: 'access_mode', kind: 'message', of: 'VolumeCapability.AccessMode' },
  ] },
  'VolumeCapability.BlockVolume': { type: csi.v1.VolumeCapability.BlockVolume, fields: [] },
  'VolumeCapability.MountVolume': { type: csi.v1.VolumeCapability.MountVolume, fields: [
    { name: 'fsType', wire: 'fs_type', kind: 'string' },
    { name: 'mountFlags', wire: 'mount_flags', kind: 'string', isRepeated: true },
    { name: 'volumeMountGroup', wire: 'volume_mount_group', kind: 'string' },
  ] },
  'VolumeCapability.AccessMode': { type: csi.v1.VolumeCapability.AccessMode, fields: [
    { name: 'mode', wire: 'mode', kind: 'enum', of: 'VolumeCapability.AccessMode.Mode' },
  ] },
  'CapacityRange': { type: csi.v1.CapacityRange, fields: [
    { name: 'requiredBytes', wire: 'required_bytes', kind: 'int64' },
    { name: 'limitBytes', wire: 'limit_bytes', kind: 'int64' },
  ] },
  'Volume': { type: csi.v1.Volume, fields: [
    { name: 'capacityBytes', wire: 'capacity_bytes', kind: 'int64' },
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
    { name: 'contentSource', wire: 'content_source', kind: 'message', of: 'VolumeContentSource' },
    { name: 'accessibleTopology', wire: 'accessible_topology', kind: 'message', of: 'Topology', isRepeated: true },
  ] },
  'TopologyRequirement': { type: csi.v1.TopologyRequirement, fields: [
    { name: 'requisite', wire: 'requisite', kind: 'message', of: 'Topology', isRepeated: true },
    { name: 'preferred', wire: 'preferred', kind: 'message', of: 'Topology', isRepeated: true },
  ] },
  'Topology': { type: csi.v1.Topology, fields: [
    { name: 'segments', wire: 'segments', kind: 'map' },
  ] },
  'DeleteVolumeRequest': { type: csi.v1.DeleteVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'DeleteVolumeResponse': { type: csi.v1.DeleteVolumeResponse, fields: [] },
  'ControllerPublishVolumeRequest': { type: csi.v1.ControllerPublishVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'nodeId', wire: 'node_id', kind: 'string' },
    { name: 'volumeCapability', wire: 'volume_capability', kind: 'message', of: 'VolumeCapability' },
    { name: 'readonly', wire: 'readonly', kind: 'bool' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
  ] },
  'ControllerPublishVolumeResponse': { type: csi.v1.ControllerPublishVolumeResponse, fields: [
    { name: 'publishContext', wire: 'publish_context', kind: 'map' },
  ] },
  'ControllerUnpublishVolumeRequest': { type: csi.v1.ControllerUnpublishVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'nodeId', wire: 'node_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'ControllerUnpublishVolumeResponse': { type: csi.v1.ControllerUnpublishVolumeResponse, fields: [] },
  'ValidateVolumeCapabilitiesRequest': { type: csi.v1.ValidateVolumeCapabilitiesRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
    { name: 'volumeCapabilities', wire: 'volume_capabilities', kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'mutableParameters', wire: 'mutable_parameters', kind: 'map' },
  ] },
  'ValidateVolumeCapabilitiesResponse': { type: csi.v1.ValidateVolumeCapabilitiesResponse, fields: [
    { name: 'confirmed', wire: 'confirmed', kind: 'message', of: 'ValidateVolumeCapabilitiesResponse.Confirmed' },
    { name: 'message', wire: 'message', kind: 'string' },
  ] },
  'ValidateVolumeCapabilitiesResponse.Confirmed': { type: csi.v1.ValidateVolumeCapabilitiesResponse.Confirmed, fields: [
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
    { name: 'volumeCapabilities', wire: 'volume_capabilities', kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
    { name: 'mutableParameters', wire: 'mutable_parameters', kind: 'map' },
  ] },
  'ListVolumesRequest': { type: csi.v1.ListVolumesRequest, fields: [
    { name: 'maxEntries', wire: 'max_entries', kind: 'int32' },
    { name: 'startingToken', wire: 'starting_token', kind: 'string' },
  ] },
  'ListVolumesResponse': { type: csi.v1.ListVolumesResponse, fields: [
    { name: 'entries', wire: 'entries', kind: 'message', of: 'ListVolumesResponse.Entry', isRepeated: true },
    { name: 'nextToken', wire: 'next_token', kind: 'string' },
  ] },
  'ListVolumesResponse.VolumeStatus': { type: csi.v1.ListVolumesResponse.VolumeStatus, fields: [
    { name: 'publishedNodeIds', wire: 'published_node_ids', kind: 'string', isRepeated: true },
    { name: 'volumeCondition', wire: 'volume_condition', kind: 'message', of: 'VolumeCondition' },
  ] },
  'ListVolumesResponse.Entry': { type: csi.v1.ListVolumesResponse.Entry, fields: [
    { name: 'volume', wire: 'volume', kind: 'message', of: 'Volume' },
    { name: 'status', wire: 'status', kind: 'message', of: 'ListVolumesResponse.VolumeStatus' },
  ] },
  'GetCapacityRequest': { type: csi.v1.GetCapacityRequest, fields: [
    { name: 'volumeCapabilities', wire: 'volume_capabilities', kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
    { name: 'accessibleTopology', wire: 'accessible_topology', kind: 'message', of: 'Topology' },
  ] },
  'GetCapacityResponse': { type: csi.v1.GetCapacityResponse, fields: [
    { name: 'availableCapacity', wire: 'available_capacity', kind: 'int64' },
    { name: 'maximumVolumeSize', wire: 'maximum_volume_size', kind: 'int64Value' },
    { name: 'minimumVolumeSize', wire: 'minimum_volume_size', kind: 'int64Value' },
  ] },
  'ControllerGetCapabilitiesRequest': { type: csi.v1.ControllerGetCapabilitiesRequest, fields: [] },
  'ControllerGetCapabilitiesResponse': { type: csi.v1.ControllerGetCapabilitiesResponse, fields: [
    { name: 'capabilities', wire: 'capabilities', kind: 'message', of: 'ControllerServiceCapability', isRepeated: true },
  ] },
  'ControllerServiceCapability': { type: csi.v1.ControllerServiceCapability, fields: [
    { name: 'rpc', wire: 'rpc', kind: 'message', of: 'ControllerServiceCapability.RPC' },
  ] },
  'ControllerServiceCapability.RPC': { type: csi.v1.ControllerServiceCapability.RPC, fields: [
    { name: 'type', wire: 'type', kind: 'enum', of: 'ControllerServiceCapability.RPC.Type' },
  ] },
  'CreateSnapshotRequest': { type: csi.v1.CreateSnapshotRequest, fields: [
    { name: 'sourceVolumeId', wire: 'source_volume_id', kind: 'string' },
    { name: 'name', wire: 'name', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
  ] },
  'CreateSnapshotResponse': { type: csi.v1.CreateSnapshotResponse, fields: [
    { name: 'snapshot', wire: 'snapshot', kind: 'message', of: 'Snapshot' },
  ] },
  'Snapshot': { type: csi.v1.Snapshot, fields: [
    { name: 'sizeBytes', wire: 'size_bytes', kind: 'int64' },
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
    { name: 'sourceVolumeId', wire: 'source_volume_id', kind: 'string' },
    { name: 'creationTime', wire: 'creation_time', kind: 'message', of: 'Timestamp' },
    { name: 'readyToUse', wire: 'ready_to_use', kind: 'bool' },
    { name: 'groupSnapshotId', wire: 'group_snapshot_id', kind: 'string' },
  ] },
  'DeleteSnapshotRequest': { type: csi.v1.DeleteSnapshotRequest, fields: [
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'DeleteSnapshotResponse': { type: csi.v1.DeleteSnapshotResponse, fields: [] },
  'ListSnapshotsRequest': { type: csi.v1.ListSnapshotsRequest, fields: [
    { name: 'maxEntries', wire: 'max_entries', kind: 'int32' },
    { name: 'startingToken', wire: 'starting_token', kind: 'string' },
    { name: 'sourceVolumeId', wire: 'source_volume_id', kind: 'string' },
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'ListSnapshotsResponse': { type: csi.v1.ListSnapshotsResponse, fields: [
    { name: 'entries', wire: 'entries', kind: 'message', of: 'ListSnapshotsResponse.Entry', isRepeated: true },
    { name: 'nextToken', wire: 'next_token', kind: 'string' },
  ] },
  'ListSnapshotsResponse.Entry': { type: csi.v1.ListSnapshotsResponse.Entry, fields: [
    { name: 'snapshot', wire: 'snapshot', kind: 'message', of: 'Snapshot' },
  ] },
  'GetSnapshotRequest': { type: csi.v1.GetSnapshotRequest, fields: [
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'GetSnapshotResponse': { type: csi.v1.GetSnapshotResponse, fields: [
    { name: 'snapshot', wire: 'snapshot', kind: 'message', of: 'Snapshot' },
  ] },
  'ControllerExpandVolumeRequest': { type: csi.v1.ControllerExpandVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'capacityRange', wire: 'capacity_range', kind: 'message', of: 'CapacityRange' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'volumeCapability', wire: 'volume_capability', kind: 'message', of: 'VolumeCapability' },
  ] },
  'ControllerExpandVolumeResponse': { type: csi.v1.ControllerExpandVolumeResponse, fields: [
    { name: 'capacityBytes', wire: 'capacity_bytes', kind: 'int64' },
    { name: 'nodeExpansionRequired', wire: 'node_expansion_required', kind: 'bool' },
  ] },
  'ControllerGetVolumeRequest': { type: csi.v1.ControllerGetVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
  ] },
  'ControllerGetVolumeResponse': { type: csi.v1.ControllerGetVolumeResponse, fields: [
    { name: 'volume', wire: 'volume', kind: 'message', of: 'Volume' },
    { name: 'status', wire: 'status', kind: 'message', of: 'ControllerGetVolumeResponse.VolumeStatus' },
  ] },
  'ControllerGetVolumeResponse.VolumeStatus': { type: csi.v1.ControllerGetVolumeResponse.VolumeStatus, fields: [
    { name: 'publishedNodeIds', wire: 'published_node_ids', kind: 'string', isRepeated: true },
    { name: 'volumeCondition', wire: 'volume_condition', kind: 'message', of: 'VolumeCondition' },
  ] },
  'ControllerModifyVolumeRequest': { type: csi.v1.ControllerModifyVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'mutableParameters', wire: 'mutable_parameters', kind: 'map' },
  ] },
  'ControllerModifyVolumeResponse': { type: csi.v1.ControllerModifyVolumeResponse, fields: [] },
  'VolumeCondition': { type: csi.v1.VolumeCondition, fields: [
    { name: 'abnormal', wire: 'abnormal', kind: 'bool' },
    { name: 'message', wire: 'message', kind: 'string' },
  ] },
  'GroupControllerGetCapabilitiesRequest': { type: csi.v1.GroupControllerGetCapabilitiesRequest, fields: [] },
  'GroupControllerGetCapabilitiesResponse': { type: csi.v1.GroupControllerGetCapabilitiesResponse, fields: [
    { name: 'capabilities', wire: 'capabilities', kind: 'message', of: 'GroupControllerServiceCapability', isRepeated: true },
  ] },
  'GroupControllerServiceCapability': { type: csi.v1.GroupControllerServiceCapability, fields: [
    { name: 'rpc', wire: 'rpc', kind: 'message', of: 'GroupControllerServiceCapability.RPC' },
  ] },
  'GroupControllerServiceCapability.RPC': { type: csi.v1.GroupControllerServiceCapability.RPC, fields: [
    { name: 'type', wire: 'type', kind: 'enum', of: 'GroupControllerServiceCapability.RPC.Type' },
  ] },
  'CreateVolumeGroupSnapshotRequest': { type: csi.v1.CreateVolumeGroupSnapshotRequest, fields: [
    { name: 'name', wire: 'name', kind: 'string' },
    { name: 'sourceVolumeIds', wire: 'source_volume_ids', kind: 'string', isRepeated: true },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'parameters', wire: 'parameters', kind: 'map' },
  ] },
  'CreateVolumeGroupSnapshotResponse': { type: csi.v1.CreateVolumeGroupSnapshotResponse, fields: [
    { name: 'groupSnapshot', wire: 'group_snapshot', kind: 'message', of: 'VolumeGroupSnapshot' },
  ] },
  'VolumeGroupSnapshot': { type: csi.v1.VolumeGroupSnapshot, fields: [
    { name: 'groupSnapshotId', wire: 'group_snapshot_id', kind: 'string' },
    { name: 'snapshots', wire: 'snapshots', kind: 'message', of: 'Snapshot', isRepeated: true },
    { name: 'creationTime', wire: 'creation_time', kind: 'message', of: 'Timestamp' },
    { name: 'readyToUse', wire: 'ready_to_use', kind: 'bool' },
  ] },
  'DeleteVolumeGroupSnapshotRequest': { type: csi.v1.DeleteVolumeGroupSnapshotRequest, fields: [
    { name: 'groupSnapshotId', wire: 'group_snapshot_id', kind: 'string' },
    { name: 'snapshotIds', wire: 'snapshot_ids', kind: 'string', isRepeated: true },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'DeleteVolumeGroupSnapshotResponse': { type: csi.v1.DeleteVolumeGroupSnapshotResponse, fields: [] },
  'GetVolumeGroupSnapshotRequest': { type: csi.v1.GetVolumeGroupSnapshotRequest, fields: [
    { name: 'groupSnapshotId', wire: 'group_snapshot_id', kind: 'string' },
    { name: 'snapshotIds', wire: 'snapshot_ids', kind: 'string', isRepeated: true },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'GetVolumeGroupSnapshotResponse': { type: csi.v1.GetVolumeGroupSnapshotResponse, fields: [
    { name: 'groupSnapshot', wire: 'group_snapshot', kind: 'message', of: 'VolumeGroupSnapshot' },
  ] },
  'BlockMetadata': { type: csi.v1.BlockMetadata, fields: [
    { name: 'byteOffset', wire: 'byte_offset', kind: 'int64' },
    { name: 'sizeBytes', wire: 'size_bytes', kind: 'int64' },
  ] },
  'GetMetadataAllocatedRequest': { type: csi.v1.GetMetadataAllocatedRequest, fields: [
    { name: 'snapshotId', wire: 'snapshot_id', kind: 'string' },
    { name: 'startingOffset', wire: 'starting_offset', kind: 'int64' },
    { name: 'maxResults', wire: 'max_results', kind: 'int32' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'GetMetadataAllocatedResponse': { type: csi.v1.GetMetadataAllocatedResponse, fields: [
    { name: 'blockMetadataType', wire: 'block_metadata_type', kind: 'enum', of: 'BlockMetadataType' },
    { name: 'volumeCapacityBytes', wire: 'volume_capacity_bytes', kind: 'int64' },
    { name: 'blockMetadata', wire: 'block_metadata', kind: 'message', of: 'BlockMetadata', isRepeated: true },
  ] },
  'GetMetadataDeltaRequest': { type: csi.v1.GetMetadataDeltaRequest, fields: [
    { name: 'baseSnapshotId', wire: 'base_snapshot_id', kind: 'string' },
    { name: 'targetSnapshotId', wire: 'target_snapshot_id', kind: 'string' },
    { name: 'startingOffset', wire: 'starting_offset', kind: 'int64' },
    { name: 'maxResults', wire: 'max_results', kind: 'int32' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'GetMetadataDeltaResponse': { type: csi.v1.GetMetadataDeltaResponse, fields: [
    { name: 'blockMetadataType', wire: 'block_metadata_type', kind: 'enum', of: 'BlockMetadataType' },
    { name: 'volumeCapacityBytes', wire: 'volume_capacity_bytes', kind: 'int64' },
    { name: 'blockMetadata', wire: 'block_metadata', kind: 'message', of: 'BlockMetadata', isRepeated: true },
  ] },
  'NodeStageVolumeRequest': { type: csi.v1.NodeStageVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'publishContext', wire: 'publish_context', kind: 'map' },
    { name: 'stagingTargetPath', wire: 'staging_target_path', kind: 'string' },
    { name: 'volumeCapability', wire: 'volume_capability', kind: 'message', of: 'VolumeCapability' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
  ] },
  'NodeStageVolumeResponse': { type: csi.v1.NodeStageVolumeResponse, fields: [] },
  'NodeUnstageVolumeRequest': { type: csi.v1.NodeUnstageVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'stagingTargetPath', wire: 'staging_target_path', kind: 'string' },
  ] },
  'NodeUnstageVolumeResponse': { type: csi.v1.NodeUnstageVolumeResponse, fields: [] },
  'NodePublishVolumeRequest': { type: csi.v1.NodePublishVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'publishContext', wire: 'publish_context', kind: 'map' },
    { name: 'stagingTargetPath', wire: 'staging_target_path', kind: 'string' },
    { name: 'targetPath', wire: 'target_path', kind: 'string' },
    { name: 'volumeCapability', wire: 'volume_capability', kind: 'message', of: 'VolumeCapability' },
    { name: 'readonly', wire: 'readonly', kind: 'bool' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
    { name: 'volumeContext', wire: 'volume_context', kind: 'map' },
  ] },
  'NodePublishVolumeResponse': { type: csi.v1.NodePublishVolumeResponse, fields: [] },
  'NodeUnpublishVolumeRequest': { type: csi.v1.NodeUnpublishVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'targetPath', wire: 'target_path', kind: 'string' },
  ] },
  'NodeUnpublishVolumeResponse': { type: csi.v1.NodeUnpublishVolumeResponse, fields: [] },
  'NodeGetVolumeStatsRequest': { type: csi.v1.NodeGetVolumeStatsRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'volumePath', wire: 'volume_path', kind: 'string' },
    { name: 'stagingTargetPath', wire: 'staging_target_path', kind: 'string' },
  ] },
  'NodeGetVolumeStatsResponse': { type: csi.v1.NodeGetVolumeStatsResponse, fields: [
    { name: 'usage', wire: 'usage', kind: 'message', of: 'VolumeUsage', isRepeated: true },
    { name: 'volumeCondition', wire: 'volume_condition', kind: 'message', of: 'VolumeCondition' },
  ] },
  'VolumeUsage': { type: csi.v1.VolumeUsage, fields: [
    { name: 'available', wire: 'available', kind: 'int64' },
    { name: 'total', wire: 'total', kind: 'int64' },
    { name: 'used', wire: 'used', kind: 'int64' },
    { name: 'unit', wire: 'unit', kind: 'enum', of: 'VolumeUsage.Unit' },
  ] },
  'NodeExpandVolumeRequest': { type: csi.v1.NodeExpandVolumeRequest, fields: [
    { name: 'volumeId', wire: 'volume_id', kind: 'string' },
    { name: 'volumePath', wire: 'volume_path', kind: 'string' },
    { name: 'capacityRange', wire: 'capacity_range', kind: 'message', of: 'CapacityRange' },
    { name: 'stagingTargetPath', wire: 'staging_target_path', kind: 'string' },
    { name: 'volumeCapability', wire: 'volume_capability', kind: 'message', of: 'VolumeCapability' },
    { name: 'secrets', wire: 'secrets', kind: 'map', isSecret: true },
  ] },
  'NodeExpandVolumeResponse': { type: csi.v1.NodeExpandVolumeResponse, fields: [
    { name: 'capacityBytes', wire: 'capacity_bytes', kind: 'int64' },
  ] },
  'NodeGetCapabilitiesRequest': { type: csi.v1.NodeGetCapabilitiesRequest, fields: [] },
  'NodeGetCapabilitiesResponse': { type: csi.v1.NodeGetCapabilitiesResponse, fields: [
    { name: 'capabilities', wire: 'capabilities', kind: 'message', of: 'NodeServiceCapability', isRepeated: true },
  ] },
  'NodeServiceCapability': { type: csi.v1.NodeServiceCapability, fields: [
    { name: 'rpc', wire: 'rpc', kind: 'message', of: 'NodeServiceCapability.RPC' },
  ] },
  'NodeServiceCapability.RPC': { type: csi.v1.NodeServiceCapability.RPC, fields: [
    { name: 'type', wire: 'type', kind: 'enum', of: 'NodeServiceCapability.RPC.Type' },
  ] },
  'NodeGetInfoRequest': { type: csi.v1.NodeGetInfoRequest, fields: [] },
  'NodeGetInfoResponse': { type: csi.v1.NodeGetInfoResponse, fields: [
    { name: 'nodeId', wire: 'node_id', kind: 'string' },
    { name: 'maxVolumesPerNode', wire: 'max_volumes_per_node', kind: 'int64' },
    { name: 'accessibleTopology', wire: 'accessible_topology', kind: 'message', of: 'Topology' },
  ] },
} as const;

/** Of each enum, by name below the package. */
export const enums = {
  'BlockMetadataType': csi.v1.BlockMetadataType,
  'PluginCapability.Service.Type': csi.v1.PluginCapability.Service.Type,
  'PluginCapability.VolumeExpansion.Type': csi.v1.PluginCapability.VolumeExpansion.Type,
  'VolumeCapability.AccessMode.Mode': csi.v1.VolumeCapability.AccessMode.Mode,
  'ControllerServiceCapability.RPC.Type': csi.v1.ControllerServiceCapability.RPC.Type,
  'GroupControllerServiceCapability.RPC.Type': csi.v1.GroupControllerServiceCapability.RPC.Type,
  'VolumeUsage.Unit': csi.v1.VolumeUsage.Unit,
  'NodeServiceCapability.RPC.Type': csi.v1.NodeServiceCapability.RPC.Type,
} as const;

/** What each RPC takes and gives. */
export interface Rpcs {
  GetPluginInfo: { request: GetPluginInfoRequest; response: GetPluginInfoResponse };
  GetPluginCapabilities: { request: GetPluginCapabilitiesRequest; response: GetPluginCapabilitiesResponse };
  Probe: { request: ProbeRequest; response: ProbeResponse };
  CreateVolume: { request: CreateVolumeRequest; response: CreateVolumeResponse };
  DeleteVolume: { request: DeleteVolumeRequest; response: DeleteVolumeResponse };
  ControllerPublishVolume: { request: ControllerPublishVolumeRequest; response: ControllerPublishVolumeResponse };
  ControllerUnpublishVolume: { request: ControllerUnpublishVolumeRequest; response: ControllerUnpublishVolumeResponse };
  ValidateVolumeCapabilities: { request: ValidateVolumeCapabilitiesRequest; response: ValidateVolumeCapabilitiesResponse };
  ListVolumes: { request: ListVolumesRequest; response: ListVolumesResponse };
  GetCapacity: { request: GetCapacityRequest; response: GetCapacityResponse };
  ControllerGetCapabilities: { request: ControllerGetCapabilitiesRequest; response: ControllerGetCapabilitiesResponse };
  CreateSnapshot: { request: CreateSnapshotRequest; response: CreateSnapshotResponse };
  DeleteSnapshot: { request: DeleteSnapshotRequest; response: DeleteSnapshotResponse };
  ListSnapshots: { request: ListSnapshotsRequest; response: ListSnapshotsResponse };
  GetSnapshot: { request: GetSnapshotRequest; response: GetSnapshotResponse };
  ControllerExpandVolume: { request: ControllerExpandVolumeRequest; response: ControllerExpandVolumeResponse };
  ControllerGetVolume: { request: ControllerGetVolumeRequest; response: ControllerGetVolumeResponse };
  ControllerModifyVolume: { request: ControllerModifyVolumeRequest; response: ControllerModifyVolumeResponse };
  GroupControllerGetCapabilities: { request: GroupControllerGetCapabilitiesRequest; response: GroupControllerGetCapabilitiesResponse };
  CreateVolumeGroupSnapshot: { request: CreateVolumeGroupSnapshotRequest; response: CreateVolumeGroupSnapshotResponse };
  DeleteVolumeGroupSnapshot: { request: DeleteVolumeGroupSnapshotRequest; response: DeleteVolumeGroupSnapshotResponse };
  GetVolumeGroupSnapshot: { request: GetVolumeGroupSnapshotRequest; response: GetVolumeGroupSnapshotResponse };
  GetMetadataAllocated: { request: GetMetadataAllocatedRequest; response: GetMetadataAllocatedResponse };
  GetMetadataDelta: { request: GetMetadataDeltaRequest; response: GetMetadataDeltaResponse };
  NodeStageVolume: { request: NodeStageVolumeRequest; response: NodeStageVolumeResponse };
  NodeUnstageVolume: { request: NodeUnstageVolumeRequest; response: NodeUnstageVolumeResponse };
  NodePublishVolume: { request: NodePublishVolumeRequest; response: NodePublishVolumeResponse };
  NodeUnpublishVolume: { request: NodeUnpublishVolumeRequest; response: NodeUnpublishVolumeResponse };
  NodeGetVolumeStats: { request: NodeGetVolumeStatsRequest; response: NodeGetVolumeStatsResponse };
  NodeExpandVolume: { request: NodeExpandVolumeRequest; response: NodeExpandVolumeResponse };
  NodeGetCapabilities: { request: NodeGetCapabilitiesRequest; response: NodeGetCapabilitiesResponse };
  NodeGetInfo: { request: NodeGetInfoRequest; response: NodeGetInfoResponse };
}

/** Where each RPC is; those that stream answer with any number of messages. */
export const rpcs = {
  GetPluginInfo: { service: 'Identity', path: '/csi.v1.Identity/GetPluginInfo', request: 'GetPluginInfoRequest', response: 'GetPluginInfoResponse', streams: false },
  GetPluginCapabilities: { service: 'Identity', path: '/csi.v1.Identity/GetPluginCapabilities', request: 'GetPluginCapabilitiesRequest', response: 'GetPluginCapabilitiesResponse', streams: false },
  Probe: { service: 'Identity', path: '/csi.v1.Identity/Probe', request: 'ProbeRequest', response: 'ProbeResponse', streams: false },
  CreateVolume: { service: 'Controller', path: '/csi.v1.Controller/CreateVolume', request: 'CreateVolumeRequest', response: 'CreateVolumeResponse', streams: false },
  DeleteVolume: { service: 'Controller', path: '/csi.v1.Controller/DeleteVolume', request: 'DeleteVolumeRequest', response: 'DeleteVolumeResponse', streams: false },
  ControllerPublishVolume: { service: 'Controller', path: '/csi.v1.Controller/ControllerPublishVolume', request: 'ControllerPublishVolumeRequest', response: 'ControllerPublishVolumeResponse', streams: false },
  ControllerUnpublishVolume: { service: 'Controller', path: '/csi.v1.Controller/ControllerUnpublishVolume', request: 'ControllerUnpublishVolumeRequest', response: 'ControllerUnpublishVolumeResponse', streams: false },
  ValidateVolumeCapabilities: { service: 'Controller', path: '/csi.v1.Controller/ValidateVolumeCapabilities', request: 'ValidateVolumeCapabilitiesRequest', response: 'ValidateVolumeCapabilitiesResponse', streams: false },
  ListVolumes: { service: 'Controller', path: '/csi.v1.Controller/ListVolumes', request: 'ListVolumesRequest', response: 'ListVolumesResponse', streams: false },
  GetCapacity: { service: 'Controller', path: '/csi.v1.Controller/GetCapacity', request: 'GetCapacityRequest', response: 'GetCapacityResponse', streams: false },
  ControllerGetCapabilities: { service: 'Controller', path: '/csi.v1.Controller/ControllerGetCapabilities', request: 'ControllerGetCapabilitiesRequest', response: 'ControllerGetCapabilitiesResponse', streams: false },
  CreateSnapshot: { service: 'Controller', path: '/csi.v1.Controller/CreateSnapshot', request: 'CreateSnapshotRequest', response: 'CreateSnapshotResponse', streams: false },
  DeleteSnapshot: { service: 'Controller', path: '/csi.v1.Controller/DeleteSnapshot', request: 'DeleteSnapshotRequest', response: 'DeleteSnapshotResponse', streams: false },
  ListSnapshots: { service: 'Controller', path: '/csi.v1.Controller/ListSnapshots', request: 'ListSnapshotsRequest', response: 'ListSnapshotsResponse', streams: false },
  GetSnapshot: { service: 'Controller', path: '/csi.v1.Controller/GetSnapshot', request: 'GetSnapshotRequest', response: 'GetSnapshotResponse', streams: false },
  ControllerExpandVolume: { service: 'Controller', path: '/csi.v1.Controller/ControllerExpandVolume', request: 'ControllerExpandVolumeRequest', response: 'ControllerExpandVolumeResponse', streams: false },
  ControllerGetVolume: { service: 'Controller', path: '/csi.v1.Controller/ControllerGetVolume', request: 'ControllerGetVolumeRequest', response: 'ControllerGetVolumeResponse', streams: false },
  ControllerModifyVolume: { service: 'Controller', path: '/csi.v1.Controller/ControllerModifyVolume', request: 'ControllerModifyVolumeRequest', response: 'ControllerModifyVolumeResponse', streams: false },
  GroupControllerGetCapabilities: { service: 'GroupController', path: '/csi.v1.GroupController/GroupControllerGetCapabilities', request: 'GroupControllerGetCapabilitiesRequest', response: 'GroupControllerGetCapabilitiesResponse', streams: false },
  CreateVolumeGroupSnapshot: { service: 'GroupController', path: '/csi.v1.GroupController/CreateVolumeGroupSnapshot', request: 'CreateVolumeGroupSnapshotRequest', response: 'CreateVolumeGroupSnapshotResponse', streams: false },
  DeleteVolumeGroupSnapshot: { service: 'GroupController', path: '/csi.v1.GroupController/DeleteVolumeGroupSnapshot', request: 'DeleteVolumeGroupSnapshotRequest', response: 'DeleteVolumeGroupSnapshotResponse', streams: false },
  GetVolumeGroupSnapshot: { service: 'GroupController', path: '/csi.v1.GroupController/GetVolumeGroupSnapshot', request: 'GetVolumeGroupSnapshotRequest', response: 'GetVolumeGroupSnapshotResponse', streams: false },
  GetMetadataAllocated: { service: 'SnapshotMetadata', path: '/csi.v1.SnapshotMetadata/GetMetadataAllocated', request: 'GetMetadataAllocatedRequest', response: 'GetMetadataAllocatedResponse', streams: true },
  GetMetadataDelta: { service: 'SnapshotMetadata', path: '/csi.v1.SnapshotMetadata/GetMetadataDelta', request: 'GetMetadataDeltaRequest', response: 'GetMetadataDeltaResponse', streams: true },
  NodeStageVolume: { service: 'Node', path: '/csi.v1.Node/NodeStageVolume', request: 'NodeStageVolumeRequest', response: 'NodeStageVolumeResponse', streams: false },
  NodeUnstageVolume: { service: 'Node', path: '/csi.v1.Node/NodeUnstageVolume', request: 'NodeUnstageVolumeRequest', response: 'NodeUnstageVolumeResponse', streams: false },
  NodePublishVolume: { service: 'Node', path: '/csi.v1.Node/NodePublishVolume', request: 'NodePublishVolumeRequest', response: 'NodePublishVolumeResponse', streams: false },
  NodeUnpublishVolume: { service: 'Node', path: '/csi.v1.Node/NodeUnpublishVolume', request: 'NodeUnpublishVolumeRequest', response: 'NodeUnpublishVolumeResponse', streams: false },
  NodeGetVolumeStats: { service: 'Node', path: '/csi.v1.Node/NodeGetVolumeStats', request: 'NodeGetVolumeStatsRequest', response: 'NodeGetVolumeStatsResponse', streams: false },
  NodeExpandVolume: { service: 'Node', path: '/csi.v1.Node/NodeExpandVolume', request: 'NodeExpandVolumeRequest', response: 'NodeExpandVolumeResponse', streams: false },
  NodeGetCapabilities: { service: 'Node', path: '/csi.v1.Node/NodeGetCapabilities', request: 'NodeGetCapabilitiesRequest', response: 'NodeGetCapabilitiesResponse', streams: false },
  NodeGetInfo: { service: 'Node', path: '/csi.v1.Node/NodeGetInfo', request: 'NodeGetInfoRequest', response: 'NodeGetInfoResponse', streams: false },
} as const;
