/**
 * CreateVolume: empty, from a snapshot, or as a clone. First the content, then the record: a volume with a record is
 * complete.
 */
import { randomUUID } from 'node:crypto';
import type { CreateVolumeRequest, VolumeContentSource } from '../../csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import { capacityFor, checkRange, isWithin } from './capacity.js';
import type { Content } from './contents.js';
import type { ControllerContext } from './controller-context.js';
import type { AccessType } from './disk.js';
import { topologyOf } from './identity.js';
import { checkMutableParameters, checkVolumeParameters, rootModeOf, sameParameters } from './parameters.js';
import { checkSizes, invalid, notFound, requireId, requireName } from './requests.js';
import { completeSnapshot } from './snapshot-answers.js';
import type { DriverState, VolumeRecord } from './state.js';
import { canBeHere } from './topology.js';
import { volumeAnswer } from './volume-answers.js';
import { commonAccessType, sameCapabilities } from './volume-capabilities.js';

export const volumeIdPrefix = 'vol-';

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

export const createVolumeHandlers = (context: ControllerContext): CsiHandlers => ({
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
});

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
      ['capacity_range', isWithin(existing.capacityBytes, request.capacityRange)],
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
