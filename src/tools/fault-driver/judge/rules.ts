/** Rules for callers, given what they can know: one function per rule, and the requirements of CSI on a single call. */
import { isDeepStrictEqual } from 'node:util';
import type { RpcName } from '../../../csi/answers.js';
import { gates } from '../../../csi/gates.js';
import { rpcs } from '../../../csi/generated/plain.js';
import type { RecordedCall } from '../call.js';
import { changes, isOnNode, modeIn, objectIn, textIn } from '../requests.js';
import { type JudgedVolume, type KnownUse, modeOfCall, type World } from './world.js';

export type ViolationKind =
  | 'overlap'
  | 'field-missing'
  | 'not-offered'
  | 'volume-deleted'
  | 'not-attached'
  | 'not-staged'
  | 'still-attached'
  | 'still-staged'
  | 'still-published'
  | 'attached-elsewhere'
  | 'staged-elsewhere'
  | 'published-elsewhere'
  | 'wrong-publish-context'
  | 'wrong-volume-context';

/** Faults found, by kind. */
type Findings = Partial<Record<ViolationKind, string | undefined>>;

const attach = ['PUBLISH_UNPUBLISH_VOLUME'];
const stage = ['STAGE_UNSTAGE_VOLUME'];

const isForManyNodes = (mode: string): boolean => mode.startsWith('MULTI_NODE_');

/** Tells whether the mode allows several targets on one node. */
const isForManyTargets = (mode: string): boolean => isForManyNodes(mode) || mode === 'SINGLE_NODE_MULTI_WRITER';

/** Judges a call as it begins, before it changes what is known. */
export function findingsOf(call: RecordedCall, world: World): Findings {
  return { ...findingsByItself(call, world), ...findingsOfOrder(call, world) };
}

function findingsByItself(call: RecordedCall, world: World): Findings {
  const missing = missingIn(call);
  const { service } = rpcs[call.rpc];
  const refused = gatesOf(call).filter((capabilities) => world.offers(service, capabilities) === false);
  const named = refused.map((capabilities) => capabilities.join(' or '));
  return {
    'field-missing': missing.length > 0 ? `without ${missing.join(', ')}` : undefined,
    'not-offered': named.length > 0 ? `the driver does not offer ${named.join(', ')}` : undefined,
  };
}

function findingsOfOrder(call: RecordedCall, world: World): Findings {
  const volume = world.volume(textIn(call.request, 'volumeId'));
  const { nodeId } = call;
  switch (call.rpc) {
    case 'ControllerPublishVolume':
      return {
        ...ofDeleted(volume),
        ...ofVolumeContext(call, volume),
        'attached-elsewhere': besides(volume.attachments, world.useOf(call), 'attached', { mode: modeOfCall(call) }),
      };
    case 'NodeStageVolume':
      return {
        ...findingsBeforeUse(call, world, volume),
        'staged-elsewhere': besides(volume.stagings, world.useOf(call), 'staged', { mode: modeOfCall(call) }),
      };
    case 'NodePublishVolume':
      return {
        ...findingsBeforeUse(call, world, volume),
        'not-staged': notStaged(call, world, volume),
        'published-elsewhere': besides(volume.targets, world.useOf(call), 'published', {
          mode: modeOfCall(call),
          fitsOnNode: isForManyTargets,
        }),
      };
    case 'NodeUnstageVolume':
      return { 'still-published': inUse(volume.targets, 'published', nodeId) };
    case 'ControllerUnpublishVolume': {
      const from = textIn(call.request, 'nodeId') || undefined;
      return {
        'still-published': inUse(volume.targets, 'published', from),
        'still-staged': inUse(volume.stagings, 'staged', from),
      };
    }
    case 'DeleteVolume':
      return {
        'still-published': inUse(volume.targets, 'published'),
        'still-staged': inUse(volume.stagings, 'staged'),
        'still-attached': inUse(volume.attachments, 'attached'),
      };
    case 'ControllerExpandVolume':
    case 'ControllerModifyVolume':
    case 'NodeExpandVolume':
      return ofDeleted(volume);
    case 'CreateVolume':
    case 'CreateSnapshot':
    case 'CreateVolumeGroupSnapshot':
      return ofDeletedSources(call, world);
    default:
      return {};
  }
}

