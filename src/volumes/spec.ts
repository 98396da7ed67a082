/** Checks the spec of a volume, and the filter of a list. Reports all faults at once, each with its path. */
import { z } from 'zod';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import type { Capability } from '../../machines/kit/csi-types.js';
import { type VolumeSpec as KnownSpec, volumeStates } from '../../machines/volume/types.js';
import { csiIdSchema, nameSchema, nodeIdSchema, textSchema } from '../host/names.js';
import { filterShape, pageShape } from '../requests/actor-pages.js';
import {
  capabilitySchema,
  capacitySchema,
  definedCapability,
  definedRange,
  isMap,
  keySchema,
  mapSchema,
  namespaceSchema,
  secretsSchema,
  segmentsSchema,
} from '../requests/fields.js';

const isPartOf = (part: Record<string, string>[], whole: Record<string, string>[]): boolean => {
  const known = whole.map((one) => JSON.stringify(Object.entries(one).sort()));
  return part.every((one) => known.includes(JSON.stringify(Object.entries(one).sort())));
};

const forNewOnes = 'cannot be given with external: the volume exists already';

/** Whether no key of a map has a value. */
const isEmpty = (map: unknown): boolean =>
  Object.values(map ?? {}).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));

export const specSchema = z
  .strictObject({
    namespace: namespaceSchema,
    id: nameSchema,
    plugin: nameSchema,
    capacity: capacitySchema.default({}),
    capabilities: z.array(capabilitySchema).min(1, 'must name at least one'),
    parameters: mapSchema.default({}),
    mutableParameters: mapSchema.default({}),
    secrets: secretsSchema.default({}),
    topology: z
      .strictObject({ requisite: z.array(segmentsSchema).default([]), preferred: z.array(segmentsSchema).default([]) })
      .refine(
        ({ requisite, preferred }) => requisite.length === 0 || isPartOf(preferred, requisite),
        'must have every one of preferred in requisite too',
      )
      .default(() => ({ requisite: [], preferred: [] })),
    source: z
      .union([z.strictObject({ volume: keySchema }), z.strictObject({ volumeSnapshot: csiIdSchema })], {
        error: 'must be { volume: { namespace, id } } or { volumeSnapshot: id }',
      })
      .optional(),
    external: z.strictObject({ csiId: csiIdSchema, context: mapSchema.default({}) }).optional(),
  })
  .refine(({ external, source }) => !external || !source, { path: ['source'], message: forNewOnes, when: isMap })
  .refine(({ external, capacity }) => !external || isEmpty(capacity), {
    path: ['capacity'],
    message: forNewOnes,
    when: isMap,
  })
  .refine(({ external, topology }) => !external || isEmpty(topology), {
    path: ['topology'],
    message: forNewOnes,
    when: isMap,
  });

/** Spec of `runtime.volumes.create`. Omitted fields have defaults. */
export type VolumeSpec = z.input<typeof specSchema>;
export type CheckedSpec = z.output<typeof specSchema>;

/** Turns a spec into the one of the record. @param sourceId CSI id of the source volume or snapshot */
export function knownSpec(
  { namespace: _, id: __, source, external, ...rest }: CheckedSpec,
  sourceId: string,
): KnownSpec {
  const capabilities: Capability[] = rest.capabilities.map(definedCapability);
  const capacity = definedRange(rest.capacity);
  const known: KnownSpec = { ...rest, capabilities, capacity };
  if (source) known.source = { ...source, csiId: sourceId };
  if (external) known.external = external;
  return known;
}

export const filterSchema = z.strictObject({
  ...filterShape(volumeStates),
  node: nodeIdSchema.optional().describe('With a publication there.'),
  idPrefix: textSchema.optional(),
  ...pageShape(volumesPrefix),
});

/**
 * Conditions that a listed volume meets, all of them. `node`: has a publication there in any state. `idPrefix`: start of the
 * volume's id. `limit`: items in a page, 1 to 1,000, default 100. `after`: the `next` of the page before.
 */
export type VolumeFilter = z.input<typeof filterSchema>;
