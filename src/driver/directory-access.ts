/** Volumes that are directories: bound onto the staging path, and from there onto the targets. */
import { CsiStatus } from '../csi/server.js';
import { isSameSource, type MountEntry } from './mount-table.js';
import type { Mounts } from './mounts.js';
import { checkOurs, type IsOurs, isMountedAt, type NodeAccess, removeTarget, unmountAt } from './node-access.js';
import { existingPlaceOf, isFit, make } from './node-places.js';
import { missingOptions, mountOptionsOf } from './node-requests.js';
import type { Staging, Target } from './state.js';
import { isReaderOnly } from './volume-capabilities.js';

export class DirectoryAccess implements NodeAccess {
  readonly #content: string;
  readonly #mounts: Mounts;

  /** @param content without symlinks */
  constructor(content: string, mounts: Mounts) {
    this.#content = content;
    this.#mounts = mounts;
  }

  async isStaged({ path }: Staging): Promise<boolean> {
    return isMountedAt(this.#mounts, path, await this.#isOurs());
  }

  async checkStage({ path }: Staging): Promise<void> {
    const place = await existingPlaceOf(path);
    if ((await this.#layersAt(place)).length > 0 || (await isFit(place, 'mount'))) return;
    const message = `the staging path ${place} is not there: the caller makes the directory, then asks again`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }

  async stage({ path, capability }: Staging): Promise<void> {
    const options = mountOptionsOf(capability, isReaderOnly(capability));
    await this.#show(this.#content, await existingPlaceOf(path), options);
  }

  async unstage({ path }: Staging): Promise<void> {
    await unmountAt(this.#mounts, path, await this.#isOurs());
  }

  async isPublished({ path }: Target): Promise<boolean> {
    return isMountedAt(this.#mounts, path, await this.#isOurs());
  }

  async checkPublish({ path }: Target): Promise<void> {
    const place = await existingPlaceOf(path);
    if ((await this.#layersAt(place)).length === 0) await isFit(place, 'mount');
  }

  async publish({ path, stagingPath, capability, readonly }: Target): Promise<void> {
    const place = await existingPlaceOf(path);
    if ((await this.#layersAt(place)).length === 0) await make(place, 'mount');
    await this.#show(await existingPlaceOf(stagingPath), place, mountOptionsOf(capability, readonly));
  }

  async unpublish(target: Target): Promise<void> {
    await removeTarget(this.#mounts, target, 'mount', await this.#isOurs());
  }

  /** Binds, unless that is done, then gives the mount the options that it lacks: killed in between, a repeat does. */
  async #show(source: string, place: string, options: readonly string[]): Promise<void> {
    if ((await this.#layersAt(place)).length === 0) await this.#mounts.bind(source, place);
    if (missingOptions(options, await this.#optionsAt(place)).length === 0) return;
    await this.#mounts.setOptions(place, options);
    const missing = missingOptions(options, await this.#optionsAt(place));
    if (missing.length === 0) return;
    throw new CsiStatus('INTERNAL', `the mount at ${place} did not become ${missing.join(', ')}: unpublish it`);
  }

  async #optionsAt(place: string): Promise<MountEntry['options']> {
    const seen = (await this.#layersAt(place)).at(-1);
    if (seen) return seen.options;
    throw new CsiStatus('INTERNAL', `${place} was mounted, but is not in the mount table: ask again`);
  }

  /** @throws {CsiStatus} FAILED_PRECONDITION: the mount that is seen there is not ours */
  async #layersAt(place: string): Promise<MountEntry[]> {
    const layers = (await this.#mounts.table()).at(place);
    checkOurs(place, layers, await this.#isOurs());
    return layers;
  }

  async #isOurs(): Promise<IsOurs> {
    const content = (await this.#mounts.table()).sourceOf(this.#content);
    return (entry) => isSameSource(entry, content);
  }
}
