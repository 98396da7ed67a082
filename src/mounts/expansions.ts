/**
 * Expands file systems of volumes that have grown while they were mounted here, or while this runtime was away. The
 * controller side knows whether that is due, and sends a notice; the mount reports when it is done. As a notice may be lost,
 * all mounts are looked at from time to time.
 */

import { mountAddress } from '../../machines/kit/addresses.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { ClaimClient } from './claim-client.js';
import { forEachLimited } from './for-each-limited.js';

export interface ExpansionsOptions {
  nodeId: string;
  engine: ActorSystem;
  claims: Pick<ClaimClient, 'look'>;
  clock: Clock;
  logger: Logger;
}

const retryMs = 10_000;
/** Time between two rounds. */
const intervalMs = 300_000;
const looksAtOnce = 16;

export class Expansions {
  readonly #options: ExpansionsOptions;
  readonly #mounts: ActorsOf<typeof mountMachine>;
  readonly #stop = new AbortController();

  constructor(options: ExpansionsOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  start(): void {
    void this.#loop();
  }

  stop(): void {
    this.#stop.abort(new Error('the runtime was closed'));
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const keys = [...this.#mounts.views()].map(([, { context }]) => context.key);
      await forEachLimited(keys, looksAtOnce, (key) => this.look(key));
      if (!signal.aborted) await pause(this.#options.clock, intervalMs, signal);
    }
  }

  /** Repeats the look until it succeeds, as long as the volume is here. Never rejects. */
  async look(key: VolumeKey): Promise<void> {
    const { nodeId, claims, clock, logger } = this.#options;
    const { signal } = this.#stop;
    const address = mountAddress(nodeId, key.namespace, key.id);
    while (!signal.aborted && this.#mounts.peek(address)) {
      try {
        const { expansion } = await claims.look(key, { nodeId }, { signal });
        const present = this.#mounts.peek(address)?.context.expansion;
        // The plugin has refused it for good: it is tried again once somebody asks.
        const isRefused = present?.failure !== undefined && isSameData(present.capacity, expansion);
        if (expansion && !isRefused) await this.#mounts.report(address, { type: 'mount.expand', capacity: expansion });
        return;
      } catch (error) {
        // The volume is gone and will not grow.
        if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return;
        logger.debug({ address }, `whether it is to be expanded can't be known now: ${messageOf(error)}`);
        await pause(clock, retryMs, signal);
      }
    }
  }
}
