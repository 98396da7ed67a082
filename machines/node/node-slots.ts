/**
 * The attach slots of a node, for plugins that limit how many of their volumes a node may have. Each slot is reserved for one
 * volume before that volume is published there. Pure. Why so: docs/decisions/0016-slots-and-names-of-nodes.md
 */

/** One volume has one slot, however many of its requests have reserved it. */
export interface Slot {
  /** The address of the volume. */
  volume: string;
  /** Random, of one request. */
  reservation: string;
}

export interface PluginSlots {
  /** Rises as the plugin's limit ends: a count that began before then is void. */
  number: number;
  /** Each volume that is on the node has its slot. Until then, no other slot is reserved. */
  isCounted: boolean;
  reserved: Slot[];
}

/** By plugin. */
export type NodeSlots = Record<string, PluginSlots>;

/** What a request for a slot is answered. `not-limited`: the plugin takes any number of volumes there, and needs no slots. */
export type SlotAnswer = { status: 'reserved' | 'not-limited' } | { status: 'not-counted'; number: number };

/** The limit of a plugin on a node. */
export interface SlotLimit {
  name: string;
  maxVolumes?: number;
}

const none: PluginSlots = { number: 0, isCounted: false, reserved: [] };

export const slotsOf = (slots: NodeSlots, plugin: string): PluginSlots => slots[plugin] ?? none;

/** How many volumes have a slot. */
export const countOf = ({ reserved }: PluginSlots): number => new Set(reserved.map(({ volume }) => volume)).size;

/** Whether a volume without a slot can't get one. */
export function isFull(slots: PluginSlots, volume: string, limit: number | undefined): boolean {
  if (limit === undefined || slots.reserved.some((slot) => slot.volume === volume)) return false;
  return countOf(slots) >= limit;
}

export const withSlot = (slots: NodeSlots, plugin: string, { volume, reservation }: Slot): NodeSlots => {
  const present = slotsOf(slots, plugin);
  if (present.reserved.some((slot) => slot.reservation === reservation)) return slots;
  return { ...slots, [plugin]: { ...present, reserved: [...present.reserved, { volume, reservation }] } };
};

/** Other slots of the same volumes stay reserved. */
export const withoutSlots = (slots: NodeSlots, plugin: string, released: readonly Slot[]): NodeSlots => {
  const present = slots[plugin];
  const ids = new Set(released.map(({ reservation }) => reservation));
  if (!present?.reserved.some(({ reservation }) => ids.has(reservation))) return slots;
  return {
    ...slots,
    [plugin]: { ...present, reserved: present.reserved.filter(({ reservation }) => !ids.has(reservation)) },
  };
};

export const counted = (slots: NodeSlots, plugin: string, number: number): NodeSlots => {
  const present = slotsOf(slots, plugin);
  return present.number === number ? { ...slots, [plugin]: { ...present, isCounted: true } } : slots;
};

/** Where a plugin has no limit any more, volumes come without a slot: those that have one say nothing of the others. */
export function slotsAsReported(slots: NodeSlots, plugins: readonly SlotLimit[]): NodeSlots {
  const ended = plugins.filter(({ name, maxVolumes }) => maxVolumes === undefined && slots[name] !== undefined);
  if (ended.length === 0) return slots;
  return {
    ...slots,
    ...Object.fromEntries(ended.map(({ name }) => [name, { ...none, number: slotsOf(slots, name).number + 1 }])),
  };
}
