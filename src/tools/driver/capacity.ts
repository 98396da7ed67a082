/** Sizes of volumes, and the total that may be given away. A snapshot takes the size of its content. */
import { statfs } from 'node:fs/promises';
import type { CapacityRange } from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import type { AccessType } from './disk.js';
import type { Records } from './records.js';
import { invalid } from './requests.js';
import type { VolumeRecord } from './state.js';

const defaultBytes = 2n ** 30n;
/** Sector of a block device, in bytes. */
const sectors = 512n;

/** Size of the file system, with others' files: a volume takes room only as it is filled. */
export async function fileSystemBytes(path: string): Promise<number> {
  const { blocks, bsize } = await statfs(path);
  return blocks * bsize;
}

interface Asked {
  readonly range: CapacityRange | undefined;
  readonly accessType: AccessType;
  /** Size of the source, which has to fit. */
  readonly sourceBytes?: number | undefined;
}

/**
 * Capacity of a new volume.
 * @throws {CsiStatus} INVALID_ARGUMENT: an impossible range; OUT_OF_RANGE: smaller than the source, or no multiple of
 *   a sector
 */
export function capacityFor({ range, accessType, sourceBytes }: Asked): bigint {
  const { requiredBytes, limitBytes } = checkRange(range);
  const isBlock = accessType === 'block';
  const most = limitBytes === 0n ? undefined : isBlock ? limitBytes - (limitBytes % sectors) : limitBytes;
  const unasked = sourceBytes === undefined ? min(defaultBytes, most ?? defaultBytes) : BigInt(sourceBytes);
  const asked = isBlock ? roundUp(requiredBytes) : requiredBytes;
  const bytes = requiredBytes > 0n ? asked : unasked;
  if (bytes < BigInt(sourceBytes ?? 1)) throw outOfRange(`it would begin with ${sourceBytes ?? 1} bytes`);
  if (most !== undefined && bytes > most) throw outOfRange(`it needs ${bytes} bytes: let limit_bytes be that, or more`);
  return bytes;
}

/**
 * Capacity that a volume grows to.
 * @throws {CsiStatus} as `capacityFor`, and OUT_OF_RANGE: larger than the limit
 */
export function capacityToGrowTo(volume: VolumeRecord, range: CapacityRange | undefined): bigint {
  if (!range || (range.requiredBytes === 0n && range.limitBytes === 0n)) throw invalid('capacity_range is missing');
  const { requiredBytes, limitBytes } = checkRange(range);
  const wanted = volume.accessType === 'block' ? roundUp(requiredBytes) : requiredBytes;
  const bytes = max(wanted, BigInt(volume.capacityBytes));
  if (limitBytes > 0n && bytes > limitBytes) throw outOfRange(`volumes do not shrink, and it needs ${bytes} bytes`);
  return bytes;
}

/** @returns whether the range allows this capacity */
export function isInRange(capacityBytes: number, range: CapacityRange | undefined): boolean {
  const { requiredBytes, limitBytes } = checkRange(range);
  const bytes = BigInt(capacityBytes);
  return bytes >= requiredBytes && (limitBytes === 0n || bytes <= limitBytes);
}

/** @throws {CsiStatus} INVALID_ARGUMENT: negative, or upside down */
export function checkRange(range: CapacityRange | undefined): CapacityRange {
  const { requiredBytes, limitBytes } = range ?? { requiredBytes: 0n, limitBytes: 0n };
  if (requiredBytes < 0n || limitBytes < 0n) throw invalid('capacity_range has a negative number');
  if (limitBytes > 0n && limitBytes < requiredBytes) throw invalid('limit_bytes is below required_bytes');
  return { requiredBytes, limitBytes };
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const roundUp = (bytes: bigint): bigint => ((bytes + sectors - 1n) / sectors) * sectors;

const outOfRange = (why: string): CsiStatus => new CsiStatus('OUT_OF_RANGE', `no volume of that capacity: ${why}`);

/** Total capacity: given away, being given, and left. */
export class Budget {
  readonly #totalBytes: number;
  readonly #volumes: Records<VolumeRecord>;
  /** Capacities being given, by volume. */
  readonly #held = new Map<string, number>();

  constructor(totalBytes: number, volumes: Records<VolumeRecord>) {
    this.#totalBytes = totalBytes;
    this.#volumes = volumes;
  }

  leftBytes(): number {
    const given = new Map(this.#volumes.all().map(({ id, capacityBytes }) => [id, capacityBytes]));
    for (const [id, bytes] of this.#held) given.set(id, bytes);
    return Math.max(0, this.#totalBytes - [...given.values()].reduce((sum, bytes) => sum + bytes, 0));
  }

  /**
   * Holds the capacity of a volume until the work has ended: by then the record has it.
   * @throws {CsiStatus} OUT_OF_RANGE: not enough is left
   */
  async take<T>(volumeId: string, bytes: bigint, work: (bytes: number) => Promise<T>): Promise<T> {
    const left = this.leftBytes();
    const more = bytes - BigInt(this.#volumes.get(volumeId)?.capacityBytes ?? 0);
    if (more > BigInt(left)) throw outOfRange(`${left} bytes are left here: delete volumes, or raise --capacity`);
    this.#held.set(volumeId, Number(bytes));
    try {
      return await work(Number(bytes));
    } finally {
      this.#held.delete(volumeId);
    }
  }
}
