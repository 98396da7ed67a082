/** Checks the spec of a snapshot, and the filter of a list. Reports all faults at once, each with its path. */
import { z } from 'zod';
import { snapshotStates } from '../../machines/snapshot/types.js';
import { nameSchema } from '../host/names.js';
import { filterShape, pageShape } from '../requests/actor-pages.js';
import { keySchema, mapSchema, secretsSchema } from '../requests/fields.js';

const common = {
  namespace: nameSchema.default('default'),
  id: nameSchema,
  parameters: mapSchema.default({}),
  /** Default: those of its volumes. */
  secrets: secretsSchema.optional(),
};

export const snapshotSchema = z.strictObject({ ...common, volume: keySchema });

export const groupSnapshotSchema = z.strictObject({
  ...common,
  volumes: z
    .array(keySchema)
    .min(1)
    .refine((keys) => new Set(keys.map(({ namespace, id }) => `${namespace}\n${id}`)).size === keys.length, {
      message: 'must name each volume only once',
    }),
});

/** Spec of `runtime.snapshots.create`. Omitted fields have defaults; the default namespace is `default`. */
export type SnapshotSpec = z.input<typeof snapshotSchema>;
/** Spec of `runtime.groupSnapshots.create`. All volumes must belong to one plugin. */
export type GroupSnapshotSpec = z.input<typeof groupSnapshotSchema>;

export type CheckedSnapshot = z.output<typeof snapshotSchema>;
export type CheckedGroup = z.output<typeof groupSnapshotSchema>;

export const snapshotFilter = (prefix: string) =>
  z.strictObject({ ...filterShape(snapshotStates), ...pageShape(prefix) });

/**
 * Conditions for listed snapshots. `after`: the `next` of the page before. `limit`: items in a page, 1 to 1,000, default
 * 100.
 */
export type SnapshotFilter = z.input<ReturnType<typeof snapshotFilter>>;
