/** Records of the driver about volumes, snapshots and their uses, as kept on disk. */
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { VolumeCapability } from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import { messageOf, StagecraftError } from '../../errors.js';
import { type HeldLock, takeLock } from '../../host/lock-file.js';
import { type AccessType, isCode, syncPath } from './disk.js';
import { segmentOf } from './identity.js';
import { Records, Reserve, type Shape } from './records.js';

/** A volume is a directory, or the image of a block device. */
export interface VolumeRecord {
  readonly id: string;
  readonly name: string;
  readonly accessType: AccessType;
  readonly capacityBytes: number;
  /** Capabilities of the request: the same again is the same volume, others are ALREADY_EXISTS. */
  readonly capabilities: VolumeCapability[];
  readonly parameters: Record<string, string>;
  readonly mutableParameters: Record<string, string>;
  readonly source?: { readonly snapshotId: string } | { readonly volumeId: string };
  /** Nodes that the controller has published the volume to, each with its request. */
  readonly publications: Readonly<Record<string, NodePublication>>;
}

export interface NodePublication {
  readonly capability: VolumeCapability;
  readonly readonly: boolean;
}

/** A copy of a volume's content. */
export interface SnapshotRecord {
  readonly id: string;
  readonly name: string;
  readonly sourceVolumeId: string;
  readonly accessType: AccessType;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  readonly groupId?: string;
}

export interface GroupRecord {
  readonly id: string;
  readonly name: string;
  readonly sourceVolumeIds: string[];
  readonly snapshotIds: string[];
  readonly createdAtMs: number;
}

/**
 * Uses of a volume on this node, by the id of the volume. Written before anything is mounted, removed after it was
 * unmounted: the kernel knows whether it is mounted.
 */
export interface UseRecord {
  readonly id: string;
  readonly stagings: readonly StagedVolume[];
  readonly targets: readonly TargetMount[];
}

export interface StagedVolume {
  /** Path as the caller names it. */
  readonly path: string;
  /** Absolute path without symlinks at the time of the request: the kernel's name of the mount. */
  readonly place: string;
  readonly capability: VolumeCapability;
}

export interface TargetMount extends StagedVolume {
  readonly stagingPath: string;
  readonly readonly: boolean;
}

const accessTypes: readonly AccessType[] = ['mount', 'block'];

const volumeShape: Shape<VolumeRecord> = {
  id: 'string',
  name: 'string',
  accessType: accessTypes,
  capacityBytes: 'number',
  capabilities: 'array',
  parameters: 'object',
  mutableParameters: 'object',
  publications: 'object',
};

const snapshotShape: Shape<SnapshotRecord> = {
  id: 'string',
  name: 'string',
  sourceVolumeId: 'string',
  accessType: accessTypes,
  sizeBytes: 'number',
  createdAtMs: 'number',
};

const groupShape: Shape<GroupRecord> = {
  id: 'string',
  name: 'string',
  sourceVolumeIds: 'array',
  snapshotIds: 'array',
  createdAtMs: 'number',
};

const useShape: Shape<UseRecord> = { id: 'string', stagings: 'array', targets: 'array' };

export interface DriverState {
  readonly nodeId: string;
  /** Whether other nodes have the same volumes. */
  readonly isShared: boolean;
  /** Directory with the content of volumes and snapshots. */
  readonly contentDir: string;
  readonly volumes: Records<VolumeRecord>;
  readonly snapshots: Records<SnapshotRecord>;
  readonly groups: Records<GroupRecord>;
  readonly uses: Records<UseRecord>;
  readonly pending: Pending;
}

/** Time that a driver which is about to end may hold the directory. */
const lockPatienceMs = 5_000;
const lockRetryMs = 100;

interface StateOptions {
  nodeId: string;
  dataDir: string;
  /** Default: the volumes are of this node alone. */
  isShared?: boolean;
}

/**
 * @returns also what gives the directory back, and the file that is locked for as long as anybody has it open
 * @throws {StagecraftError} DATA_DIR_UNUSABLE: it is something else's; DATA_DIR_LOCKED; DRIVER_STATE_BROKEN: see
 *   Records.open
 */
