// Generated, do not edit: npm run generate
/**
 * CSI's messages as plain data: field names in camelCase, int64 as bigint, enums by name, maps as records. Messages and
 * wrappers that were not sent are absent; other fields have their zero value. codec.ts converts them.
 */

/** Values that this version does not know are numbers. */
export type BlockMetadataType = 'UNKNOWN' | 'FIXED_LENGTH' | 'VARIABLE_LENGTH' | `${number}`;

/** Values that this version does not know are numbers. */
export type PluginCapabilityServiceType = 'UNKNOWN' | 'CONTROLLER_SERVICE' | 'VOLUME_ACCESSIBILITY_CONSTRAINTS' | 'GROUP_CONTROLLER_SERVICE' | 'SNAPSHOT_METADATA_SERVICE' | `${number}`;

/** Values that this version does not know are numbers. */
export type PluginCapabilityVolumeExpansionType = 'UNKNOWN' | 'ONLINE' | 'OFFLINE' | `${number}`;

/** Values that this version does not know are numbers. */
export type VolumeCapabilityAccessModeMode = 'UNKNOWN' | 'SINGLE_NODE_WRITER' | 'SINGLE_NODE_READER_ONLY' | 'MULTI_NODE_READER_ONLY' | 'MULTI_NODE_SINGLE_WRITER' | 'MULTI_NODE_MULTI_WRITER' | 'SINGLE_NODE_SINGLE_WRITER' | 'SINGLE_NODE_MULTI_WRITER' | `${number}`;

/** Values that this version does not know are numbers. */
export type ControllerServiceCapabilityRPCType = 'UNKNOWN' | 'CREATE_DELETE_VOLUME' | 'PUBLISH_UNPUBLISH_VOLUME' | 'LIST_VOLUMES' | 'GET_CAPACITY' | 'CREATE_DELETE_SNAPSHOT' | 'LIST_SNAPSHOTS' | 'CLONE_VOLUME' | 'PUBLISH_READONLY' | 'EXPAND_VOLUME' | 'LIST_VOLUMES_PUBLISHED_NODES' | 'VOLUME_CONDITION' | 'GET_VOLUME' | 'SINGLE_NODE_MULTI_WRITER' | 'MODIFY_VOLUME' | 'GET_SNAPSHOT' | `${number}`;

/** Values that this version does not know are numbers. */
export type GroupControllerServiceCapabilityRPCType = 'UNKNOWN' | 'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT' | `${number}`;

/** Values that this version does not know are numbers. */
export type VolumeUsageUnit = 'UNKNOWN' | 'BYTES' | 'INODES' | `${number}`;

/** Values that this version does not know are numbers. */
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

