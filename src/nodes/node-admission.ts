/**
 * Admits requests that bring a volume to a node: the node must be ready, and have a free slot if its plugin limits volumes.
 * A fence may come between the check and the commit. So it waits for all admitted requests (`settled`), and then finds
 * their volumes; later requests are refused. Slots: node-slots.ts
 */
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { Segments } from '../../machines/kit/csi-types.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { Clock } from '../engine/clock.js';
import type { Random } from '../engine/random.js';
import { decided, isOpen } from '../volumes/exclusive-requests.js';
import { NodeSlots, type SlotSeeker } from './node-slots.js';

interface NodeAdmissionOptions {
  engine: ActorSystem;
  clock: Clock;
  random: Pick<Random, 'id'>;
  /** Returns the committed data of a plugin on a node. @throws StagecraftError names the node or what it lacks */
  target(nodeId: string, plugin: string): NodeTarget;
}

interface Admission extends SlotSeeker {
  /** Whether the volume needs a slot if the plugin limits volumes. */
  takesRoom: boolean;
}

interface Admitted {
  target: NodeTarget;
  /** Id of the reserved slot; absent if the volume needs none. */
  reservation?: string;
}

export class NodeAdmission {
  readonly #options: NodeAdmissionOptions;
  readonly #slots: NodeSlots;
  /** Admitted requests, by node. In memory only: after a crash each request is committed or gone. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();

  constructor(options: NodeAdmissionOptions) {
    this.#options = options;
    const { engine, clock, random } = options;
    this.#slots = new NodeSlots({ engine, clock, random, settled: (nodeId) => this.settled(nodeId) });
  }

  /**
   * Runs `work`, which brings a volume to a node, if the node admits the volume.
   * @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL; errors of `work`
   */
  async within<T>(admission: Admission, work: (admitted: Admitted) => Promise<T>): Promise<T> {
    const { nodeId, plugin, limit } = admission;
    // At the beginning of a term the node may not be loaded yet.
    const address = nodeAddress(nodeId);
    if (!this.#options.engine.readNow(address)) await this.#options.engine.read(address, limit);
    let target = this.#options.target(nodeId, plugin);
    let reservation: string | undefined;
    try {
      while (admission.takesRoom && target.maxVolumes !== undefined && reservation === undefined) {
        reservation = await this.#slots.reserve(admission);
        target = this.#options.target(nodeId, plugin);
      }
    } catch (error) {
      if (reservation !== undefined) await this.#slots.giveBack(admission, reservation);
      throw error;
    }
    // Must run without `await` since `target`: a fence can't come between the check of the node and the admission.
    const leave = this.#enter(nodeId);
    try {
      const done = await work({ target, ...(reservation !== undefined && { reservation }) });
      if (reservation !== undefined) this.#slots.keep(reservation);
      leave();
      return done;
    } catch (error) {
      const end = async (): Promise<void> => {
        if (reservation !== undefined) await this.#slots.giveBack(admission, reservation);
        leave();
      };
      if (isOpen(error)) void decided(this.#options, admission.address).then(end);
      else await end();
      throw error;
    }
  }

  /** Resolves once every request that was admitted to the node before is committed or dropped. */
  async settled(nodeId: string): Promise<void> {
    await Promise.all(this.#underWay.get(nodeId) ?? []);
  }

  /** Drops what was read, as another runtime leads and changes the records. */
  forget(): void {
    this.#slots.forget();
  }

  /** Counts a request as admitted. @returns function that ends it */
  #enter(nodeId: string): () => void {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const here = this.#underWay.get(nodeId) ?? new Set();
    this.#underWay.set(nodeId, here.add(ended));
    return () => {
      here.delete(ended);
      if (here.size === 0 && this.#underWay.get(nodeId) === here) this.#underWay.delete(nodeId);
      end();
    };
  }
}

/** Data of nodes that volumes need. */
export interface NodeTarget {
  /** CSI node id of the node. Never empty. */
  csiNodeId: string;
  /** Topology of the node; absent if the plugin reports none. */
  topology?: Segments;
  /** Limit for volumes of this plugin on the node; absent: no limit. */
  maxVolumes?: number;
}
