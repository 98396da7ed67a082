/** What a snapshot may be asked to be: checked whole, every fault at once with its path, before anything is stored. */
import { z } from 'zod';
import { snapshotStates } from '../../machines/snapshot/types.js';
import { nameSchema } from '../host/names.js';
import { pageShape } from '../requests/actor-pages.js';
import { checked, keySchema, mapSchema, secretsSchema } from '../requests/fields.js';

const common = {
  namespace: nameSchema.default('default'),
  id: nameSchema,
  parameters: mapSchema.default({}),
  secrets: secretsSchema.default({}),
};

export const snapshotSchema = z.strictObject({ ...common, volume: keySchema });

export const groupSnapshotSchema = z.strictObject({
  ...common,
  volumes: z
    .array(keySchema)
    .min(1)
    .refine((keys) => new Set(keys.map(({ namespace, id }) => `${namespace}\n${id}`)).size === keys.length, {
      message: 'must have each volume once',
    }),
});

/** `runtime.snapshots.create`: what is left out has its default; of the namespaces, that is `default`. */
export type SnapshotSpec = z.input<typeof snapshotSchema>;
/** `runtime.groupSnapshots.create`: volumes of one plugin. */
export type GroupSnapshotSpec = z.input<typeof groupSnapshotSchema>;

export type CheckedSnapshot = z.output<typeof snapshotSchema>;
export type CheckedGroup = z.output<typeof groupSnapshotSchema>;

const filterShape = {
  namespace: nameSchema.optional(),
  plugin: nameSchema.optional(),
  state: z.enum(snapshotStates).optional(),
};

/** Of those whose addresses begin with `prefix`. */
const filterSchema = (prefix: string) => z.strictObject({ ...filterShape, ...pageShape(prefix) });

/** `after`: where the page before ended, its `next`. `limit`: default 100, at most 1,000. */
export type SnapshotFilter = z.input<ReturnType<typeof filterSchema>>;

export const snapshotFilters = (prefix: string): ((filter: unknown) => z.output<ReturnType<typeof filterSchema>>) => {
  const schema = filterSchema(prefix);
  return (filter) => checked(schema, filter, 'the filter');
};
