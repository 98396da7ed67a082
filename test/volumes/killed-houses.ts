/**
 * Two runtimes on one store and one plugin, one after the other: the first is killed at a chosen commit. What each of them is
 * asked, and what has to hold in the end, is a test's own.
 */
import { seededRandom } from '../../src/testing/seeded-random.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import type { FakePlugin } from './fake-plugin.js';
import { VolumeHouse } from './volume-house.js';

export interface Kill {
  /** Number of the commit, from 1 on. */
  commit: number;
  /** Whether the commit takes effect. */
  done: boolean;
}

export const ignored = (): void => {};

export class KilledHouses {
  readonly one = new VolumeHouse();
  readonly two = new VolumeHouse();
  readonly #kept = inMemory();
  readonly #cable = new Cable(this.#kept.store());

  /** Plugin of both. */
  get plugin(): FakePlugin {
    return this.one.plugin;
  }

  async furnish(): Promise<void> {
    this.one.store = this.#cable;
    await this.one.furnish({ nodeId: 'one' });
  }

  /** Counts commits from here on. */
  cutAt({ commit, done }: Kill): void {
    let commits = 0;
    this.#cable.cutAt({ is: () => ++commits === commit, done });
  }

  /** Closes the first, which commits nothing any more. @param closing called before that @returns whether it was killed */
  async end(closing: (isCut: boolean) => void = ignored): Promise<boolean> {
    const { isCut } = this.#cable;
    this.#cable.cutAt({ is: () => false, done: true });
    closing(isCut);
    const closed = this.one.runtime.close().catch(ignored);
    await this.one.clock.advance(60_000);
    await closed;
    return isCut;
  }

  async succeed(): Promise<void> {
    await this.#kept.bury(this.#kept.store());
    this.two.store = this.#kept.store();
    await this.two.open({ nodeId: 'two', random: seededRandom(2), dispensers: { 'csi-controller': this.plugin } });
    await this.two.register();
  }

  async dispose(): Promise<void> {
    for (const house of [this.one, this.two]) await house.dispose().catch(ignored);
  }
}

/**
 * Kills at each commit in turn, in houses of its own.
 * @param most more commits than there are
 * @param killedAt returns whether there was such a commit
 * @returns number of the first commit that there was not
 */
export async function atEachCommit(
  most: number,
  killedAt: (houses: KilledHouses, commit: number) => Promise<boolean>,
): Promise<number> {
  for (let commit = 1; commit <= most; commit += 1) {
    const houses = new KilledHouses();
    try {
      if (!(await killedAt(houses, commit))) return commit;
    } finally {
      await houses.dispose();
    }
  }
  return most + 1;
}
