/**
 * Reserves slots for volumes on nodes whose plugin limits them, and releases slots that no volume uses. The actor of the node
 * grants the slots: machines/node/node-slots.ts.
 * Reasons, and what a crash at each step leaves behind: docs/decisions/0016-slots-and-names-of-nodes.md
 */
import { nodeAddress } from '../../machines/kit/addresses.js';
import { type NodeContext, nodeMachine, type SlotRequest } from '../../machines/node/node.js';
import { type Slot, type SlotAnswer, slotsOf } from '../../machines/node/node-slots.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { Random } from '../engine/random.js';
import { readBefore } from '../engine/storage/store-patience.js';
import { StagecraftError, unlessQuarantined } from '../errors.js';
import { CommittedIndex } from '../volumes/committed-index.js';
import { decided, isOpen } from '../volumes/exclusive-requests.js';

interface NodeSlotsOptions {
  engine: ActorSystem;
  clock: Clock;
  random: Pick<Random, 'id'>;
  /** Resolves once all requests admitted to the node before are committed or dropped: some may have no slot. */
  settled(nodeId: string): Promise<void>;
}

export interface SlotSeeker {
  address: string;
  nodeId: string;
  plugin: string;
  /** Aborts when the caller stops waiting. */
  limit?: AbortSignal | undefined;
}

export class NodeSlots {
  readonly #options: NodeSlotsOptions;
  /** Reservations whose volume has not answered yet. They do not count as unused. */
  readonly #open = new Set<string>();
  /** Running counts of the volumes on a node, by node and plugin. */
  readonly #counts = new Map<string, Promise<void>>();
  readonly #index: CommittedIndex<typeof volumeMachine>;
  readonly #nodes: ActorsOf<typeof nodeMachine>;
  readonly #volumes: ActorsOf<typeof volumeMachine>;

  constructor(options: NodeSlotsOptions) {
    this.#options = options;
    this.#nodes = new ActorsOf(options.engine, nodeMachine);
    this.#volumes = new ActorsOf(options.engine, volumeMachine);
    this.#index = nodeLoads(this.#volumes);
  }

  /** Drops what was read, as another runtime leads and changes the records. */
  forget(): void {
    this.#index.forget();
  }

  /**
   * Reserves a slot. The caller ends the request with `keep` or `giveBack`.
   * @returns id of the reservation; undefined if the plugin has no limit on the node any more
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

  /** Closes a reservation whose volume now holds the slot; the slot stays taken. */
  keep(reservation: string): void {
    this.#open.delete(reservation);
  }

  /** Ends a failed request. Releases its slot, unless the volume has the slot nevertheless. */
  async giveBack({ address, nodeId, plugin }: SlotSeeker, reservation: string): Promise<void> {
    try {
      const view = await this.#volumes.read(address);
      if (view?.context.slots?.[nodeId] !== reservation)
        await this.#release(nodeId, plugin, [{ volume: address, reservation }]);
    } catch {
      // The slot stays reserved. The next request that finds the node full releases it as unused.
    } finally {
      this.keep(reservation);
    }
  }

