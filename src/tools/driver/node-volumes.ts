/** A volume as the Node service sees it: record, uses, content, and access on this node. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CsiStatus } from '../../csi/server.js';
import { isSourceWithin } from '../../host/mount-table.js';
import { BlockAccess } from './block-access.js';
import { DirectoryAccess } from './directory-access.js';
import type { AccessType } from './disk.js';
import { isContentAt } from './disk.js';
import type { LoopDevices } from './loop-devices.js';
import type { HostMounts } from './mounts.js';
import type { NodeAccess } from './node-access.js';
import { tidied } from './node-requests.js';
import { invalid, notFound } from './requests.js';
import type { DriverState, StagedVolume, TargetMount, UseRecord, VolumeRecord } from './state.js';
import { noParent } from './target-paths.js';

/** Effects of the driver on the host; default: the real ones, which need root. */
export interface NodePorts {
  mounts: HostMounts;
  loopDevices: LoopDevices;
}

interface NodeSettings extends NodePorts {
  /** See NodeOptions. */
  attach: boolean;
}

/** Path where a volume is staged or published. */
interface Where {
  readonly path: string;
  readonly place: string;
}

export class NodeVolumes {
  /** Without symlinks, as the kernel names it. */
  readonly #contentDir: string;
  readonly #dataDir: string;
  readonly #state: DriverState;
  readonly #ports: NodePorts;
  readonly #attach: boolean;

  constructor(state: DriverState, { attach, ...ports }: NodeSettings) {
    this.#contentDir = realpathSync(state.contentDir);
    this.#dataDir = realpathSync(dirname(state.contentDir));
    this.#state = state;
    this.#ports = ports;
    this.#attach = attach;
  }

  /** @throws {CsiStatus} NOT_FOUND */
  volume(id: string): VolumeRecord {
    const volume = this.#state.volumes.get(id);
    if (volume) return volume;
    throw notFound('volume', id);
  }

  /**
   * Refuses to undo for an unknown id: it may be a slip, and what was meant would stay.
   * @throws {CsiStatus} NOT_FOUND
   */
  checkKnown(use: UseRecord): void {
    if (use.stagings.length === 0 && use.targets.length === 0) this.volume(use.id);
  }

  /** @throws {CsiStatus} DATA_LOSS */
  async checkContent(id: string, accessType: AccessType): Promise<void> {
    if (await this.hasContent(id, accessType)) return;
    const message = `what is in the volume ${id} is gone: ${this.contentOf(id, accessType)} is not there; put it back`;
    throw new CsiStatus('DATA_LOSS', message);
  }

  hasContent(id: string, accessType: AccessType): Promise<boolean> {
    return isContentAt(this.contentOf(id, accessType), accessType);
  }

  contentOf(id: string, accessType: AccessType): string {
    return join(this.#contentDir, accessType === 'block' ? `${id}.img` : id);
  }

  accessTo(id: string, accessType: AccessType): NodeAccess {
    const { mounts, loopDevices } = this.#ports;
    const content = this.contentOf(id, accessType);
    return accessType === 'block'
      ? new BlockAccess(content, mounts, loopDevices)
      : new DirectoryAccess(content, mounts, this.#state.isShared);
  }

  useOf(id: string): UseRecord {
    return this.#state.uses.get(id) ?? { id, stagings: [], targets: [] };
  }

  /** Resolves once the record is on disk. */
  async remember(use: UseRecord): Promise<void> {
    if (use.stagings.length === 0 && use.targets.length === 0) await this.#state.uses.remove(use.id);
    else await this.#state.uses.put(use);
  }

  /** Staging or target of this volume at the path, however the caller writes it. */
  useAt(id: string, path: string): { staging: StagedVolume } | { target: TargetMount } | undefined {
    const { stagings, targets } = this.useOf(id);
    const isThere = (use: StagedVolume): boolean => use.path === tidied(path);
    const target = targets.find(isThere);
    if (target) return { target };
    const staging = stagings.find(isThere);
    return staging && { staging };
  }

  /**
   * Where a path leads that a volume is to be mounted on.
   * @param place what placeOf said
   * @throws {CsiStatus} FAILED_PRECONDITION: its parent is not there; INVALID_ARGUMENT: it is the driver's own, or in a
   *   volume, where a target would be made and removed among its files
   */
  async whereIs(path: string, place: string | undefined, field: string): Promise<Where> {
    if (place === undefined) throw noParent(path);
    const table = await this.#ports.mounts.table();
    const { device, root } = table.sourceOf(dirname(place));
    const source = { device, root: join(root, basename(place)) };
    if (![this.#dataDir, this.#contentDir].some((own) => isSourceWithin(source, table.sourceOf(own))))
      return { path, place };
    throw invalid(`${field} must not be where volumes are kept, nor in a volume, but ${path} leads to ${place}`);
  }

  /** @throws {CsiStatus} FAILED_PRECONDITION: another volume, or another use of this one, is recorded there */
  checkUnused({ path, place }: Where, id: string, as: 'stagings' | 'targets'): void {
    const isThere = (use: StagedVolume): boolean => use.path === path || use.place === place;
    for (const [kind, undo] of [
      ['stagings', 'NodeUnstageVolume'],
      ['targets', 'NodeUnpublishVolume'],
    ] as const) {
      const isTaken = (use: UseRecord): boolean =>
        use[kind].some((one) => isThere(one) && !(use.id === id && kind === as && one.path === path));
      const taker = this.#state.uses.find(isTaken);
      const there = taker?.[kind].find(isThere);
      if (!taker || !there) continue;
      const done = kind === 'stagings' ? 'staged' : 'published';
      const message = `the volume ${taker.id} is ${done} at ${there.path} (${there.place}): ${undo} it first`;
      throw new CsiStatus('FAILED_PRECONDITION', message);
    }
  }

  /** Gives the volume's block devices its present size. */
  async resize({ id, accessType }: VolumeRecord): Promise<void> {
    if (accessType === 'block') await this.#ports.loopDevices.resize(this.contentOf(id, accessType));
  }

  /** Runs one operation at a time on a volume, and on a path. */
  only<T>(id: string, path: string, work: () => Promise<T>): Promise<T> {
    return this.#state.pending.only([`volume/${id}`, `path ${path}`], work);
  }

  /** Whether the controller has published the volume to this node read-only. */
  isPublishedReadonly({ publications }: VolumeRecord): boolean {
    return this.#attach && (publications[this.#state.nodeId]?.readonly ?? false);
  }
}
