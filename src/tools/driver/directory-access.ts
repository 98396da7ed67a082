/** Volumes that are directories: bound onto the staging path, and from there onto the targets. */
import { CsiStatus } from '../../csi/server.js';
import { isRemoved, isSameSource, type MountEntry, type MountSource } from '../../host/mount-table.js';
import type { HostMounts } from './mounts.js';
import {
  checkOurs,
  type IsOurs,
  isAnywhereAt,
  isSeenAt,
  type NodeAccess,
  refuseMountsOf,
  removeTarget,
  unmountAt,
} from './node-access.js';
import { missingOptions, mountOptionsOf } from './node-requests.js';
import type { StagedVolume, TargetMount } from './state.js';
import { isFit, makePlace } from './target-paths.js';
import { isReaderOnly } from './volume-capabilities.js';

export class DirectoryAccess implements NodeAccess {
  readonly #content: string;
  readonly #mounts: HostMounts;
  readonly #isShared: boolean;

  /**
   * @param content path without symlinks
   * @param isShared drivers of other hosts show it too: on one machine, their mounts are seen here
   */
  constructor(content: string, mounts: HostMounts, isShared: boolean) {
    this.#content = content;
    this.#mounts = mounts;
    this.#isShared = isShared;
  }

  async isStaged({ place }: StagedVolume): Promise<boolean> {
    return isSeenAt(this.#mounts, place, await this.#isOurs());
  }

  async hasStaging({ place }: StagedVolume): Promise<boolean> {
    return isAnywhereAt(this.#mounts, place, await this.#isOursToUndo());
  }

  async checkStage({ place }: StagedVolume): Promise<void> {
    if ((await this.#layersAt(place)).length > 0 || (await isFit(place, 'mount'))) return;
    const message = `the staging path ${place} is not there: the caller makes the directory, then asks again`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }

  async stage({ place, capability }: StagedVolume): Promise<void> {
    await this.#show(this.#content, place, mountOptionsOf(capability, isReaderOnly(capability)));
  }

  async unstage({ place }: StagedVolume): Promise<void> {
    await unmountAt(this.#mounts, place, await this.#isOursToUndo());
    if (!this.#isShared) refuseMountsOf(await this.#mounts.table(), [await this.#source()]);
  }

  async isPublished({ place }: TargetMount): Promise<boolean> {
    return isSeenAt(this.#mounts, place, await this.#isOurs());
  }

  async hasTarget({ place }: TargetMount): Promise<boolean> {
    return isAnywhereAt(this.#mounts, place, await this.#isOursToUndo());
  }

  async checkPublish({ place }: TargetMount, isKnown: boolean): Promise<void> {
    const layers = await this.#layersAt(place);
    checkOurs(place, layers, () => isKnown);
    if (layers.length === 0) await isFit(place, 'mount');
  }

  async publish({ place, capability, readonly }: TargetMount, from: StagedVolume): Promise<void> {
    if ((await this.#layersAt(place)).length === 0) await makePlace(place, 'mount');
    await this.#layersAt(from.place);
    await this.#show(from.place, place, mountOptionsOf(capability, readonly));
  }

  async unpublish(target: TargetMount): Promise<void> {
    await removeTarget(this.#mounts, target, 'mount', await this.#isOursToUndo());
  }

  /** Binds once, then gives the mount its options: after a kill in between, a repeat does. */
  async #show(source: string, place: string, options: readonly string[]): Promise<void> {
    if ((await this.#layersAt(place)).length === 0) await this.#bind(source, place);
    if (missingOptions(options, await this.#optionsAt(place)).length === 0) return;
    await this.#mounts.setOptions(place, options);
    const missing = missingOptions(options, await this.#optionsAt(place));
    if (missing.length === 0) return;
    throw new CsiStatus('INTERNAL', `the mount at ${place} did not become ${missing.join(', ')}: unpublish it`);
  }

  /** Binds, and undoes it if something else was mounted on the source meanwhile and is shown instead. */
  async #bind(source: string, place: string): Promise<void> {
    await this.#mounts.bind(source, place);
    try {
      await this.#layersAt(place);
    } catch (error) {
      await this.#mounts.unmount(place);
      throw error;
    }
  }

  async #optionsAt(place: string): Promise<MountEntry['options']> {
    const seen = (await this.#layersAt(place)).at(-1);
    if (seen) return seen.options;
    throw new CsiStatus('INTERNAL', `${place} was mounted, but is not in the mount table: ask again`);
  }

  /** @throws {CsiStatus} FAILED_PRECONDITION: the mount there is not ours, or no longer shows the volume */
  async #layersAt(place: string): Promise<MountEntry[]> {
    const layers = (await this.#mounts.table()).at(place);
    const top = layers.at(-1);
    if (top && isRemoved(top, await this.#source())) {
      const message = `at ${place} content is mounted that was removed since: unpublish and unstage the volume, then ask again`;
      throw new CsiStatus('FAILED_PRECONDITION', message);
    }
    checkOurs(place, layers, await this.#isOurs());
    return layers;
  }

  async #isOurs(): Promise<IsOurs> {
    const content = await this.#source();
    return (entry) => isSameSource(entry, content);
  }

  /** Whether a mount is ours to undo, also of a volume that was removed while it was mounted. */
  async #isOursToUndo(): Promise<IsOurs> {
    const content = await this.#source();
    return (entry) => isSameSource(entry, content) || isRemoved(entry, content);
  }

  async #source(): Promise<MountSource> {
    return (await this.#mounts.table()).sourceOf(this.#content);
  }
}
