/** Existing volumes: shown, listed, checked, changed and deleted. Creation: create-volume.ts */
import type { ValidateVolumeCapabilitiesRequest } from '../../csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import { capacityToGrowTo, checkRange } from './capacity.js';
import type { ControllerContext } from './controller-context.js';
import { volumeIdPrefix } from './create-volume.js';
import { pageOf } from './paging.js';
import { checkMutableParameters, checkVolumeParameters } from './parameters.js';
import { checkSizes, invalid, notFound, requireId } from './requests.js';
import type { DriverState, VolumeRecord } from './state.js';
import { isHere } from './topology.js';
import { statusOf, volumeAnswer } from './volume-answers.js';
import {
  checkUsable,
  commonAccessType,
  requireCapabilities,
  requireCapability,
  whyNot,
} from './volume-capabilities.js';

export const volumeHandlers = (context: ControllerContext): CsiHandlers => ({
  DeleteVolume: async (request) => {
    checkSizes(request);
    await deleteVolume(context, requireId('volumeId', request.volumeId));
    return {};
  },

  ControllerGetVolume: async (request) => {
    checkSizes(request);
    const volume = requireVolume(context.state, request.volumeId);
    return { volume: volumeAnswer(context, volume), status: await statusOf(context, volume) };
  },

  ListVolumes: async (request) => {
    checkSizes(request);
    const { items, nextToken } = pageOf(context.state.volumes.all(), volumeIdPrefix, request);
    const entries = [];
    for (const volume of items) {
      const status = await statusOf(context, volume);
      if (context.state.volumes.get(volume.id)) entries.push({ volume: volumeAnswer(context, volume), status });
    }
    return { entries, nextToken };
  },

  GetCapacity: (request) => {
    checkSizes(request);
    const { volumeCapabilities, parameters, accessibleTopology } = request;
    checkVolumeParameters(parameters);
    if (volumeCapabilities.length > 0) commonAccessType(volumeCapabilities);
    const isElsewhere = accessibleTopology !== undefined && !isHere(context.state, accessibleTopology);
    const left = isElsewhere ? 0 : context.budget.leftBytes();
    return { availableCapacity: left, maximumVolumeSize: left };
  },

  ValidateVolumeCapabilities: (request) => {
    checkSizes(request);
    requireId('volumeId', request.volumeId);
    requireCapabilities(request.volumeCapabilities);
    const reason = whyUnconfirmed(requireVolume(context.state, request.volumeId), request);
    if (reason !== undefined) return { message: reason };
    const { volumeCapabilities, parameters, mutableParameters } = request;
    return { confirmed: { volumeCapabilities, parameters, mutableParameters } };
  },

  ControllerExpandVolume: async (request) => {
    checkSizes(request);
    const id = requireId('volumeId', request.volumeId);
    if (!request.capacityRange) throw invalid('capacity_range is missing');
    checkRange(request.capacityRange);
    return context.state.pending.only([`volume/${id}`], async () => {
      const volume = requireVolume(context.state, id);
      if (request.volumeCapability) checkUsable(volume, requireCapability(request.volumeCapability));
      const bytes = capacityToGrowTo(volume, request.capacityRange);
      await expand(context, volume, bytes);
      // A directory has no size. The loop device of an image in use still has the old one.
      const nodeExpansionRequired = volume.accessType === 'block' && isInUse(context.state, id);
      return { capacityBytes: bytes, nodeExpansionRequired };
    });
  },

  ControllerModifyVolume: async (request) => {
    checkSizes(request);
    const id = requireId('volumeId', request.volumeId);
    if (Object.keys(request.mutableParameters).length === 0) throw invalid('mutable_parameters is missing');
    await context.state.pending.only([`volume/${id}`], async () => {
      const volume = requireVolume(context.state, id);
      checkMutableParameters(request.mutableParameters);
      const mutableParameters = { ...volume.mutableParameters, ...request.mutableParameters };
      await context.state.volumes.put({ ...volume, mutableParameters });
    });
    return {};
  },
});

/** @throws {CsiStatus} INVALID_ARGUMENT; NOT_FOUND */
export function requireVolume({ volumes }: DriverState, id: string): VolumeRecord {
  const volume = volumes.get(requireId('volumeId', id));
  if (!volume) throw notFound('volume', id);
  return volume;
}

/** Deletes the record first: an incomplete volume is never visible. Content that is left belongs to no volume. */
function deleteVolume({ state, contents, attach }: ControllerContext, id: string): Promise<void> {
  return state.pending.only([`volume/${id}`], async () => {
    const volume = state.volumes.get(id);
    if (!volume) return contents.removeLeft(id);
    const [node] = attach ? Object.keys(volume.publications) : [];
    if (node !== undefined) throw inUse(`is published to node ${node}: unpublish it first`);
    if (isInUse(state, id)) throw inUse('is staged or published on this node: unpublish and unstage it first');
    await contents.drop([volume], () => state.volumes.remove(id));
  });
}

const inUse = (why: string): CsiStatus => new CsiStatus('FAILED_PRECONDITION', `the volume ${why}`);

function isInUse({ uses }: DriverState, id: string): boolean {
  const use = uses.get(id);
  return use !== undefined && use.stagings.length + use.targets.length > 0;
}

/** Grows the image first: a volume is never smaller than its record says. */
async function expand(
  { state, contents, budget }: ControllerContext,
  volume: VolumeRecord,
  bytes: bigint,
): Promise<void> {
  if (bytes === BigInt(volume.capacityBytes)) return;
  await budget.take(volume.id, bytes, async (capacityBytes) => {
    if (volume.accessType === 'block') await contents.grow(volume, capacityBytes);
    await state.volumes.put({ ...volume, capacityBytes });
  });
}

function whyUnconfirmed(volume: VolumeRecord, request: ValidateVolumeCapabilitiesRequest): string | undefined {
  const reason = request.volumeCapabilities.map((capability) => whyNot(volume, capability)).find(Boolean);
  if (reason !== undefined) return reason;
  if (Object.keys(request.volumeContext).length > 0) return 'its volume_context is empty';
  const strange = strangerIn(request.parameters, volume.parameters);
  if (strange !== undefined) return `it was not made with the parameter ${JSON.stringify(strange)} of that value`;
  const unset = strangerIn(request.mutableParameters, volume.mutableParameters);
  return unset === undefined
    ? undefined
    : `it does not have the mutable parameter ${JSON.stringify(unset)} of that value`;
}

/** @returns a key that the others lack, or have with another value */
const strangerIn = (some: Record<string, string>, others: Record<string, string>): string | undefined =>
  Object.keys(some).find((key) => some[key] !== others[key]);
