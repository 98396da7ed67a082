/**
 * Volumes: created (empty, from a snapshot or as a clone), shown, listed, checked, changed and deleted. Content comes
 * before its record: a volume with a record is complete.
 */
import { randomUUID } from 'node:crypto';
import type {
  CreateVolumeRequest,
  ValidateVolumeCapabilitiesRequest,
  VolumeContentSource,
} from '../../csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import { completeSnapshot, statusOf, volumeAnswer } from './answers.js';
import { capacityFor, capacityToGrowTo, checkRange, isInRange } from './capacity.js';
import type { Content } from './contents.js';
import type { ControllerContext } from './controller-context.js';
import type { AccessType } from './disk.js';
import { canBeHere, isHere, topologyOf } from './identity.js';
import { checkMutableParameters, checkVolumeParameters, rootModeOf, sameParameters } from './parameters.js';
import { checkSizes, entriesPage, invalid, notFound, requireId, requireName } from './requests.js';
import type { DriverState, VolumeRecord } from './state.js';
import {
  checkUsable,
  commonAccessType,
  requireCapabilities,
  requireCapability,
  sameCapabilities,
  whyNot,
} from './volume-capabilities.js';

const volumeIdPrefix = 'vol-';

export const volumeHandlers = (context: ControllerContext): CsiHandlers => ({
  CreateVolume: async (request) => {
    const wish = wishOf(request);
    const volume = await context.state.pending.only([`volume-name/${request.name}`], async () => {
      const existing = context.state.volumes.find(({ name }) => name === request.name);
      if (!existing) return withSource(context, wish, (origin) => create(context, wish, origin));
      checkSame(context.state, existing, wish);
      return existing;
    });
    return { volume: volumeAnswer(context, volume) };
  },

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
    const { items, nextToken } = entriesPage(context.state.volumes.all(), volumeIdPrefix, request);
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

/** A request that could belong to an existing volume. */
interface Wish {
  readonly request: CreateVolumeRequest;
  readonly accessType: AccessType;
  readonly source: VolumeRecord['source'];
}

interface Origin {
  readonly content: Content;
  readonly sizeBytes: number;
}

function wishOf(request: CreateVolumeRequest): Wish {
  checkSizes(request);
  requireName(request.name);
  const accessType = commonAccessType(request.volumeCapabilities);
  checkRange(request.capacityRange);
  checkVolumeParameters(request.parameters);
  checkMutableParameters(request.mutableParameters);
  if (accessType === 'block' && rootModeOf(request.parameters) !== undefined)
    throw invalid('rootMode has no use here: a block volume has no directory');
  return { request, accessType, source: sourceOf(request.volumeContentSource) };
}

function sourceOf(source: VolumeContentSource | undefined): VolumeRecord['source'] {
  if (!source) return undefined;
  if (source.snapshot) return { snapshotId: requireId('snapshotId', source.snapshot.snapshotId) };
  if (source.volume) return { volumeId: requireId('volumeId', source.volume.volumeId) };
  throw invalid('volume_content_source must name a snapshot or a volume');
}

/** @throws {CsiStatus} ALREADY_EXISTS: the name belongs to a volume with other properties */
function checkSame(state: DriverState, existing: VolumeRecord, { request, source }: Wish): void {
  const differs = (
    [
      ['capacity_range', isInRange(existing.capacityBytes, request.capacityRange)],
      ['volume_capabilities', sameCapabilities(existing.capabilities, request.volumeCapabilities)],
      ['parameters', sameParameters(existing.parameters, request.parameters)],
      ['volume_content_source', JSON.stringify(existing.source) === JSON.stringify(source)],
      ['accessibility_requirements', canBeHere(state, request.accessibilityRequirements)],
    ] as const
  ).flatMap(([field, isSame]) => (isSame ? [] : [field]));
  if (differs.length === 0) return;
  const message = `the volume ${existing.id} has this name, but another ${differs.join(', ')}: choose another name`;
  throw new CsiStatus('ALREADY_EXISTS', message);
}

/** Locks the source of the volume. */
function withSource<T>(
  context: ControllerContext,
  { source }: Wish,
  work: (origin?: Origin) => Promise<T>,
): Promise<T> {
  const { state } = context;
  if (!source) return work();
  if ('snapshotId' in source) {
    return state.pending.sharing(`snapshot/${source.snapshotId}`, async () => {
      const snapshot = completeSnapshot(state, source.snapshotId);
      if (!snapshot) throw notFound('snapshot', source.snapshotId);
      return work({ content: snapshot, sizeBytes: snapshot.sizeBytes });
    });
  }
  return state.pending.only([`volume/${source.volumeId}`], async () => {
    const volume = state.volumes.get(source.volumeId);
    if (!volume) throw notFound('volume', source.volumeId);
    return work({ content: volume, sizeBytes: volume.capacityBytes });
  });
}

async function create(context: ControllerContext, wish: Wish, origin: Origin | undefined): Promise<VolumeRecord> {
  const { state, contents, budget } = context;
  const { request, accessType, source } = wish;
  const copyOf = origin?.content;
  if (copyOf && copyOf.accessType !== accessType)
    throw invalid(`${copyOf.id} is ${copyOf.accessType}: a volume made from it can't be ${accessType}`);
  if (!canBeHere(state, request.accessibilityRequirements))
    throw new CsiStatus(
      'RESOURCE_EXHAUSTED',
      `volumes can only be made on ${JSON.stringify(topologyOf(state.nodeId))}`,
    );
  const bytes = capacityFor({ range: request.capacityRange, accessType, sourceBytes: origin?.sizeBytes });
  const id = volumeIdPrefix + randomUUID();
  return budget.take(id, bytes, async (capacityBytes) => {
    const volume: VolumeRecord = {
      id,
      name: request.name,
      accessType,
      capacityBytes,
      capabilities: request.volumeCapabilities,
      parameters: request.parameters,
      mutableParameters: request.mutableParameters,
      ...(source && { source }),
      publications: {},
    };
    const rootMode = rootModeOf(request.parameters);
    const content = { id, accessType, sizeBytes: capacityBytes, ...(copyOf && { copyOf }) };
    await contents.make({ ...content, ...(rootMode !== undefined && { rootMode }) });
    await contents.keep([volume], () => state.volumes.put(volume));
    return volume;
  });
}

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
  if (strange !== undefined) return `it was created with another value of parameter ${JSON.stringify(strange)}`;
  const unset = strangerIn(request.mutableParameters, volume.mutableParameters);
  return unset === undefined
    ? undefined
    : `it does not have the mutable parameter ${JSON.stringify(unset)} of that value`;
}

/** @returns a key that the others lack, or have with another value */
const strangerIn = (some: Record<string, string>, others: Record<string, string>): string | undefined =>
  Object.keys(some).find((key) => some[key] !== others[key]);