  async #reserve(seeker: SlotSeeker, reservation: string): Promise<boolean> {
    const { address: volume, plugin } = seeker;
    for (;;) {
      const answer = await this.#ask(seeker, { plugin, volume, reservation });
      if (answer instanceof StagecraftError) {
        if (!(await this.#releaseUnused(seeker))) throw answer;
      } else if (answer.status === 'not-counted') {
        await this.#within(seeker, () => this.#count(seeker, answer.number));
      } else {
        return answer.status === 'reserved';
      }
    }
  }

  /** Asks the node for the slot. @returns error of a node that is full */
  async #ask({ nodeId, limit }: SlotSeeker, request: SlotRequest): Promise<SlotAnswer | StagecraftError> {
    try {
      // The node machine answers with a SlotAnswer.
      return (await this.#nodes.ask(
        nodeAddress(nodeId),
        { type: 'node.reserve-slot', ...request },
        { signal: limit },
      )) as SlotAnswer;
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'NODE_FULL') return error;
      throw error;
    }
  }

  /**
   * Releases slots that no volume has: the request ended with its process, or the volume's own release is still under way.
   * @returns whether there were any
   */
  async #releaseUnused(seeker: SlotSeeker): Promise<boolean> {
    const { nodeId, plugin } = seeker;
    while (!this.#index.isKnown) await this.#within(seeker, () => this.#index.known());
    const unused = this.#reservedAt(nodeId, plugin).filter(
      ({ volume, reservation }) =>
        !this.#index.has(slotKeyOf(nodeId, reservation)) &&
        !this.#index.isUnread(volume) &&
        !this.#open.has(reservation),
    );
    const without = await Promise.all(unused.map(({ volume }) => this.#isThereWithout(volume, seeker)));
    const free = unused.filter((_, at) => !without[at]);
    if (free.length > 0) await this.#release(nodeId, plugin, free);
    return free.length > 0;
  }

  /** Whether a volume is on the node and knows of no slot there: it is out of service, or was when it was counted. */
  async #isThereWithout(volume: string, { nodeId, plugin }: SlotSeeker): Promise<boolean> {
    if (![...this.#index.at(placeOf(nodeId, plugin))].includes(volume)) return false;
    return (await this.#slotOf(volume, nodeId)) === undefined;
  }

  /** Slot in the record of a volume. Undefined also while the volume is out of service. */
  async #slotOf(volume: string, nodeId: string): Promise<string | undefined> {
    const view = await this.#volumes.read(volume).catch(unlessQuarantined);
    return view?.context.slots?.[nodeId];
  }

  /** Gives slots to all volumes that came to the node before its plugin had a limit. Runs one count at a time. */
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

  /**
   * Gives a volume its slot. Writes the node first, then the volume, so that the volume's release always finds the slot.
   * A volume that is out of service keeps a slot that only the node has.
   */
  async #addSlot(volume: string, nodeId: string, plugin: string): Promise<void> {
    const held = await this.#slotOf(volume, nodeId);
    const has = this.#reservedAt(nodeId, plugin).some((slot) =>
      held === undefined && this.#index.isUnread(volume) ? slot.volume === volume : slot.reservation === held,
    );
    if (has) return;
    const slot = { volume, reservation: this.#options.random.id() };
    await this.#nodes.ask(nodeAddress(nodeId), { type: 'node.add-slot', plugin, ...slot });
    const isThere = await this.#volumes
      .ask(volume, { type: 'volume.add-slot', nodeId, reservation: slot.reservation })
      .catch((error: unknown) => {
        if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return false;
        unlessQuarantined(error);
        return true;
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

  /** Returns the record of a node. All nodes are in memory. */
  #nodeAt(nodeId: string): NodeContext | undefined {
    return this.#nodes.peek(nodeAddress(nodeId))?.context;
  }

  /** Runs shared work within the caller's limit. The work goes on for other callers. */
  #within<T>({ address, limit }: SlotSeeker, work: () => Promise<T>): Promise<T> {
    const { engine, clock } = this.#options;
    return readBefore({ limit, address, engine, clock }, work);
  }
}

/** Key of a plugin's volumes with a publication on a node, in any state. */
const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

const slotKeyOf = (nodeId: string, reservation: string): string => JSON.stringify([nodeId, 'slot', reservation]);

/** Makes an index of committed publications and slots, by node and plugin. */
const nodeLoads = (volumes: ActorsOf<typeof volumeMachine>): CommittedIndex<typeof volumeMachine> =>
  new CommittedIndex({ of: [volumes], keysOf });

const keysOf = ({ context: { spec, publications, slots = {} } }: { context: VolumeContext }): string[] => [
  ...Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? '')),
  ...Object.entries(slots).map(([nodeId, reservation]) => slotKeyOf(nodeId, reservation)),
];
