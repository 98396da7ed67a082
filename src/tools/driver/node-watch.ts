/** NodeGetVolumeStats and NodeExpandVolume: for volumes that are staged or published. */
import type {
  CapacityRange,
  NodeExpandVolumeRequest,
  NodeGetVolumeStatsRequest,
  NodeGetVolumeStatsResponse,
  VolumeCondition,
  VolumeUsage,
} from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import { idOf, tidied } from './node-requests.js';
import type { NodeVolumes } from './node-volumes.js';
import { warnAboveShareOf } from './parameters.js';
import { checkSizes } from './requests.js';
import type { VolumeRecord } from './state.js';
import { fileSystemUsage, type PatientMeasure, type Usage } from './usage.js';
import { accessTypeOf } from './volume-capabilities.js';

interface Place {
  volumeId: string;
  volumePath: string;
}

const countedStill =
  'in use as requested; its content is still being counted: until then the figures are those of its file system';

export async function stats(
  volumes: NodeVolumes,
  measure: PatientMeasure,
  request: NodeGetVolumeStatsRequest,
): Promise<NodeGetVolumeStatsResponse> {
  checkSizes(request);
  const volume = volumeAt(volumes, request);
  const { id, accessType, capacityBytes } = volume;
  const fault = await faultAt(volumes, volume, request.volumePath);
  const condition = (abnormal?: string, normal = 'in use as asked for'): VolumeCondition => ({
    abnormal: abnormal !== undefined,
    message: abnormal ?? normal,
  });
  if (accessType === 'block') {
    const usage: VolumeUsage = { unit: 'BYTES', total: BigInt(capacityBytes), available: 0n, used: 0n };
    return { usage: [usage], volumeCondition: condition(fault) };
  }
  if (!(await volumes.hasContent(id, accessType))) return { usage: [], volumeCondition: condition(fault) };
  const content = volumes.contentOf(id, accessType);
  const usage = await measure(content);
  if (!usage) return { usage: await fileSystemUsage(content), volumeCondition: condition(fault, countedStill) };
  return { usage: usageOf(capacityBytes, usage), volumeCondition: condition(fault ?? fullness(volume, usage)) };
}

export async function expand(
  volumes: NodeVolumes,
  request: NodeExpandVolumeRequest,
): Promise<{ capacityBytes: bigint }> {
  checkSizes(request);
  const { id } = volumeAt(volumes, request);
  return volumes.only(id, tidied(request.volumePath), async () => {
    const volume = volumes.volume(id);
    const { volumeCapability } = request;
    if (volumeCapability && accessTypeOf(volumeCapability) !== volume.accessType) {
      throw new CsiStatus('INVALID_ARGUMENT', `the volume ${id} is of access type ${volume.accessType}: ask for that`);
    }
    checkRange(volume, request.capacityRange);
    await volumes.resize(volume);
    return { capacityBytes: BigInt(volume.capacityBytes) };
  });
}

/** @throws {CsiStatus} NOT_FOUND: no such volume, or not staged or published there */
function volumeAt(volumes: NodeVolumes, { volumeId, volumePath }: Place): VolumeRecord {
  const id = idOf(volumeId);
  if (volumePath === '') throw new CsiStatus('INVALID_ARGUMENT', 'volume_path is missing');
  const volume = volumes.volume(id);
  if (volumes.useAt(id, volumePath)) return volume;
  const message = `the volume ${id} is neither staged nor published at ${JSON.stringify(volumePath)}`;
  throw new CsiStatus('NOT_FOUND', message);
}

async function faultAt(
  volumes: NodeVolumes,
  { id, accessType }: VolumeRecord,
  path: string,
): Promise<string | undefined> {
  if (!(await volumes.hasContent(id, accessType))) {
    return `what is in it is gone: ${volumes.contentOf(id, accessType)} is not there; put it back`;
  }
  const use = volumes.useAt(id, path);
  const access = volumes.accessTo(id, accessType);
  if (use && 'target' in use && !(await access.isPublished(use.target))) {
    return `it is not mounted at ${path} any more: publish it again`;
  }
  if (use && 'staging' in use && !(await access.isStaged(use.staging))) {
    return `it is not staged at ${path} any more: stage it again`;
  }
  return undefined;
}

function fullness({ capacityBytes, mutableParameters }: VolumeRecord, { usedBytes }: Usage): string | undefined {
  const share = warnAboveShareOf(mutableParameters);
  if (share === undefined || usedBytes <= capacityBytes * share) return undefined;
  return `${usedBytes} of ${capacityBytes} bytes are used, more than ${Math.round(share * 100)} %: free some, or expand it`;
}

const usageOf = (capacityBytes: number, usage: Usage): VolumeUsage[] => [
  {
    unit: 'BYTES',
    total: BigInt(capacityBytes),
    used: BigInt(usage.usedBytes),
    available: BigInt(Math.max(0, Math.min(capacityBytes - usage.usedBytes, usage.freeBytes))),
  },
  {
    unit: 'INODES',
    total: BigInt(usage.usedInodes + usage.freeInodes),
    used: BigInt(usage.usedInodes),
    available: BigInt(usage.freeInodes),
  },
];

/** Refuses a size that the controller has not given yet. */
function checkRange({ id, capacityBytes }: VolumeRecord, range: CapacityRange | undefined): void {
  if (!range) return;
  const { requiredBytes, limitBytes } = range;
  if (requiredBytes < 0n || limitBytes < 0n || (limitBytes > 0n && limitBytes < requiredBytes)) {
    throw new CsiStatus(
      'INVALID_ARGUMENT',
      `capacity_range is not a range: from ${requiredBytes} to ${limitBytes} bytes`,
    );
  }
  if (requiredBytes > BigInt(capacityBytes)) {
    const message = `the volume ${id} has ${capacityBytes} bytes: ControllerExpandVolume it to ${requiredBytes} first`;
    throw new CsiStatus('OUT_OF_RANGE', message);
  }
  if (limitBytes > 0n && limitBytes < BigInt(capacityBytes)) {
    throw new CsiStatus('OUT_OF_RANGE', `the volume ${id} has ${capacityBytes} bytes already, more than ${limitBytes}`);
  }
}
