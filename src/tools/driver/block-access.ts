/**
 * Volumes that are block devices: a loop device of the image, there from stage to unstage, whose node is bound onto the
 * target files. A read-only target shows a second, read-only device: a read-only mount would not stop writes to a device.
 */

import { isSameSource, type MountSource } from '../../host/mount-table.js';
import type { LoopDevice, LoopDevices } from './loop-devices.js';
import { isLoopDevice } from './loop-devices.js';
import type { HostMounts } from './mounts.js';
import {
  checkOurs,
  type IsOurs,
  isAnywhereAt,
  isSeenAt,
  type NodeAccess,
  refuseMountsOf,
  removeTarget,
} from './node-access.js';
import type { StagedVolume, TargetMount } from './state.js';
import { isFit, makePlace } from './target-paths.js';
import { isReaderOnly } from './volume-capabilities.js';

/** Whether a mount at a recorded target is ours: its device may have been detached since, and another one made. */
const isOurs: IsOurs = ({ root }) => isLoopDevice(root);

export class BlockAccess implements NodeAccess {
  readonly #image: string;
  readonly #mounts: HostMounts;
  readonly #devices: LoopDevices;

  /** @param image path without symlinks */
  constructor(image: string, mounts: HostMounts, devices: LoopDevices) {
    this.#image = image;
    this.#mounts = mounts;
    this.#devices = devices;
  }

  async isStaged(): Promise<boolean> {
    return (await this.#devices.of(this.#image)).length > 0;
  }

  /** `stage` reports other stagings that there may be. */
  hasStaging(): Promise<boolean> {
    return this.isStaged();
  }

  /** Nothing is done at the staging path. */
  async checkStage(): Promise<void> {}

  async stage({ capability }: StagedVolume): Promise<void> {
    await this.#attach(isReaderOnly(capability));
  }

  /** Unmounts before the device goes: else the mount would show the next volume with the same device number. */
  async unstage(): Promise<void> {
    refuseMountsOf(await this.#mounts.table(), await this.#sources());
    await this.#devices.detachAll(this.#image);
  }

  async isPublished({ place }: TargetMount): Promise<boolean> {
    const sources = await this.#sources();
    return isSeenAt(this.#mounts, place, (entry) => sources.some((source) => isSameSource(entry, source)));
  }

  hasTarget({ place }: TargetMount): Promise<boolean> {
    return isAnywhereAt(this.#mounts, place, isOurs);
  }

  async checkPublish({ place }: TargetMount, isKnown: boolean): Promise<void> {
    const layers = (await this.#mounts.table()).at(place);
    checkOurs(place, layers, isKnown ? isOurs : () => false);
    if (layers.length === 0) await isFit(place, 'block');
  }

  async publish({ place, readonly }: TargetMount): Promise<void> {
    const device = await this.#attach(readonly);
    if (await this.#isShown(device, place)) return;
    await makePlace(place, 'block');
    await this.#mounts.bind(device.path, place);
  }

  async unpublish(target: TargetMount): Promise<void> {
    await removeTarget(this.#mounts, target, 'block', isOurs);
  }

  #attach(readonly: boolean): Promise<LoopDevice> {
    return this.#devices.attach(this.#image, readonly, async (device) => {
      const table = await this.#mounts.table();
      const source = table.sourceOf(device);
      return table.entries.some((entry) => isSameSource(entry, source));
    });
  }

  /** Removes whatever else of ours is shown there. */
  async #isShown(device: LoopDevice, place: string): Promise<boolean> {
    for (;;) {
      const table = await this.#mounts.table();
      const layers = table.at(place);
      const seen = layers.at(-1);
      if (!seen) return false;
      checkOurs(place, layers, isOurs);
      if (isSameSource(seen, table.sourceOf(device.path))) return true;
      await this.#mounts.unmount(place);
    }
  }

  /** Lists the mount sources of the driver's devices. */
  async #sources(): Promise<MountSource[]> {
    const devices = await this.#devices.of(this.#image);
    const table = await this.#mounts.table();
    return devices.map(({ path }) => table.sourceOf(path));
  }
}
