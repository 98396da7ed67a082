/** Where volumes are published, and with which slots: an index of what is committed. */
import type { VolumeContext } from '../../machines/volume/types.js';
import type { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorsOf } from '../engine/actors-of.js';
import { CommittedIndex } from '../volumes/committed-index.js';

/** Key of the volumes of a plugin that are published on a node: also those on their way to or from it, or that have failed there. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

/** Key of the volume that has a slot. */
export const slotKeyOf = (nodeId: string, reservation: string): string => JSON.stringify([nodeId, 'slot', reservation]);

export const nodeLoads = (volumes: ActorsOf<typeof volumeMachine>): CommittedIndex<typeof volumeMachine> =>
  new CommittedIndex({ of: [volumes], keysOf });

const keysOf = ({ spec, publications, slots = {} }: VolumeContext): string[] => [
  ...Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? '')),
  ...Object.entries(slots).map(([nodeId, reservation]) => slotKeyOf(nodeId, reservation)),
];
