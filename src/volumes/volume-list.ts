/** Lists volumes by pages: filtered, in the order of their keys, stable under concurrent changes. */
import { z } from 'zod';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import { type VolumeContext, volumeStates } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { nameSchema, nodeIdSchema, textSchema } from '../host/names.js';
import { type Page, pageOf, pageShape } from '../requests/actor-pages.js';
import { checked } from '../requests/fields.js';
import { type Volume, volumeOf } from './volume-view.js';

const filterSchema = z.strictObject({
  namespace: nameSchema.optional(),
  plugin: nameSchema.optional(),
  state: z.enum(volumeStates).optional(),
  node: nodeIdSchema.optional(),
  idPrefix: textSchema.optional(),
  ...pageShape(volumesPrefix),
});

/**
 * Conditions that a listed volume meets, all of them. `node`: has a publication there in any state. `idPrefix`: start of the
 * volume's id. `limit`: items in a page, 1 to 1,000, default 100. `after`: the `next` of the page before.
 */
export type VolumeFilter = z.input<typeof filterSchema>;

/**
 * Lists one page. Volumes created or deleted meanwhile may be missing; all others appear exactly once.
 * @throws StagecraftError INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE
 */
export async function listVolumes(engine: ActorSystem, given: VolumeFilter): Promise<Page<Volume>> {
  const { limit, after, ...filter } = checked(filterSchema, given, 'the filter');
  return pageOf(
    new ActorsOf(engine, volumeMachine),
    { prefix: prefixOf(filter), limit, after },
    ({ state, context }) =>
      isMeant(context, volumeStateOf(state, context), filter) ? volumeOf(state, context) : undefined,
  );
}

type Filter = Omit<z.output<typeof filterSchema>, 'limit' | 'after'>;

/**
 * Makes the prefix of addresses. An id's prefix is also one of its address, as parts are encoded character by character.
 */
function prefixOf({ namespace, idPrefix = '' }: Filter): string {
  if (namespace === undefined) return volumesPrefix;
  return `${volumesPrefix}${encodeURIComponent(namespace)}/${encodeURIComponent(idPrefix)}`;
}

const isMeant = (
  { key, spec, publications }: VolumeContext,
  now: string,
  { plugin, state, node, idPrefix = '' }: Filter,
): boolean =>
  (plugin === undefined || spec?.plugin === plugin) &&
  (state === undefined || now === state) &&
  (node === undefined || Object.hasOwn(publications, node)) &&
  key.id.startsWith(idPrefix);
