/** Volumes by pages: filtered, in the order of their keys, whatever changes meanwhile. */
import { z } from 'zod';
import { volumesPrefix } from '../../machines/addresses.js';
import type { VolumeContext } from '../../machines/volume-types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { checked, nodeIdSchema, textSchema } from './spec.js';
import { stateOf, type Volume, volumeOf } from './volume-view.js';

/**
 * One page of a listing. `next` is there while there may be more: ask again with it as `after`. A page may hold fewer
 * items than its limit, even none, and still have a next one.
 */
export interface Page<T> {
  items: T[];
  next?: string;
}

const states = [
  'pending-create',
  'created',
  'pending-publish',
  'published',
  'pending-unpublish',
  'pending-expand',
  'pending-modify',
  'pending-delete',
  'deleted',
  'failed',
] as const;

const filterSchema = z.strictObject({
  namespace: textSchema.optional(),
  plugin: textSchema.optional(),
  state: z.enum(states).optional(),
  node: nodeIdSchema.optional(),
  idPrefix: textSchema.optional(),
  limit: z.int().min(1).max(1_000).default(100),
  after: z
    .string()
    .refine((text) => text.startsWith(volumesPrefix), 'must be what a page gave as its next')
    .optional(),
});

/**
 * Those that meet all that is given. `node`: it is published there, or on its way there or from there. `idPrefix`: what
 * their ids begin with. `limit`: of items in a page, 1 to 1,000, default 100. `after`: the `next` of the page before.
 */
export type VolumeFilter = z.input<typeof filterSchema>;

const pageSize = 512;
/** One page looks at no more than this, however few of them are meant. */
const maxLooks = 4_096;

/**
 * What is made or deleted meanwhile may be in it or not; all others are, once.
 * @throws StagecraftError INVALID_ARGUMENT with every fault; STORE_UNAVAILABLE
 */
export async function listVolumes(engine: ActorDoor, given: VolumeFilter): Promise<Page<Volume>> {
  const { limit, after: from, ...filter } = checked(filterSchema, given, 'the filter');
  const prefix = prefixOf(filter);
  const items: Volume[] = [];
  let after = from;
  for (let looks = 0; looks < maxLooks; looks += pageSize) {
    const { rows, next } = await engine.page({ prefix, limit: pageSize, ...(after !== undefined && { after }) });
    for (const [index, [address, view]] of rows.entries()) {
      const context = view.context as VolumeContext;
      const volume = isMeant(context, stateOf(view.state), filter) && volumeOf(view.state, context);
      if (volume) items.push(volume);
      if (items.length < limit) continue;
      const isLast = index === rows.length - 1 && next === undefined;
      return { items, ...(!isLast && { next: address }) };
    }
    if (next === undefined) return { items };
    after = next;
  }
  return { items, ...(after !== undefined && { next: after }) };
}

type Filter = Omit<z.output<typeof filterSchema>, 'limit' | 'after'>;

/** Parts of addresses are encoded character by character: what an id begins with, its address goes on with. */
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