/** Fields of each message, by its name without the package. */
export const messages = {
  'Timestamp': [
    { name: 'seconds', number: 1, kind: 'int64' },
    { name: 'nanos', number: 2, kind: 'int32' },
  ],
  'GetPluginInfoRequest': [],
  'GetPluginInfoResponse': [
    { name: 'name', number: 1, kind: 'string' },
    { name: 'vendorVersion', number: 2, kind: 'string' },
    { name: 'manifest', number: 3, kind: 'map' },
  ],
  'GetPluginCapabilitiesRequest': [],
  'GetPluginCapabilitiesResponse': [
    { name: 'capabilities', number: 1, kind: 'message', of: 'PluginCapability', isRepeated: true },
  ],
  'PluginCapability': [
    { name: 'service', number: 1, kind: 'message', of: 'PluginCapability.Service', oneof: 0 },
    { name: 'volumeExpansion', number: 2, kind: 'message', of: 'PluginCapability.VolumeExpansion', oneof: 0 },
  ],
  'PluginCapability.Service': [
    { name: 'type', number: 1, kind: 'enum', of: 'PluginCapability.Service.Type' },
  ],
  'PluginCapability.VolumeExpansion': [
    { name: 'type', number: 1, kind: 'enum', of: 'PluginCapability.VolumeExpansion.Type' },
  ],
  'ProbeRequest': [],
  'ProbeResponse': [
    { name: 'ready', number: 1, kind: 'boolValue' },
  ],
  'CreateVolumeRequest': [
    { name: 'name', number: 1, kind: 'string' },
    { name: 'capacityRange', number: 2, kind: 'message', of: 'CapacityRange' },
    { name: 'volumeCapabilities', number: 3, kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', number: 4, kind: 'map' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
    { name: 'volumeContentSource', number: 6, kind: 'message', of: 'VolumeContentSource' },
    { name: 'accessibilityRequirements', number: 7, kind: 'message', of: 'TopologyRequirement' },
    { name: 'mutableParameters', number: 8, kind: 'map' },
  ],
  'VolumeContentSource': [
    { name: 'snapshot', number: 1, kind: 'message', of: 'VolumeContentSource.SnapshotSource', oneof: 0 },
    { name: 'volume', number: 2, kind: 'message', of: 'VolumeContentSource.VolumeSource', oneof: 0 },
  ],
  'VolumeContentSource.SnapshotSource': [
    { name: 'snapshotId', number: 1, kind: 'string' },
  ],
  'VolumeContentSource.VolumeSource': [
    { name: 'volumeId', number: 1, kind: 'string' },
  ],
  'CreateVolumeResponse': [
    { name: 'volume', number: 1, kind: 'message', of: 'Volume' },
  ],
  'VolumeCapability': [
    { name: 'block', number: 1, kind: 'message', of: 'VolumeCapability.BlockVolume', oneof: 0 },
    { name: 'mount', number: 2, kind: 'message', of: 'VolumeCapability.MountVolume', oneof: 0 },
    { name: 'accessMode', number: 3, kind: 'message', of: 'VolumeCapability.AccessMode' },
  ],
  'VolumeCapability.BlockVolume': [],
  'VolumeCapability.MountVolume': [
    { name: 'fsType', number: 1, kind: 'string' },
    { name: 'mountFlags', number: 2, kind: 'string', isRepeated: true },
    { name: 'volumeMountGroup', number: 3, kind: 'string' },
  ],
  'VolumeCapability.AccessMode': [
    { name: 'mode', number: 1, kind: 'enum', of: 'VolumeCapability.AccessMode.Mode' },
  ],
  'CapacityRange': [
    { name: 'requiredBytes', number: 1, kind: 'int64' },
    { name: 'limitBytes', number: 2, kind: 'int64' },
  ],
  'Volume': [
    { name: 'capacityBytes', number: 1, kind: 'int64' },
    { name: 'volumeId', number: 2, kind: 'string' },
    { name: 'volumeContext', number: 3, kind: 'map' },
    { name: 'contentSource', number: 4, kind: 'message', of: 'VolumeContentSource' },
    { name: 'accessibleTopology', number: 5, kind: 'message', of: 'Topology', isRepeated: true },
  ],
  'TopologyRequirement': [
    { name: 'requisite', number: 1, kind: 'message', of: 'Topology', isRepeated: true },
    { name: 'preferred', number: 2, kind: 'message', of: 'Topology', isRepeated: true },
  ],
  'Topology': [
    { name: 'segments', number: 1, kind: 'map' },
  ],
  'DeleteVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'secrets', number: 2, kind: 'map', isSecret: true },
  ],
  'DeleteVolumeResponse': [],
  'ControllerPublishVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'nodeId', number: 2, kind: 'string' },
    { name: 'volumeCapability', number: 3, kind: 'message', of: 'VolumeCapability' },
    { name: 'readonly', number: 4, kind: 'bool' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
    { name: 'volumeContext', number: 6, kind: 'map' },
  ],
  'ControllerPublishVolumeResponse': [
    { name: 'publishContext', number: 1, kind: 'map' },
  ],
  'ControllerUnpublishVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'nodeId', number: 2, kind: 'string' },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
  ],
  'ControllerUnpublishVolumeResponse': [],
  'ValidateVolumeCapabilitiesRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'volumeContext', number: 2, kind: 'map' },
    { name: 'volumeCapabilities', number: 3, kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', number: 4, kind: 'map' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
    { name: 'mutableParameters', number: 6, kind: 'map' },
  ],
  'ValidateVolumeCapabilitiesResponse': [
    { name: 'confirmed', number: 1, kind: 'message', of: 'ValidateVolumeCapabilitiesResponse.Confirmed' },
    { name: 'message', number: 2, kind: 'string' },
  ],
  'ValidateVolumeCapabilitiesResponse.Confirmed': [
    { name: 'volumeContext', number: 1, kind: 'map' },
    { name: 'volumeCapabilities', number: 2, kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', number: 3, kind: 'map' },
    { name: 'mutableParameters', number: 4, kind: 'map' },
  ],
  'ListVolumesRequest': [
    { name: 'maxEntries', number: 1, kind: 'int32' },
    { name: 'startingToken', number: 2, kind: 'string' },
  ],
  'ListVolumesResponse': [
    { name: 'entries', number: 1, kind: 'message', of: 'ListVolumesResponse.Entry', isRepeated: true },
    { name: 'nextToken', number: 2, kind: 'string' },
  ],
  'ListVolumesResponse.VolumeStatus': [
    { name: 'publishedNodeIds', number: 1, kind: 'string', isRepeated: true },
    { name: 'volumeCondition', number: 2, kind: 'message', of: 'VolumeCondition' },
  ],
  'ListVolumesResponse.Entry': [
    { name: 'volume', number: 1, kind: 'message', of: 'Volume' },
    { name: 'status', number: 2, kind: 'message', of: 'ListVolumesResponse.VolumeStatus' },
  ],
  'GetCapacityRequest': [
    { name: 'volumeCapabilities', number: 1, kind: 'message', of: 'VolumeCapability', isRepeated: true },
    { name: 'parameters', number: 2, kind: 'map' },
    { name: 'accessibleTopology', number: 3, kind: 'message', of: 'Topology' },
  ],
  'GetCapacityResponse': [
    { name: 'availableCapacity', number: 1, kind: 'int64' },
    { name: 'maximumVolumeSize', number: 2, kind: 'int64Value' },
    { name: 'minimumVolumeSize', number: 3, kind: 'int64Value' },
  ],
  'ControllerGetCapabilitiesRequest': [],
  'ControllerGetCapabilitiesResponse': [
    { name: 'capabilities', number: 1, kind: 'message', of: 'ControllerServiceCapability', isRepeated: true },
  ],
  'ControllerServiceCapability': [
    { name: 'rpc', number: 1, kind: 'message', of: 'ControllerServiceCapability.RPC', oneof: 0 },
  ],
  'ControllerServiceCapability.RPC': [
    { name: 'type', number: 1, kind: 'enum', of: 'ControllerServiceCapability.RPC.Type' },
  ],
  'CreateSnapshotRequest': [
    { name: 'sourceVolumeId', number: 1, kind: 'string' },
    { name: 'name', number: 2, kind: 'string' },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
    { name: 'parameters', number: 4, kind: 'map' },
  ],
  'CreateSnapshotResponse': [
    { name: 'snapshot', number: 1, kind: 'message', of: 'Snapshot' },
  ],
  'Snapshot': [
    { name: 'sizeBytes', number: 1, kind: 'int64' },
    { name: 'snapshotId', number: 2, kind: 'string' },
    { name: 'sourceVolumeId', number: 3, kind: 'string' },
    { name: 'creationTime', number: 4, kind: 'message', of: 'Timestamp' },
    { name: 'readyToUse', number: 5, kind: 'bool' },
    { name: 'groupSnapshotId', number: 6, kind: 'string' },
  ],
  'DeleteSnapshotRequest': [
    { name: 'snapshotId', number: 1, kind: 'string' },
    { name: 'secrets', number: 2, kind: 'map', isSecret: true },
  ],
  'DeleteSnapshotResponse': [],
  'ListSnapshotsRequest': [
    { name: 'maxEntries', number: 1, kind: 'int32' },
    { name: 'startingToken', number: 2, kind: 'string' },
    { name: 'sourceVolumeId', number: 3, kind: 'string' },
    { name: 'snapshotId', number: 4, kind: 'string' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
  ],
  'ListSnapshotsResponse': [
    { name: 'entries', number: 1, kind: 'message', of: 'ListSnapshotsResponse.Entry', isRepeated: true },
    { name: 'nextToken', number: 2, kind: 'string' },
  ],
  'ListSnapshotsResponse.Entry': [
    { name: 'snapshot', number: 1, kind: 'message', of: 'Snapshot' },
  ],
  'GetSnapshotRequest': [
    { name: 'snapshotId', number: 1, kind: 'string' },
    { name: 'secrets', number: 2, kind: 'map', isSecret: true },
  ],
  'GetSnapshotResponse': [
    { name: 'snapshot', number: 1, kind: 'message', of: 'Snapshot' },
  ],
  'ControllerExpandVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'capacityRange', number: 2, kind: 'message', of: 'CapacityRange' },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
    { name: 'volumeCapability', number: 4, kind: 'message', of: 'VolumeCapability' },
  ],
  'ControllerExpandVolumeResponse': [
    { name: 'capacityBytes', number: 1, kind: 'int64' },
    { name: 'nodeExpansionRequired', number: 2, kind: 'bool' },
  ],
  'ControllerGetVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
  ],
  'ControllerGetVolumeResponse': [
    { name: 'volume', number: 1, kind: 'message', of: 'Volume' },
    { name: 'status', number: 2, kind: 'message', of: 'ControllerGetVolumeResponse.VolumeStatus' },
  ],
  'ControllerGetVolumeResponse.VolumeStatus': [
    { name: 'publishedNodeIds', number: 1, kind: 'string', isRepeated: true },
    { name: 'volumeCondition', number: 2, kind: 'message', of: 'VolumeCondition' },
  ],
  'ControllerModifyVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'secrets', number: 2, kind: 'map', isSecret: true },
    { name: 'mutableParameters', number: 3, kind: 'map' },
  ],
  'ControllerModifyVolumeResponse': [],
  'VolumeCondition': [
    { name: 'abnormal', number: 1, kind: 'bool' },
    { name: 'message', number: 2, kind: 'string' },
  ],
  'GroupControllerGetCapabilitiesRequest': [],
  'GroupControllerGetCapabilitiesResponse': [
    { name: 'capabilities', number: 1, kind: 'message', of: 'GroupControllerServiceCapability', isRepeated: true },
  ],
  'GroupControllerServiceCapability': [
    { name: 'rpc', number: 1, kind: 'message', of: 'GroupControllerServiceCapability.RPC', oneof: 0 },
  ],
  'GroupControllerServiceCapability.RPC': [
    { name: 'type', number: 1, kind: 'enum', of: 'GroupControllerServiceCapability.RPC.Type' },
  ],
  'CreateVolumeGroupSnapshotRequest': [
    { name: 'name', number: 1, kind: 'string' },
    { name: 'sourceVolumeIds', number: 2, kind: 'string', isRepeated: true },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
    { name: 'parameters', number: 4, kind: 'map' },
  ],
  'CreateVolumeGroupSnapshotResponse': [
    { name: 'groupSnapshot', number: 1, kind: 'message', of: 'VolumeGroupSnapshot' },
  ],
  'VolumeGroupSnapshot': [
    { name: 'groupSnapshotId', number: 1, kind: 'string' },
    { name: 'snapshots', number: 2, kind: 'message', of: 'Snapshot', isRepeated: true },
    { name: 'creationTime', number: 3, kind: 'message', of: 'Timestamp' },
    { name: 'readyToUse', number: 4, kind: 'bool' },
  ],
  'DeleteVolumeGroupSnapshotRequest': [
    { name: 'groupSnapshotId', number: 1, kind: 'string' },
    { name: 'snapshotIds', number: 2, kind: 'string', isRepeated: true },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
  ],
  'DeleteVolumeGroupSnapshotResponse': [],
  'GetVolumeGroupSnapshotRequest': [
    { name: 'groupSnapshotId', number: 1, kind: 'string' },
    { name: 'snapshotIds', number: 2, kind: 'string', isRepeated: true },
    { name: 'secrets', number: 3, kind: 'map', isSecret: true },
  ],
  'GetVolumeGroupSnapshotResponse': [
    { name: 'groupSnapshot', number: 1, kind: 'message', of: 'VolumeGroupSnapshot' },
  ],
  'BlockMetadata': [
    { name: 'byteOffset', number: 1, kind: 'int64' },
    { name: 'sizeBytes', number: 2, kind: 'int64' },
  ],
  'GetMetadataAllocatedRequest': [
    { name: 'snapshotId', number: 1, kind: 'string' },
    { name: 'startingOffset', number: 2, kind: 'int64' },
    { name: 'maxResults', number: 3, kind: 'int32' },
    { name: 'secrets', number: 4, kind: 'map', isSecret: true },
  ],
  'GetMetadataAllocatedResponse': [
    { name: 'blockMetadataType', number: 1, kind: 'enum', of: 'BlockMetadataType' },
    { name: 'volumeCapacityBytes', number: 2, kind: 'int64' },
    { name: 'blockMetadata', number: 3, kind: 'message', of: 'BlockMetadata', isRepeated: true },
  ],
  'GetMetadataDeltaRequest': [
    { name: 'baseSnapshotId', number: 1, kind: 'string' },
    { name: 'targetSnapshotId', number: 2, kind: 'string' },
    { name: 'startingOffset', number: 3, kind: 'int64' },
    { name: 'maxResults', number: 4, kind: 'int32' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
  ],
  'GetMetadataDeltaResponse': [
    { name: 'blockMetadataType', number: 1, kind: 'enum', of: 'BlockMetadataType' },
    { name: 'volumeCapacityBytes', number: 2, kind: 'int64' },
    { name: 'blockMetadata', number: 3, kind: 'message', of: 'BlockMetadata', isRepeated: true },
  ],
  'NodeStageVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'publishContext', number: 2, kind: 'map' },
    { name: 'stagingTargetPath', number: 3, kind: 'string' },
    { name: 'volumeCapability', number: 4, kind: 'message', of: 'VolumeCapability' },
    { name: 'secrets', number: 5, kind: 'map', isSecret: true },
    { name: 'volumeContext', number: 6, kind: 'map' },
  ],
  'NodeStageVolumeResponse': [],
  'NodeUnstageVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'stagingTargetPath', number: 2, kind: 'string' },
  ],
  'NodeUnstageVolumeResponse': [],
  'NodePublishVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'publishContext', number: 2, kind: 'map' },
    { name: 'stagingTargetPath', number: 3, kind: 'string' },
    { name: 'targetPath', number: 4, kind: 'string' },
    { name: 'volumeCapability', number: 5, kind: 'message', of: 'VolumeCapability' },
    { name: 'readonly', number: 6, kind: 'bool' },
    { name: 'secrets', number: 7, kind: 'map', isSecret: true },
    { name: 'volumeContext', number: 8, kind: 'map' },
  ],
  'NodePublishVolumeResponse': [],
  'NodeUnpublishVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'targetPath', number: 2, kind: 'string' },
  ],
  'NodeUnpublishVolumeResponse': [],
  'NodeGetVolumeStatsRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'volumePath', number: 2, kind: 'string' },
    { name: 'stagingTargetPath', number: 3, kind: 'string' },
  ],
  'NodeGetVolumeStatsResponse': [
    { name: 'usage', number: 1, kind: 'message', of: 'VolumeUsage', isRepeated: true },
    { name: 'volumeCondition', number: 2, kind: 'message', of: 'VolumeCondition' },
  ],
  'VolumeUsage': [
    { name: 'available', number: 1, kind: 'int64' },
    { name: 'total', number: 2, kind: 'int64' },
    { name: 'used', number: 3, kind: 'int64' },
    { name: 'unit', number: 4, kind: 'enum', of: 'VolumeUsage.Unit' },
  ],
  'NodeExpandVolumeRequest': [
    { name: 'volumeId', number: 1, kind: 'string' },
    { name: 'volumePath', number: 2, kind: 'string' },
    { name: 'capacityRange', number: 3, kind: 'message', of: 'CapacityRange' },
    { name: 'stagingTargetPath', number: 4, kind: 'string' },
    { name: 'volumeCapability', number: 5, kind: 'message', of: 'VolumeCapability' },
    { name: 'secrets', number: 6, kind: 'map', isSecret: true },
  ],
  'NodeExpandVolumeResponse': [
    { name: 'capacityBytes', number: 1, kind: 'int64' },
  ],
  'NodeGetCapabilitiesRequest': [],
  'NodeGetCapabilitiesResponse': [
    { name: 'capabilities', number: 1, kind: 'message', of: 'NodeServiceCapability', isRepeated: true },
  ],
  'NodeServiceCapability': [
    { name: 'rpc', number: 1, kind: 'message', of: 'NodeServiceCapability.RPC', oneof: 0 },
  ],
  'NodeServiceCapability.RPC': [
    { name: 'type', number: 1, kind: 'enum', of: 'NodeServiceCapability.RPC.Type' },
  ],
  'NodeGetInfoRequest': [],
  'NodeGetInfoResponse': [
    { name: 'nodeId', number: 1, kind: 'string' },
    { name: 'maxVolumesPerNode', number: 2, kind: 'int64' },
    { name: 'accessibleTopology', number: 3, kind: 'message', of: 'Topology' },
  ],
} as const;

