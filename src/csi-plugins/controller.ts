/**
 * Controller calls of CSI: translates between the house's types and messages. The callers decide on calls and errors.
 * The port: volumes/controller-port.ts
 */
import type { CallFailure, Capability, CapacityRange, Segments } from '../../machines/kit/csi-types.js';
import type { VolumeSpec } from '../../machines/volume/types.js';
import type { CreatedVolume } from '../../machines/volume/wishes.js';
import type { CallBounds } from '../calls/call-bounds.js';
import type { CsiClient } from '../csi/client.js';
import { csiError, cutText } from '../csi/codes.js';
import type { CallOptions } from '../csi/csi-calls.js';
import { leftOutOf } from '../csi/fields.js';
import type * as plain from '../csi/generated/plain.js';
import { withoutSecrets } from '../csi/secrets.js';
import type { ControllerPort, ListedPage, ListRequest } from '../volumes/controller-port.js';
import { boundedBy, csi } from './bounded.js';
import { bytesOf, capacityRange, conditionIn, modeOf, volumeCapability } from './volume-words.js';

export const csiController = ({ timeoutMs }: { timeoutMs: number }): ControllerPort => {
  const bounded = boundedBy(timeoutMs);
  return {
    async createVolume(client, { name, spec, withTopology }, bounds) {
      const { volume } = await csi(client).createVolume(
        createRequest(name, spec, { withTopology, secrets: bounds.secrets }),
        bounded(bounds),
      );
      if (!volume?.volumeId)
        throw csiError('CreateVolume', 'OK', 'the plugin answered OK without a volume id', 'driver-bug');
      const fault = faultIn(volume, spec);
      const lacksSource = fault === undefined ? lackingSource(volume, spec) : undefined;
      const lacks = fault ?? lacksSource;
      return {
        ...createdVolume(volume),
        ...(lacks !== undefined && { fault: notAsAsked(volume, lacks) }),
        ...(lacksSource !== undefined && { lacksSource: true }),
      };
    },
    async validateVolume(client, { csiId, spec }, bounds) {
      const volumeCapabilities = spec.capabilities.map(volumeCapability);
      const volumeContext = spec.external?.context ?? {};
      const { parameters, mutableParameters } = spec;
      const request = { volumeId: csiId, volumeContext, volumeCapabilities, parameters, mutableParameters };
      const answer = await csi(client).validateVolumeCapabilities(
        { ...request, secrets: bounds.secrets },
        bounded(bounds),
      );
      const message = cutText(withoutSecrets(answer.message, Object.values(bounds.secrets)));
      return refusalIn({ ...answer, message }, spec.capabilities);
    },
    deleteVolume: (client, { csiId }, bounds) =>
      csi(client).deleteVolume({ volumeId: csiId, secrets: bounds.secrets }, bounded(bounds)),
    controllerPublish: (client, { csiId, csiNodeId, capability, readOnly, volumeContext }, bounds) =>
      csi(client).controllerPublishVolume(
        {
          volumeId: csiId,
          nodeId: csiNodeId,
          volumeCapability: volumeCapability(capability),
          readonly: readOnly,
          secrets: bounds.secrets,
          volumeContext,
        },
        bounded(bounds),
      ),
    controllerUnpublish: (client, { csiId, csiNodeId }, bounds) =>
      csi(client).controllerUnpublishVolume(
        { volumeId: csiId, nodeId: csiNodeId, secrets: bounds.secrets },
        bounded(bounds),
      ),
    async controllerExpand(client, { csiId, capacity, capability }, bounds) {
      const { capacityBytes, nodeExpansionRequired } = await csi(client).controllerExpandVolume(
        {
          volumeId: csiId,
          capacityRange: capacityRange(capacity),
          secrets: bounds.secrets,
          ...(capability && { volumeCapability: volumeCapability(capability) }),
        },
        bounded(bounds),
      );
      const fault = smallerThanAsked(capacityBytes, capacity);
      if (fault !== undefined)
        throw csiError(
          'ControllerExpandVolume',
          'OK',
          `the plugin has not made the volume as large as it was asked to: ${fault}`,
          'driver-bug',
        );
      return { nodeExpansionRequired, ...(capacityBytes > 0n && { capacityBytes: bytesOf(capacityBytes) }) };
    },
    controllerModify: (client, { csiId, mutableParameters }, bounds) =>
      csi(client).controllerModifyVolume(
        { volumeId: csiId, secrets: bounds.secrets, mutableParameters },
        bounded(bounds),
      ),
    listVolumes: (client, page, bounds) => listed(csi(client), page, bounded(bounds)),
    async getCapacity(client, { capability, parameters = {}, segments }, bounds) {
      const answer = await csi(client).getCapacity(
        {
          volumeCapabilities: capability ? [volumeCapability(capability)] : [],
          parameters,
          ...(segments && { accessibleTopology: { segments } }),
        },
        bounded(bounds),
      );
      const { availableCapacity, maximumVolumeSize, minimumVolumeSize } = answer;
      return {
        availableBytes: bytesOf(availableCapacity),
        ...(maximumVolumeSize !== undefined && { maximumVolumeBytes: bytesOf(maximumVolumeSize) }),
        ...(minimumVolumeSize !== undefined && { minimumVolumeBytes: bytesOf(minimumVolumeSize) }),
      };
    },
  };
};

