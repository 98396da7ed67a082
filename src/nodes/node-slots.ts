/**
 * Reserves slots for volumes on nodes whose plugin has a limit, and finds slots that no volume has. The node's own actor gives
 * them out (machines/node/node-slots.ts). Why so, and what a crash at each step leaves: docs/decisions/0016-slots-and-names-of-nodes.md
 */
import { nodeAddress } from '../../machines/kit/addresses.js';
import { type NodeContext, nodeMachine, type SlotRequest, slotRefusal } from '../../machines/node/node.js';
import { type Slot, type SlotAnswer, slotsOf } from '../../machines/node/node-slots.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { Random } from '../engine/random.js';
import { readBefore } from '../engine/storage/store-patience.js';
import { StagecraftError } from '../errors.js';
import { CommittedIndex } from '../volumes/committed-index.js';
import { decided, isOpen } from '../volumes/decided.js';

export interface NodeSlotsOptions {
  engine: ActorSystem;
  clock: Clock;
  random: Pick<Random, 'id'>;
  /** Resolves when all that was let in to the node before is decided: it may have no slot. */
  settled(nodeId: string): Promise<void>;
}

/** A volume that is to be published on a node. */
export interface SlotSeeker {
  /** Of the volume. */
  address: string;
  nodeId: string;
  plugin: string;
  /** Ends the wait of the caller. */
  limit?: AbortSignal | undefined;
}

export class NodeSlots {
  readonly #options: NodeSlotsOptions;
  /** Reservations of requests of this process whose volume has not answered yet: nobody else may find them unused. */
  readonly #open = new Set<string>();
  /** Counts that are under way, by place. */
  readonly #counts = new Map<string, Promise<void>>();
  /** Where volumes are published, and with which slots, as committed. */
  readonly #index: CommittedIndex<typeof volumeMachine>;
  readonly #nodes: ActorsOf<typeof nodeMachine>;
  readonly #volumes: ActorsOf<typeof volumeMachine>;

  constructor(options: NodeSlotsOptions) {
    this.#options = options;
    this.#nodes = new ActorsOf(options.engine, nodeMachine);
    this.#volumes = new ActorsOf(options.engine, volumeMachine);
    this.#index = nodeLoads(this.#volumes);
  }

  /** Another runtime leads, and changes what was read. */
  forget(): void {
    this.#index.forget();
  }

