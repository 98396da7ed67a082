/** Slots of a volume on nodes whose plugin has a limit. Pure. The nodes' side: machines/node/node-slots.ts */
import { nodeAddress, volumeAddress } from '../kit/addresses.js';
import type { AnswerParams, MessageParams } from '../kit/host.js';
import type { VolumeChange, VolumeContext } from './types.js';

/** Keeps a slot while the volume is published on its node. */
export const keepSlot = (
  { slots }: Pick<VolumeContext, 'slots'>,
  nodeId: string,
  reservation: string,
): Record<string, string> => ({ ...slots, [nodeId]: reservation });

/**
 * Keeps the slots of nodes where the volume is published, and releases all others, also those that a later
 * reservation has replaced. The messages are part of the commit: a crash neither loses a slot nor keeps one.
 */
export function slotReleases(
  before: Pick<VolumeContext, 'slots'>,
  { key, spec, publications, slots = {} }: VolumeContext,
): { slots: Record<string, string>; messages: MessageParams[] } {
  const kept = Object.fromEntries(Object.entries(slots).filter(([nodeId]) => publications[nodeId]));
  const volume = volumeAddress(key.namespace, key.id);
  const messages = [...Object.entries(before.slots ?? {}), ...Object.entries(slots)]
    .filter(([nodeId, reservation], at, all) => {
      const isRepeated = all.findIndex(([other, same]) => other === nodeId && same === reservation) < at;
      return kept[nodeId] !== reservation && !isRepeated;
    })
    .map(([nodeId, reservation]) => {
      const slot = { volume, reservation };
      const event = { type: 'node.release-slots', plugin: spec?.plugin ?? '', slots: [slot] };
      return { to: nodeAddress(nodeId), event };
    });
  return { slots: kept, messages };
}

/** Answers a node that counts its volumes. A volume that is not there keeps no slot. */
export function addSlot(
  context: VolumeContext,
  { nodeId, reservation }: { nodeId: string; reservation: string },
): VolumeChange {
  if (!context.publications[nodeId]) return { context: {} };
  const { slots, messages } = slotReleases(context, { ...context, slots: keepSlot(context, nodeId, reservation) });
  return { context: { slots }, messages };
}

/** Whether the volume keeps a slot on the node. */
export const slotAnswer = ({ publications }: VolumeContext, { nodeId }: { nodeId: string }): AnswerParams => ({
  value: publications[nodeId] !== undefined,
});
