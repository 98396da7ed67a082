/**
 * Attach slots of a node, for plugins that limit their volumes on a node. Each slot is reserved before its volume is
 * published there. Pure. Why: docs/decisions/0016-slots-and-names-of-nodes.md
 */

/** Slot of a volume: one, however many of its requests have reserved it. */
export interface Slot {
  /** Address of the volume. */
  volume: string;
  /** Random id of the request. */
  reservation: string;
}

interface PluginSlots {
  /** Rises when the plugin's limit ends: counts that began before are void. */
  number: number;
  /** Whether each volume on the node has its slot. Until then no other slot is reserved. */
  isCounted: boolean;
  reserved: Slot[];
}

/** By plugin. */
export type SlotsByPlugin = Record<string, PluginSlots>;

/** Answer to a request for a slot. `not-limited`: the plugin has no limit there, and needs no slots. */
export type SlotAnswer = { status: 'reserved' | 'not-limited' } | { status: 'not-counted'; number: number };

/** Limit of a plugin on a node. */
interface SlotLimit {
  name: string;
  maxVolumes?: number;
}

const none: PluginSlots = { number: 0, isCounted: false, reserved: [] };

export const slotsOf = (slots: SlotsByPlugin, plugin: string): PluginSlots => slots[plugin] ?? none;

/** Number of volumes with a slot. */
export const countOf = ({ reserved }: PluginSlots): number => new Set(reserved.map(({ volume }) => volume)).size;

/** Whether no slot is left for a volume without one. */
export function isFull(slots: PluginSlots, volume: string, limit: number | undefined): boolean {
  if (limit === undefined || slots.reserved.some((slot) => slot.volume === volume)) return false;
  return countOf(slots) >= limit;
}

export const withSlot = (slots: SlotsByPlugin, plugin: string, { volume, reservation }: Slot): SlotsByPlugin => {
  const present = slotsOf(slots, plugin);
  if (present.reserved.some((slot) => slot.reservation === reservation)) return slots;
  return { ...slots, [plugin]: { ...present, reserved: [...present.reserved, { volume, reservation }] } };
};

/** Releases slots; others of the same volumes stay reserved. */
export const withoutSlots = (slots: SlotsByPlugin, plugin: string, released: readonly Slot[]): SlotsByPlugin => {
  const present = slots[plugin];
  const ids = new Set(released.map(({ reservation }) => reservation));
  if (!present?.reserved.some(({ reservation }) => ids.has(reservation))) return slots;
  return {
    ...slots,
    [plugin]: { ...present, reserved: present.reserved.filter(({ reservation }) => !ids.has(reservation)) },
  };
};

export const withCount = (slots: SlotsByPlugin, plugin: string, number: number): SlotsByPlugin => {
  const present = slotsOf(slots, plugin);
  return present.number === number ? { ...slots, [plugin]: { ...present, isCounted: true } } : slots;
};

/** Drops the slots of plugins that report no limit any more: volumes come without a slot then. */
export function slotsAsReported(slots: SlotsByPlugin, plugins: readonly SlotLimit[]): SlotsByPlugin {
  const ended = plugins.filter(({ name, maxVolumes }) => maxVolumes === undefined && slots[name] !== undefined);
  if (ended.length === 0) return slots;
  return {
    ...slots,
    ...Object.fromEntries(ended.map(({ name }) => [name, { ...none, number: slotsOf(slots, name).number + 1 }])),
  };
}