/** Numbers of each enum, by its name without the package. */
export const enums = {
  'BlockMetadataType': { UNKNOWN: 0, FIXED_LENGTH: 1, VARIABLE_LENGTH: 2 },
  'PluginCapability.Service.Type': { UNKNOWN: 0, CONTROLLER_SERVICE: 1, VOLUME_ACCESSIBILITY_CONSTRAINTS: 2, GROUP_CONTROLLER_SERVICE: 3, SNAPSHOT_METADATA_SERVICE: 4 },
  'PluginCapability.VolumeExpansion.Type': { UNKNOWN: 0, ONLINE: 1, OFFLINE: 2 },
  'VolumeCapability.AccessMode.Mode': { UNKNOWN: 0, SINGLE_NODE_WRITER: 1, SINGLE_NODE_READER_ONLY: 2, MULTI_NODE_READER_ONLY: 3, MULTI_NODE_SINGLE_WRITER: 4, MULTI_NODE_MULTI_WRITER: 5, SINGLE_NODE_SINGLE_WRITER: 6, SINGLE_NODE_MULTI_WRITER: 7 },
  'ControllerServiceCapability.RPC.Type': { UNKNOWN: 0, CREATE_DELETE_VOLUME: 1, PUBLISH_UNPUBLISH_VOLUME: 2, LIST_VOLUMES: 3, GET_CAPACITY: 4, CREATE_DELETE_SNAPSHOT: 5, LIST_SNAPSHOTS: 6, CLONE_VOLUME: 7, PUBLISH_READONLY: 8, EXPAND_VOLUME: 9, LIST_VOLUMES_PUBLISHED_NODES: 10, VOLUME_CONDITION: 11, GET_VOLUME: 12, SINGLE_NODE_MULTI_WRITER: 13, MODIFY_VOLUME: 14, GET_SNAPSHOT: 15 },
  'GroupControllerServiceCapability.RPC.Type': { UNKNOWN: 0, CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: 1 },
  'VolumeUsage.Unit': { UNKNOWN: 0, BYTES: 1, INODES: 2 },
  'NodeServiceCapability.RPC.Type': { UNKNOWN: 0, STAGE_UNSTAGE_VOLUME: 1, GET_VOLUME_STATS: 2, EXPAND_VOLUME: 3, VOLUME_CONDITION: 4, SINGLE_NODE_MULTI_WRITER: 5, VOLUME_MOUNT_GROUP: 6 },
} as const;

/** Request and response of each RPC. */
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

/** Service and path of each RPC. RPCs that stream answer with any number of messages. */
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