async function listed(client: CsiClient, request: ListRequest, options: CallOptions): Promise<ListedPage> {
  const { entries, nextToken } = await client.listVolumes(request, options);
  const volumes = entries.flatMap(({ volume, status }) => {
    if (!volume) return [];
    const { volumeCondition } = status ?? {};
    return {
      csiId: volume.volumeId,
      ...(status && { publishedNodeIds: status.publishedNodeIds }),
      ...(volumeCondition && { condition: conditionIn(volumeCondition) }),
    };
  });
  const leftOut = leftOutOf(entries);
  return { volumes, nextToken, ...(leftOut && { leftOut }) };
}

function createRequest(
  name: string,
  { capacity, capabilities, parameters, mutableParameters, topology, source }: VolumeSpec,
  { withTopology, secrets }: Pick<CallBounds, 'secrets'> & { withTopology: boolean },
): Parameters<CsiClient['createVolume']>[0] {
  const { requisite } = topology;
  // Some drivers look at the preferred ones alone.
  const preferred = topology.preferred.length > 0 ? topology.preferred : requisite;
  const hasRange = capacity.requiredBytes !== undefined || capacity.limitBytes !== undefined;
  return {
    name,
    volumeCapabilities: capabilities.map(volumeCapability),
    parameters,
    mutableParameters,
    secrets,
    ...(hasRange && { capacityRange: capacityRange(capacity) }),
    ...(source && { volumeContentSource: contentSource(source) }),
    ...(withTopology &&
      requisite.length + preferred.length > 0 && {
        accessibilityRequirements: { requisite: requisite.map(topologyOf), preferred: preferred.map(topologyOf) },
      }),
  };
}

const contentSource = (source: NonNullable<VolumeSpec['source']>): plain.VolumeContentSource =>
  'volume' in source ? { volume: { volumeId: source.csiId } } : { snapshot: { snapshotId: source.csiId } };

const topologyOf = (segments: Segments): plain.Topology => ({ segments });

const createdVolume = ({
  volumeId,
  volumeContext,
  capacityBytes,
  accessibleTopology,
}: plain.Volume): CreatedVolume => ({
  id: volumeId,
  context: volumeContext,
  accessibleTopology: accessibleTopology.map(({ segments }) => segments),
  ...(capacityBytes > 0n && { capacityBytes: bytesOf(capacityBytes) }),
});

const smallerThanAsked = (capacityBytes: bigint, { requiredBytes = 0 }: CapacityRange): string | undefined =>
  capacityBytes > 0n && capacityBytes < BigInt(requiredBytes)
    ? `it has ${capacityBytes} bytes, though at least ${requiredBytes} were asked for`
    : undefined;

/** Names what the created volume lacks; size 0 means that the plugin does not tell. */
function faultIn({ capacityBytes }: plain.Volume, { capacity }: VolumeSpec): string | undefined {
  const { limitBytes = 0 } = capacity;
  const small = smallerThanAsked(capacityBytes, capacity);
  if (small !== undefined) return small;
  if (BigInt(limitBytes) > 0n && capacityBytes > BigInt(limitBytes))
    return `it has ${capacityBytes} bytes, though ${limitBytes} at most were asked for`;
  return undefined;
}

function lackingSource({ contentSource }: plain.Volume, { source }: VolumeSpec): string | undefined {
  if (!source || contentSource) return undefined;
  const asked = 'volume' in source ? 'volume' : 'snapshot';
  return `it was to have the content of ${asked} ${source.csiId}, but the plugin does not say that it has: it may be empty`;
}

/** A final error: the same call again would return the same volume. */
function notAsAsked({ volumeId }: plain.Volume, fault: string): CallFailure {
  const text = `the plugin has made ${volumeId}, but not as it was asked to: ${fault}`;
  const { code, message } = csiError('CreateVolume', 'OK', text, 'driver-bug');
  return { code, message, final: true, rpc: 'CreateVolume', grpcCode: 'OK', answerClass: 'driver-bug' };
}

/** Names what the plugin does not confirm: it may confirm less than was asked. */
function refusalIn(
  { confirmed, message }: plain.ValidateVolumeCapabilitiesResponse,
  capabilities: Capability[],
): string | undefined {
  if (!confirmed) return `the plugin does not confirm it: ${message || 'it gives no reason'}`;
  const isConfirmed = (capability: Capability): boolean =>
    confirmed.volumeCapabilities.some(
      ({ accessMode, block }) =>
        accessMode?.mode === modeOf(capability) &&
        (block !== undefined) === (capability.attachmentMode === 'block-device'),
    );
  const missing = capabilities.filter((capability) => !isConfirmed(capability));
  if (missing.length === 0) return undefined;
  const names = missing.map(({ attachmentMode, accessMode }) => `${attachmentMode}, ${accessMode}`).join('; ');
  return `the plugin does not confirm ${names}${message ? `: ${message}` : ''}`;
}
