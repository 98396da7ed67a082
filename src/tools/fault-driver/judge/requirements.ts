/** Requirements of CSI on a single call: its fields, and the capabilities that offer it. */
import type { RpcName } from '../../../csi/answers.js';
import { gates } from '../../../csi/gates.js';
import type { RecordedCall } from '../call.js';
import { changes, isOnNode, textIn } from '../subjects.js';
import { modeIn, objectIn } from './fields.js';

const stageFields = ['volumeId', 'stagingTargetPath'];

const requiredFields: Readonly<Partial<Record<RpcName, readonly string[]>>> = {
  CreateVolume: ['name', 'volumeCapabilities'],
  DeleteVolume: ['volumeId'],
  ControllerPublishVolume: ['volumeId', 'nodeId', 'volumeCapability'],
  // Without a node id the call concerns all nodes: allowed, and a mistake of any caller with more than one node.
  ControllerUnpublishVolume: ['volumeId', 'nodeId'],
  ValidateVolumeCapabilities: ['volumeId', 'volumeCapabilities'],
  ControllerGetVolume: ['volumeId'],
  ControllerModifyVolume: ['volumeId', 'mutableParameters'],
  ControllerExpandVolume: ['volumeId', 'capacityRange'],
  CreateSnapshot: ['name', 'sourceVolumeId'],
  DeleteSnapshot: ['snapshotId'],
  GetSnapshot: ['snapshotId'],
  CreateVolumeGroupSnapshot: ['name', 'sourceVolumeIds'],
  DeleteVolumeGroupSnapshot: ['groupSnapshotId', 'snapshotIds'],
  GetVolumeGroupSnapshot: ['groupSnapshotId', 'snapshotIds'],
  GetMetadataAllocated: ['snapshotId'],
  GetMetadataDelta: ['baseSnapshotId', 'targetSnapshotId'],
  NodeStageVolume: [...stageFields, 'volumeCapability'],
  NodeUnstageVolume: stageFields,
  NodePublishVolume: ['volumeId', 'targetPath', 'volumeCapability'],
  NodeUnpublishVolume: ['volumeId', 'targetPath'],
  NodeGetVolumeStats: ['volumeId', 'volumePath'],
  NodeExpandVolume: ['volumeId', 'volumePath'],
};

/** Lists the paths of missing fields. */
export function missingIn({ rpc, request }: RecordedCall): string[] {
  const missing = (requiredFields[rpc] ?? []).filter((field) => isEmpty(Reflect.get(request, field)));
  const ofCapabilities = capabilitiesIn(request).flatMap(({ path, capability }) => [
    ...(Reflect.has(capability, 'mount') || Reflect.has(capability, 'block') ? [] : [`${path}.mount or ${path}.block`]),
    ...(['', 'UNKNOWN'].includes(modeIn(capability)) ? [`${path}.accessMode`] : []),
  ]);
  return [...missing, ...ofCapabilities];
}

/** True also for a list, map or range without content. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (typeof value === 'object' && Object.values(value ?? {}).every(isZero));

const isZero = (value: unknown): boolean => value === 0n;

function capabilitiesIn(request: object): { path: string; capability: object }[] {
  const one: unknown = Reflect.get(request, 'volumeCapability');
  const many: unknown = Reflect.get(request, 'volumeCapabilities');
  return [
    ...(one === undefined ? [] : [{ path: 'volumeCapability', capability: objectIn(request, 'volumeCapability') }]),
    ...(Array.isArray(many) ? many : []).map((capability: object, index) => ({
      path: `volumeCapabilities[${index}]`,
      capability,
    })),
  ];
}

const newerModes: readonly string[] = ['SINGLE_NODE_SINGLE_WRITER', 'SINGLE_NODE_MULTI_WRITER'];

/** Lists the capabilities that a call needs: of each inner list, any one of the same service. */
export function gatesOf({ rpc, request }: RecordedCall): (readonly string[])[] {
  const source = objectIn(request, 'volumeContentSource');
  const capabilities = capabilitiesIn(request).map(({ capability }) => capability);
  // Callers may ask any driver whether a volume supports a newer mode.
  const isNewer = changes(rpc) && capabilities.some((capability) => newerModes.includes(modeIn(capability)));
  const isReadonly = rpc === 'ControllerPublishVolume' && Reflect.get(request, 'readonly') === true;
  const hasGroup = capabilities.some((capability) => textIn(objectIn(capability, 'mount'), 'volumeMountGroup') !== '');
  return [
    gates.get(rpc) ?? [],
    isNewer ? ['SINGLE_NODE_MULTI_WRITER'] : [],
    isReadonly ? ['PUBLISH_READONLY'] : [],
    hasGroup && isOnNode(rpc) ? ['VOLUME_MOUNT_GROUP'] : [],
    Reflect.has(source, 'snapshot') ? ['CREATE_DELETE_SNAPSHOT'] : [],
    Reflect.has(source, 'volume') ? ['CLONE_VOLUME'] : [],
  ].filter(({ length }) => length > 0);
}
