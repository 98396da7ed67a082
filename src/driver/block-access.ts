/**
 * Volumes that are block devices: a loop device of the image, there from stage to unstage, whose node is bound onto the
 * target files. A read-only target shows a second, read-only device: a read-only mount would not stop writes to a device.
 */
import type { LoopDevice, LoopDevices } from './loop-devices.js';
import { isLoopDevice } from './loop-devices.js';
import { isSameSource } from './mount-table.js';
import type { Mounts } from './mounts.js';
import { checkOurs, type IsOurs, isMountedAt, type NodeAccess, removeTarget } from './node-access.js';
import { existingPlaceOf, isFit, make } from './node-places.js';
import type { Staging, Target } from './state.js';
import { isReaderOnly } from './volume-capabilities.js';

/** On a path that is recorded as a target of the volume: its device may have been detached since, and another made. */
const isOurs: IsOurs = ({ root }) => isLoopDevice(root);

export class BlockAccess implements NodeAccess {
  readonly #image: string;
  readonly #mounts: Mounts;
  readonly #devices: LoopDevices;

  /** @param image without symlinks */
  constructor(image: string, mounts: Mounts, devices: LoopDevices) {
    this.#image = image;
    this.#mounts = mounts;
    this.#devices = devices;
  }

  async isStaged(): Promise<boolean> {
    return (await this.#devices.of(this.#image)).length > 0;
  }

  /** Nothing is done at the staging path. */
  async checkStage(): Promise<void> {}

  async stage({ capability }: Staging): Promise<void> {
    await this.#devices.attach(this.#image, isReaderOnly(capability));
  }

  async unstage(): Promise<void> {
    await this.#devices.detachAll(this.#image);
  }

  async isPublished({ path }: Target): Promise<boolean> {
    return isMountedAt(this.#mounts, path, isOurs);
  }

  async checkPublish({ path }: Target, isKnown: boolean): Promise<void> {
    const place = await existingPlaceOf(path);
    const layers = (await this.#mounts.table()).at(place);
    checkOurs(place, layers, isKnown ? isOurs : () => false);
    if (layers.length === 0) await isFit(place, 'block');
  }

  async publish({ path, readonly }: Target): Promise<void> {
    const device = await this.#devices.attach(this.#image, readonly);
    const place = await existingPlaceOf(path);
    if (await this.#isShown(device, place)) return;
    await make(place, 'block');
    await this.#mounts.bind(device.path, place);
  }

  async unpublish(target: Target): Promise<void> {
    await removeTarget(this.#mounts, target, 'block', isOurs);
  }

  /** What else of ours is shown there is taken away. */
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
}
