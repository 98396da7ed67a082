/**
 * Tells every volume that is on a node, or claimed for it, that what the node would report is not waited for. Ends only
 * when all have heard it, however often the store or one of them gives no answer; begun again after a crash, it tells
 * those that had not heard yet.
 */
import { volumesPrefix } from '../../machines/addresses.js';
import { isToBeFenced } from '../../machines/volume-changes.js';
import type { VolumeContext } from '../../machines/volume-types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeAdmission } from './node-admission.js';

export interface NodeFenceOptions {
  engine: ActorDoor;
  clock: Clock;
  logger: Logger;
  admission: Pick<NodeAdmission, 'settled'>;
}

export interface Fencing {
  nodeId: string;
  reason: string;
  signal: AbortSignal;
}

/** Told at a time: their commits go to the store together. */
const pageSize = 512;
const retryMs = 5_000;

export class NodeFence {
  readonly #options: NodeFenceOptions;

  constructor(options: NodeFenceOptions) {
    this.#options = options;
  }

  async release(fencing: Fencing): Promise<void> {
    const { clock, logger, admission } = this.#options;
    const { nodeId, signal } = fencing;
    await admission.settled(nodeId);
    for (;;) {
      const untold = await this.#round(fencing).catch((error: unknown) => [messageOf(error)]);
      signal.throwIfAborted();
      if (untold.length === 0) return;
      logger.warn(
        { nodeId },
        `not all volumes on node ${nodeId} have heard that it is fenced: ${untold.slice(0, 3).join('; ')}`,
      );
      await pause(clock, retryMs, signal);
      signal.throwIfAborted();
    }
  }

  /** @returns why some could not be told */
  async #round({ nodeId, reason, signal }: Fencing): Promise<string[]> {
    const { engine } = this.#options;
    const untold: string[] = [];
    const tell = async (address: string): Promise<void> => {
      try {
        await engine.ask(address, { type: 'volume.fence', nodeId, reason });
      } catch (error) {
        const isGone = error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND';
        if (!isGone) untold.push(`${address}: ${messageOf(error)}`);
      }
    };
    let next: string | undefined;
    do {
      signal.throwIfAborted();
      const page = await engine.page({
        prefix: volumesPrefix,
        limit: pageSize,
        ...(next !== undefined && { after: next }),
      });
      const concerned = page.rows.filter(([, { context }]) => isToBeFenced(context as VolumeContext, nodeId));
      await Promise.all(concerned.map(([address]) => tell(address)));
      next = page.next;
    } while (next !== undefined);
    return untold;
  }
}
