/**
 * What brings a volume to a node comes through here: only to one that is ready, only where there is room, and known to
 * whoever fences it. A node that was ready when a request came in may be fenced before that is committed: the fence
 * waits for those (`settled`), so that it misses none; what comes later is refused.
 */
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { ActorDoor } from '../engine/actor-door.js';
import type { Clock } from '../engine/clock.js';
import { readBefore } from '../engine/store-patience.js';
import { StagecraftError } from '../errors.js';
import type { CommittedIndex } from './committed-index.js';
import { decided, isOpen } from './decided.js';
import { nodeLoads, placeOf } from './node-loads.js';
import type { NodeTarget } from './node-port.js';

export interface NodeAdmissionOptions {
  engine: ActorDoor;
  clock: Clock;
  /** Where a volume of this plugin is to go, as committed now. @throws StagecraftError naming the node or what it lacks */
  target(nodeId: string, plugin: string): NodeTarget;
}

export interface Admission {
  /** Of the volume. */
  address: string;
  nodeId: string;
  plugin: string;
  /** It takes one of the places that the plugin has there. */
  takesRoom: boolean;
  /** Ends the wait of who asks. */
  limit?: AbortSignal | undefined;
}

export class NodeAdmission {
  readonly #options: NodeAdmissionOptions;
  readonly #loads: CommittedIndex;
  /** By node: requests that are not decided yet. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();
  /** By place: the volumes that are let in, and not committed yet, each with how many requests want it there. */
  readonly #promised = new Map<string, Map<string, number>>();

  constructor(options: NodeAdmissionOptions) {
    this.#options = options;
    this.#loads = nodeLoads(options.engine);
  }

  /**
   * Does what brings a volume to a node.
   * @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT, NODE_FULL, and what the work throws
   */
  async within<T>(admission: Admission, work: (target: NodeTarget) => Promise<T>): Promise<T> {
    const { address, nodeId, plugin, takesRoom, limit } = admission;
    // While a term begins it may be on its way from the store.
    await this.#options.engine.read(nodeAddress(nodeId), limit);
    let target = this.#options.target(nodeId, plugin);
    while (takesRoom && target.maxVolumes !== undefined && !this.#loads.isKnown) {
      await readBefore({ limit, address, engine: this.#options.engine }, () => this.#loads.known());
      target = this.#options.target(nodeId, plugin);
    }
    // Since it was looked at nothing else has run: it is still so when this counts as let in.
    const leave = this.#enter(admission, takesRoom ? target.maxVolumes : undefined);
    try {
      const done = await work(target);
      leave();
      return done;
    } catch (error) {
      if (isOpen(error)) void decided(this.#options, admission.address).then(leave);
      else leave();
      throw error;
    }
  }

  /** Resolves when every request that was let in to the node before has been decided. */
  async settled(nodeId: string): Promise<void> {
    await Promise.all(this.#underWay.get(nodeId) ?? []);
  }

  /** Another runtime leads, and changes what was read. */
  forget(): void {
    this.#loads.forget();
  }

  /** @returns what ends it */
  #enter({ address, nodeId, plugin, takesRoom }: Admission, limit: number | undefined): () => void {
    const place = placeOf(nodeId, plugin);
    if (limit !== undefined) this.#checkRoom({ address, nodeId, plugin, place, limit });
    const promised = this.#promised.get(place) ?? new Map<string, number>();
    if (takesRoom) this.#promised.set(place, promised.set(address, (promised.get(address) ?? 0) + 1));
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const here = this.#underWay.get(nodeId) ?? new Set();
    this.#underWay.set(nodeId, here.add(ended));
    return () => {
      here.delete(ended);
      if (here.size === 0 && this.#underWay.get(nodeId) === here) this.#underWay.delete(nodeId);
      const wanted = (promised.get(address) ?? 0) - 1;
      if (wanted > 0) promised.set(address, wanted);
      else promised.delete(address);
      if (promised.size === 0 && this.#promised.get(place) === promised) this.#promised.delete(place);
      end();
    };
  }

  #checkRoom({
    address,
    nodeId,
    plugin,
    place,
    limit,
  }: Omit<Admission, 'takesRoom' | 'limit'> & { place: string; limit: number }): void {
    const there = this.#loads.at(place);
    if (there.has(address)) return;
    const coming = [...(this.#promised.get(place)?.keys() ?? [])].filter((other) => !there.has(other));
    if (coming.includes(address) || there.size + coming.length < limit) return;
    const message = `node ${nodeId} has ${there.size + coming.length} volumes of plugin '${plugin}', and takes ${limit}: unpublish one there, or take another node`;
    throw new StagecraftError('NODE_FULL', message);
  }
}
