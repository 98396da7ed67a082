/** Where volumes are published, and with which slots: an index of what is committed. */
import { volumesPrefix } from '../../machines/kit/addresses.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { ActorSystem } from '../engine/engine.js';
import { CommittedIndex } from '../volumes/committed-index.js';

/** Key of the volumes of a plugin that are published on a node: also those on their way to or from it, or that have failed there. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

/** Key of the volume that has a slot. */
export const slotKeyOf = (nodeId: string, reservation: string): string => JSON.stringify([nodeId, 'slot', reservation]);

export const nodeLoads = (engine: Pick<ActorSystem, 'page' | 'observe'>): CommittedIndex =>
  // The engine keeps contexts as the machines made them, but does not know their types.
  new CommittedIndex(engine, { prefixes: [volumesPrefix], keysOf: (context) => keysOf(context as VolumeContext) });

const keysOf = ({ spec, publications, slots = {} }: VolumeContext): string[] => [
  ...Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? '')),
  ...Object.entries(slots).map(([nodeId, reservation]) => slotKeyOf(nodeId, reservation)),
];
