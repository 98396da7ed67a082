/** Reads requests of any RPC: fields, whether it changes anything, and on which subjects. */
import type { RpcName } from '../../csi/answers.js';
import { rpcs } from '../../csi/generated/plain.js';

/** Calls that change nothing may overlap. */
const changing: ReadonlySet<RpcName> = new Set<RpcName>([
  'CreateVolume',
  'DeleteVolume',
  'ControllerPublishVolume',
  'ControllerUnpublishVolume',
  'ControllerExpandVolume',
  'ControllerModifyVolume',
  'CreateSnapshot',
  'DeleteSnapshot',
  'CreateVolumeGroupSnapshot',
  'DeleteVolumeGroupSnapshot',
  'NodeStageVolume',
  'NodeUnstageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeExpandVolume',
]);

export const changes = (rpc: RpcName): boolean => changing.has(rpc);

export const isOnNode = (rpc: RpcName): boolean => rpcs[rpc].service === 'Node';

/** Reads a text field of a request; empty if the request has no such field. */
export function textIn(request: object, field: string): string {
  const value: unknown = Reflect.get(request, field);
  return typeof value === 'string' ? value : '';
}

/** Reads a message within a message; an empty one if it is absent. */
export function objectIn(message: object, field: string): object {
  const value: unknown = Reflect.get(message, field);
  return typeof value === 'object' && value !== null ? value : {};
}

/** Reads the access mode of a volume capability; empty if there is none. */
export const modeIn = (capability: object): string => textIn(objectIn(capability, 'accessMode'), 'mode');

/**
 * Subjects of a call: objects on which CSI wants at most one operation at a time, e.g. `volume v-1`, `snapshot s-1`; an
 * object without id by its name: `new volume data`.
 */
export function subjectsOf(rpc: RpcName, request: object): string[] {
  const made = { CreateVolume: 'volume', CreateSnapshot: 'snapshot', CreateVolumeGroupSnapshot: 'group snapshot' };
  const kind = Object.entries(made).find(([maker]) => maker === rpc)?.[1];
  return [
    ...(kind ? [`new ${kind} ${textIn(request, 'name')}`] : []),
    ...['volumeId', 'sourceVolumeId']
      .map((field) => textIn(request, field))
      .filter(Boolean)
      .map(asVolume),
    ...sourcesIn(request).map(asVolume),
    ...[textIn(request, 'snapshotId')].filter(Boolean).map((id) => `snapshot ${id}`),
    ...[textIn(request, 'groupSnapshotId')].filter(Boolean).map((id) => `group snapshot ${id}`),
  ];
}

const asVolume = (id: string): string => `volume ${id}`;

function sourcesIn(request: object): string[] {
  const sources: unknown = Reflect.get(request, 'sourceVolumeIds');
  return Array.isArray(sources) ? sources.map(String) : [];
}
