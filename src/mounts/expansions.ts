/**
 * Expands file systems of volumes that have grown while they were mounted here, or while this runtime was away. The controller
 * side knows whether that is due; the mount reports when it is done.
 */
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Concern, Question } from './volume-watch.js';

export class Expansions implements Concern {
  readonly #mounts: ActorsOf<typeof mountMachine>;

  constructor(engine: ActorSystem) {
    this.#mounts = new ActorsOf(engine, mountMachine);
  }

  questions(): Question[] {
    return [...this.#mounts.views()].map(([address, { context }]) => ({
      volume: context.key,
      answered: async (known) => this.#expand(address, known?.expansion),
    }));
  }

  async #expand(address: string, capacity: CapacityRange | undefined): Promise<void> {
    const mount = this.#mounts.peek(address);
    if (!mount || !capacity) return;
    const { expansion } = mount.context;
    // The plugin has refused it for good: it is tried again once somebody asks.
    if (expansion?.failure !== undefined && isSameData(expansion.capacity, capacity)) return;
    await this.#mounts.report(address, { type: 'mount.expand', capacity });
  }
}
