/**
 * How many volumes of a plugin are on a node, for those plugins that can't have any number: an index in memory over the
 * publications that are committed. Read from the store once, when it is first asked for; kept by each commit from then on.
 */
import { volumesPrefix } from '../../machines/addresses.js';
import type { VolumeContext } from '../../machines/volume-types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { pages } from '../engine/pages.js';

const pageSize = 512;
const nobody: ReadonlySet<string> = new Set();

/** By node and plugin. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

export class NodeLoads {
  readonly #engine: ActorDoor;
  /** By the address of a volume: where it is. */
  readonly #places = new Map<string, string[]>();
  /** By place: the addresses of the volumes there. */
  readonly #volumes = new Map<string, Set<string>>();
  #reading: Promise<void> | undefined;
  /** While the store is read: volumes of which something newer is known. */
  readonly #newer = new Set<string>();
  #isKnown = false;
  #isWatching = false;

  constructor(engine: ActorDoor) {
    this.#engine = engine;
  }

  /** Whether `at` says all. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Resolves once it is. @throws StagecraftError STORE_UNAVAILABLE; the next call tries again */
  async known(): Promise<void> {
    if (!this.#reading) {
      const reading: Promise<void> = this.#read(() => this.#reading === reading).catch((error: unknown) => {
        if (this.#reading === reading) this.forget();
        throw error;
      });
      this.#reading = reading;
    }
    await this.#reading;
  }

  /** What was read may be so no more: it is read anew when it is asked for. */
  forget(): void {
    this.#reading = undefined;
    this.#isKnown = false;
    for (const all of [this.#places, this.#volumes, this.#newer]) all.clear();
  }

  /** The addresses of the volumes at a place: also those that are on their way to or from it, or have failed there. */
  at(place: string): ReadonlySet<string> {
    return this.#volumes.get(place) ?? nobody;
  }

  /** @param isWanted whether it was not forgotten meanwhile */
  async #read(isWanted: () => boolean): Promise<void> {
    this.#watch();
    // Its caller keeps it first.
    await Promise.resolve();
    for await (const [address, { context }] of pages((after) =>
      this.#engine.page({ prefix: volumesPrefix, limit: pageSize, ...after }),
    )) {
      if (!isWanted()) return;
      if (!this.#newer.has(address)) this.#keep(address, context);
    }
    if (!isWanted()) return;
    this.#isKnown = true;
    this.#newer.clear();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#engine.observe(({ address, context }) => {
      if (!this.#reading || !address.startsWith(volumesPrefix)) return;
      if (!this.#isKnown) this.#newer.add(address);
      this.#keep(address, context);
    });
  }

  #keep(address: string, context: object | undefined): void {
    const places = context ? placesOf(context as VolumeContext) : [];
    const before = this.#places.get(address) ?? [];
    if (places.join() === before.join()) return;
    for (const place of before) {
      const volumes = this.#volumes.get(place);
      if (volumes?.delete(address) && volumes.size === 0) this.#volumes.delete(place);
    }
    for (const place of places) {
      const volumes = this.#volumes.get(place) ?? new Set();
      this.#volumes.set(place, volumes.add(address));
    }
    if (places.length > 0) this.#places.set(address, places);
    else this.#places.delete(address);
  }
}

const placesOf = ({ spec, publications }: VolumeContext): string[] =>
  Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? ''));