function findingsBeforeUse(call: RecordedCall, world: World, volume: JudgedVolume): Findings {
  const attached = volume.attachments.get(`${call.nodeId}\0`)?.thing.certainty ?? 'no';
  const isNeeded = world.offers('Controller', attach) === true;
  const given = objectIn(call.request, 'publishContext');
  const known = volume.publishContexts.get(call.nodeId);
  return {
    ...ofDeleted(volume),
    ...ofVolumeContext(call, volume),
    'not-attached':
      isNeeded && attached !== 'yes' ? `it is not known to be attached to ${call.nodeId} (${attached})` : undefined,
    'wrong-publish-context':
      known && !isDeepStrictEqual({ ...known }, { ...given })
        ? `with the publish context ${JSON.stringify(given)}, but ControllerPublishVolume gave ${JSON.stringify(known)}`
        : undefined,
  };
}

function notStaged({ request, nodeId }: RecordedCall, world: World, volume: JudgedVolume): string | undefined {
  if (world.offers('Node', stage) !== true) return undefined;
  const path = textIn(request, 'stagingTargetPath');
  const staged = volume.stagings.get(`${nodeId}\0${path}`)?.thing.certainty ?? 'no';
  if (staged === 'yes') return undefined;
  return path ? `it is not known to be staged at ${path} (${staged})` : 'without a staging path';
}

const ofDeleted = ({ deletion }: JudgedVolume): Findings => ({
  'volume-deleted': deletion.certainty === 'no' ? undefined : `it was deleted (${deletion.certainty})`,
});

function ofDeletedSources({ request }: RecordedCall, world: World): Findings {
  const ids: unknown[] = [
    textIn(request, 'sourceVolumeId'),
    textIn(objectIn(objectIn(request, 'volumeContentSource'), 'volume'), 'volumeId'),
    ...Object.values(objectIn(request, 'sourceVolumeIds')),
  ];
  const gone = ids
    .map((id) => world.volume(String(id)))
    .filter(({ deletion }) => deletion.certainty !== 'no')
    .map(({ id, deletion }) => `its source ${id} was deleted (${deletion.certainty})`);
  return { 'volume-deleted': gone.join(', ') || undefined };
}

function ofVolumeContext({ request }: RecordedCall, { context }: JudgedVolume): Findings {
  const given = objectIn(request, 'volumeContext');
  if (!context || isDeepStrictEqual({ ...context }, { ...given })) return {};
  const text = `with the volume context ${JSON.stringify(given)}, but CreateVolume gave ${JSON.stringify(context)}`;
  return { 'wrong-volume-context': text };
}

/** Lists uses on this node, or on any, that exist or may exist. */
function inUse(uses: ReadonlyMap<string, KnownUse>, how: string, nodeId?: string): string | undefined {
  return told(
    [...uses.values()].filter((use) => (nodeId ?? use.nodeId) === use.nodeId),
    how,
  );
}

interface Fit {
  /** Access mode of the judged call. */
  mode: string;
  /** Tells whether a mode allows several uses on one node. Default: no mode does. */
  fitsOnNode?: (mode: string) => boolean;
}

/** Finds other uses of the same volume, on this node or another, that the access modes of both do not allow. */
function besides(
  uses: ReadonlyMap<string, KnownUse>,
  own: KnownUse | undefined,
  how: string,
  { mode, fitsOnNode = () => false }: Fit,
): string | undefined {
  const isInTheWay = (use: KnownUse): boolean => {
    const fits = use.nodeId === own?.nodeId ? fitsOnNode : isForManyNodes;
    return use !== own && !(fits(mode) && fits(use.mode));
  };
  return told([...uses.values()].filter(isInTheWay), how);
}

function told(uses: readonly KnownUse[], how: string): string | undefined {
  const there = uses.filter(({ thing, isFenced }) => thing.certainty !== 'no' && !isFenced);
  if (there.length === 0) return undefined;
  const named = there.map(({ path, thing, nodeId }) => `${path ? `at ${path} ` : ''}on ${nodeId} (${thing.certainty})`);
  return `it is ${how} ${named.join(', ')}`;
}

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
function missingIn({ rpc, request }: RecordedCall): string[] {
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
function gatesOf({ rpc, request }: RecordedCall): (readonly string[])[] {
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
