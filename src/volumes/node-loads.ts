/**
 * How many volumes of a plugin are on a node, for those plugins that can't have any number: an index in memory over the
 * publications that are committed. Read from the store once, when it is first asked for; kept by each commit from then on.
 */
import { volumesPrefix } from '../../machines/addresses.js';
import type { VolumeContext } from '../../machines/volume-types.js';
import type { Engine } from '../engine/engine.js';
import { pages } from '../engine/pages.js';

const pageSize = 512;
const nobody: ReadonlySet<string> = new Set();

/** By node and plugin. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

export class NodeLoads {
  readonly #engine: Engine;
  /** By the address of a volume: where it is. */
  readonly #places = new Map<string, string[]>();
  /** By place: the addresses of the volumes there. */
  readonly #volumes = new Map<string, Set<string>>();
  #reading: Promise<void> | undefined;
  /** While the store is read: volumes of which something newer is known. */
  #newer: Set<string> | undefined;
  #isKnown = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Whether `at` says all. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Resolves once it is. @throws StagecraftError STORE_UNAVAILABLE; the next call tries again */
  async known(): Promise<void> {
    this.#reading ??= this.#read().catch((error: unknown) => {
      this.#reading = undefined;
      throw error;
    });
    await this.#reading;
  }

  /** The addresses of the volumes at a place: also those that are on their way to or from it, or have failed there. */
  at(place: string): ReadonlySet<string> {
    return this.#volumes.get(place) ?? nobody;
  }

  async #read(): Promise<void> {
    if (!this.#newer) {
      this.#engine.observe(({ address, context }) => {
        if (!address.startsWith(volumesPrefix)) return;
        if (!this.#isKnown) this.#newer?.add(address);
        this.#keep(address, context);
      });
    }
    this.#newer = new Set();
    for await (const [address, { context }] of pages((after) =>
      this.#engine.page({ prefix: volumesPrefix, limit: pageSize, ...after }),
    )) {
      if (!this.#newer.has(address)) this.#keep(address, context);
    }
    this.#isKnown = true;
    this.#newer.clear();
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
