/**
 * Lets volumes in to nodes: only to a node that is ready, only with a slot where the plugin has a limit there, and known to
 * whoever fences the node. A node that was ready when a request came in may be fenced before that is committed: the fence
 * waits for those requests (`settled`), so that it misses none; what comes later is refused. Who has which slot: node-slots.ts
 */
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { Clock } from '../engine/clock.js';
import type { Random } from '../engine/random.js';
import { decided, isOpen } from '../volumes/decided.js';
import type { NodeTarget } from './node-port.js';
import { NodeSlots, type SlotSeeker } from './node-slots.js';

export interface NodeAdmissionOptions {
  engine: ActorSystem;
  clock: Clock;
  random: Pick<Random, 'id'>;
  /** Where a volume of this plugin is to go, as committed now. @throws StagecraftError naming the node or what it lacks */
  target(nodeId: string, plugin: string): NodeTarget;
}

export interface Admission extends SlotSeeker {
  /** It needs a slot, where the plugin has a limit. */
  takesRoom: boolean;
}

/** What is let in. */
export interface Admitted {
  target: NodeTarget;
  /** Of its slot; absent: it needs none. */
  reservation?: string;
}

export class NodeAdmission {
  readonly #options: NodeAdmissionOptions;
  readonly #slots: NodeSlots;
  /** By node. They end with this process, and so do the requests: a later runtime finds each committed, or not at all. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();

  constructor(options: NodeAdmissionOptions) {
    this.#options = options;
    const { engine, clock, random } = options;
    this.#slots = new NodeSlots({ engine, clock, random, settled: (nodeId) => this.settled(nodeId) });
  }

  /**
   * Does what brings a volume to a node.
   * @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL, and what the work throws
   */
  async within<T>(admission: Admission, work: (admitted: Admitted) => Promise<T>): Promise<T> {
    const { nodeId, plugin, limit } = admission;
    // While a term begins it may be on its way from the store.
    await this.#options.engine.read(nodeAddress(nodeId), limit);
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
    // Since the node was looked at nothing else has run: it is still so when this counts as let in.
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

  /** Resolves when every request that was let in to the node before has been decided. */
  async settled(nodeId: string): Promise<void> {
    await Promise.all(this.#underWay.get(nodeId) ?? []);
  }

  /** Another runtime leads, and changes what was read. */
  forget(): void {
    this.#slots.forget();
  }

  /** @returns what ends it */
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
