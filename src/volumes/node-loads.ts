/** How many volumes of a plugin are on a node, for those plugins that can't have any number. */
import { volumesPrefix } from '../../machines/kit/addresses.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { CommittedIndex } from './committed-index.js';

/** By node and plugin. */
export const placeOf = (nodeId: string, plugin: string): string => JSON.stringify([nodeId, plugin]);

/** The volumes at each place: also those that are on their way to or from it, or have failed there. */
export const nodeLoads = (engine: Pick<ActorDoor, 'page' | 'observe'>): CommittedIndex =>
  // The engine keeps contexts as the machines made them, but does not know their types.
  new CommittedIndex(engine, { prefixes: [volumesPrefix], keysOf: (context) => placesOf(context as VolumeContext) });

const placesOf = ({ spec, publications }: VolumeContext): string[] =>
  Object.keys(publications).map((nodeId) => placeOf(nodeId, spec?.plugin ?? ''));