  /**
   * Reserves a slot; `keep` or `giveBack` ends its request.
   * @returns the reservation; undefined: the plugin has no limit there any more
   * @throws StagecraftError NODE_FULL, NODE_NOT_READY, NODE_NOT_FOUND; STORE_UNAVAILABLE; TIMEOUT, ABORTED
   */
  async reserve(seeker: SlotSeeker): Promise<string | undefined> {
    const reservation = this.#options.random.id();
    this.#open.add(reservation);
    try {
      const isReserved = await this.#reserve(seeker, reservation);
      if (isReserved) return reservation;
      this.keep(reservation);
      return undefined;
    } catch (error) {
      if (isOpen(error))
        void decided(this.#options, nodeAddress(seeker.nodeId)).then(() => this.giveBack(seeker, reservation));
      else this.keep(reservation);
      throw error;
    }
  }

  /** The volume has the slot. */
  keep(reservation: string): void {
    this.#open.delete(reservation);
  }

  /** The request for the publication has failed. Releases its slot, unless the volume has that all the same. */
  async giveBack({ address, nodeId, plugin }: SlotSeeker, reservation: string): Promise<void> {
    try {
      const view = await this.#volumes.read(address);
      if (view?.context.slots?.[nodeId] !== reservation)
        await this.#release(nodeId, plugin, [{ volume: address, reservation }]);
    } catch {
      // Stays reserved: whoever finds the node full finds it.
    } finally {
      this.keep(reservation);
    }
  }

  async #reserve(seeker: SlotSeeker, reservation: string): Promise<boolean> {
    const { address: volume, plugin } = seeker;
    for (;;) {
      const answer = await this.#ask(seeker, { plugin, volume, reservation });
      if (answer === 'full') {
        if (!(await this.#releaseUnused(seeker))) throw this.#fullError(seeker);
      } else if (answer.status === 'not-counted') {
        await this.#within(seeker, () => this.#count(seeker, answer.number));
      } else {
        return answer.status === 'reserved';
      }
    }
  }

  /** What is committed may say already that the node is full: that costs no commit. */
  async #ask({ nodeId, limit }: SlotSeeker, request: SlotRequest): Promise<SlotAnswer | 'full'> {
    const node = this.#nodeAt(nodeId);
    if (node && slotRefusal(node, request)) return 'full';
    try {
      // The machine of nodes answers so.
      return (await this.#nodes.ask(
        nodeAddress(nodeId),
        { type: 'node.reserve-slot', ...request },
        { signal: limit },
      )) as SlotAnswer;
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'NODE_FULL') return 'full';
      throw error;
    }
  }

  #fullError({ address: volume, nodeId, plugin }: SlotSeeker): StagecraftError {
    const node = this.#nodeAt(nodeId);
    const refusal = node && slotRefusal(node, { plugin, volume });
    return new StagecraftError(
      'NODE_FULL',
      refusal?.message ?? `node ${nodeId} has no room for another volume of plugin '${plugin}'`,
    );
  }

  /**
   * Releases the slots that no volume has: their request ended with its process, or the release by their volume is on its way.
   * @returns whether there were any
   */
  async #releaseUnused(seeker: SlotSeeker): Promise<boolean> {
    const { nodeId, plugin } = seeker;
    while (!this.#index.isKnown) await this.#within(seeker, () => this.#index.known());
    const unused = this.#reservedAt(nodeId, plugin).filter(
      ({ reservation }) => this.#index.at(slotKeyOf(nodeId, reservation)).size === 0 && !this.#open.has(reservation),
    );
    if (unused.length > 0) await this.#release(nodeId, plugin, unused);
    return unused.length > 0;
  }

  /** Gives each volume that is on the node its slot: they came when the plugin had no limit there. One count at a time. */
  #count(seeker: SlotSeeker, number: number): Promise<void> {
    const place = placeOf(seeker.nodeId, seeker.plugin);
    const present = this.#counts.get(place);
    if (present) return present;
    const count = this.#countAll(seeker, number).finally(() => this.#counts.delete(place));
    this.#counts.set(place, count);
    return count;
  }

  async #countAll({ nodeId, plugin }: SlotSeeker, number: number): Promise<void> {
    await this.#options.settled(nodeId);
    while (!this.#index.isKnown) await this.#index.known();
    const volumes = [...this.#index.at(placeOf(nodeId, plugin))];
    await Promise.all(volumes.map((address) => this.#addSlot(address, nodeId, plugin)));

    await this.#nodes.ask(nodeAddress(nodeId), { type: 'node.slots-counted', plugin, number });
  }

  /** The node has the slot before the volume: so the volume's release finds it, whenever that comes. */
  async #addSlot(volume: string, nodeId: string, plugin: string): Promise<void> {
    const held = (await this.#volumes.read(volume))?.context.slots?.[nodeId];
    if (this.#reservedAt(nodeId, plugin).some(({ reservation }) => reservation === held)) return;
    const slot = { volume, reservation: this.#options.random.id() };
    await this.#nodes.ask(nodeAddress(nodeId), { type: 'node.add-slot', plugin, ...slot });
    const isThere = await this.#volumes
      .ask(volume, { type: 'volume.add-slot', nodeId, reservation: slot.reservation })
      .catch((error: unknown) => {
        if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return false;
        throw error;
      });
    if (isThere !== true) await this.#release(nodeId, plugin, [slot]);
  }

  async #release(nodeId: string, plugin: string, slots: Slot[]): Promise<void> {
    await this.#nodes.ask(nodeAddress(nodeId), { type: 'node.release-slots', plugin, slots });
  }

  #reservedAt(nodeId: string, plugin: string): readonly Slot[] {
    const node = this.#nodeAt(nodeId);
    return node ? slotsOf(node.slots, plugin).reserved : [];
  }

  /** All nodes are in memory. */
  #nodeAt(nodeId: string): NodeContext | undefined {
    return this.#nodes.peek(nodeAddress(nodeId))?.context;
  }

  /** Others may wait for the same. */
  #within<T>({ address, limit }: SlotSeeker, work: () => Promise<T>): Promise<T> {
    return readBefore({ limit, address, engine: this.#options.engine }, work);
  }
}

/** Key of the volumes of a plugin that are published on a node: also those on their way to or from it, or that have failed there. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

/** Key of the volume that has a slot. */
export const slotKeyOf = (nodeId: string, reservation: string): string => JSON.stringify([nodeId, 'slot', reservation]);

/** Index of the committed publications: where volumes are published, and with which slots. */
export const nodeLoads = (volumes: ActorsOf<typeof volumeMachine>): CommittedIndex<typeof volumeMachine> =>
  new CommittedIndex({ of: [volumes], keysOf });

const keysOf = ({ spec, publications, slots = {} }: VolumeContext): string[] => [
  ...Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? '')),
  ...Object.entries(slots).map(([nodeId, reservation]) => slotKeyOf(nodeId, reservation)),
];