export async function openState({
  nodeId,
  dataDir,
  isShared = false,
}: StateOptions): Promise<{ state: DriverState; lockFile: number; close(): void }> {
  await checkOurs(dataDir);
  const made = await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncPath(dirname(made));
  const { file: lockFile, unlock: close } = await lock(dataDir);
  try {
    const contentDir = join(dataDir, 'content');
    if (await mkdir(contentDir, { recursive: true, mode: 0o700 })) await syncPath(dataDir);
    const reserve = await Reserve.open(join(dataDir, 'reserve'));
    const open = <T extends { readonly id: string }>(name: string, shape: Shape<T>): Promise<Records<T>> =>
      Records.open({ directory: join(dataDir, name), shape, reserve });
    const state = {
      ...{ nodeId, isShared },
      contentDir,
      volumes: await open('volumes', volumeShape),
      snapshots: await open('snapshots', snapshotShape),
      groups: await open('groups', groupShape),
      uses: await open(isShared ? `uses-${segmentOf(nodeId)}` : 'uses', useShape),
      pending: new Pending(),
    };
    return { state, lockFile, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Exists in the root of a file system of its own. */
const madeByMkfs = 'lost+found';

/** Accepts an empty directory, or one with the lock of a driver. */
async function checkOurs(dataDir: string): Promise<void> {
  const present = await readdir(dataDir).catch((error: unknown): string[] => {
    if (isCode(error, 'ENOENT')) return [];
    throw new StagecraftError('DATA_DIR_UNUSABLE', `can't use the data directory ${dataDir}: ${messageOf(error)}`);
  });
  if (present.includes('lock') || present.every((name) => name === madeByMkfs)) return;
  const message = `${dataDir} is not empty and no data directory of this driver: name a directory of its own`;
  throw new StagecraftError('DATA_DIR_UNUSABLE', message);
}

async function lock(dataDir: string): Promise<HeldLock> {
  for (let leftMs = lockPatienceMs; ; leftMs -= lockRetryMs) {
    const taken = takeLock(join(dataDir, 'lock'));
    if ('unlock' in taken) return taken;
    const message = `${dataDir} is in use by the driver with pid ${taken.owner}: stop that one, or name another --data-dir`;
    if (leftMs <= 0) throw new StagecraftError('DATA_DIR_LOCKED', message);
    await setTimeout(lockRetryMs);
  }
}

/** One operation at a time on each thing: a second one is answered ABORTED, as CSI wants it. */
export class Pending {
  /** Number of operations on each thing, or `alone`. */
  readonly #keys = new Map<string, 'alone' | number>();
  readonly #waiting: (() => void)[] = [];

  /** @param keys subjects of the work, e.g. `volume/<id>`, `volume-name/<name>` */
  async only<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    const taken = distinct.find((key) => this.#keys.has(key));
    if (taken !== undefined) throw busy(taken);
    for (const key of distinct) this.#keys.set(key, 'alone');
    try {
      return await work();
    } finally {
      for (const key of distinct) this.#release(key);
    }
  }

  /** Runs work that may share the thing with other such work, but not with work of `only`. */
  async sharing<T>(key: string, work: () => Promise<T>): Promise<T> {
    const sharers = this.#keys.get(key) ?? 0;
    if (sharers === 'alone') throw busy(key);
    this.#keys.set(key, sharers + 1);
    try {
      return await work();
    } finally {
      const left = Number(this.#keys.get(key)) - 1;
      if (left === 0) this.#release(key);
      else this.#keys.set(key, left);
    }
  }

  /** Resolves once nothing is under way. */
  async idle(): Promise<void> {
    while (this.#keys.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(key: string): void {
    this.#keys.delete(key);
    if (this.#keys.size > 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

const busy = (key: string): CsiStatus =>
  new CsiStatus('ABORTED', `another operation on ${key} is under way: ask again`);
