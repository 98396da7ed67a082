/** What a volume may be asked to be: checked whole, every fault at once with its path, before anything is stored. */
import { z } from 'zod';
import type { Bytes, Capability, CapacityRange, SecretRef } from '../../machines/csi-types.js';
import type { VolumeSpec as KnownSpec, VolumeKey } from '../../machines/volume-types.js';
import { StagecraftError } from '../errors.js';
import { inPlainWords } from '../host/plain-faults.js';

/** The CSI specification's limits: of a string, of a mapSchema, of a node id. In bytes. */
const maxTextBytes = 128;
const maxMapBytes = 4_096;
const maxNodeIdBytes = 256;

const sized = (most: number): z.ZodString =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= most, `must have at most ${most} bytes`)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must have no control characters or broken surrogate pairs');

export const textSchema = sized(maxTextBytes);
const text = textSchema;
export const nodeIdSchema = sized(maxNodeIdBytes);

const bytesOf = (map: Record<string, string>): number =>
  Object.entries(map)
    .flat()
    .reduce((sum, part) => sum + Buffer.byteLength(part), 0);

/** Of what is sent to drivers. */
export const mapSchema = z
  .record(z.string(), z.string())
  .refine(
    (entries) => bytesOf(entries) <= maxMapBytes,
    `must have at most ${maxMapBytes} bytes, keys and values together`,
  );

export const segmentsSchema = mapSchema.refine(
  (entries) => Object.keys(entries).length > 0,
  'must name at least one segment',
);

export const parametersSchema = mapSchema.refine(
  (entries) => Object.keys(entries).length > 0,
  'must name at least one parameter',
);

/** Kept as plain data: above 2⁵³−1 in decimal. */
export const bytesSchema = z
  .union([z.int().positive(), z.bigint().positive(), z.string().regex(/^[1-9]\d*$/, 'must be a number of bytes')])
  .refine((size) => BigInt(size) < 2n ** 63n, 'must be below 2^63')
  .transform((size): Bytes => (BigInt(size) <= Number.MAX_SAFE_INTEGER ? Number(size) : String(size)));

export const capacitySchema = z
  .strictObject({ requiredBytes: bytesSchema.optional(), limitBytes: bytesSchema.optional() })
  .refine(
    ({ requiredBytes = 0, limitBytes }) => limitBytes === undefined || BigInt(requiredBytes) <= BigInt(limitBytes),
    'must have a limitBytes that is not below requiredBytes',
  );

const accessModes = [
  'single-node-writer',
  'single-node-reader-only',
  'single-node-single-writer',
  'single-node-multi-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
  'multi-node-multi-writer',
] as const;
export const accessModeSchema = z.enum(accessModes);
export const attachmentModeSchema = z.enum(['file-system', 'block-device']);

export const capabilitySchema = z
  .strictObject({
    accessMode: accessModeSchema,
    attachmentMode: attachmentModeSchema,
    fsType: text.optional(),
    mountFlags: z.array(text).optional(),
  })
  .superRefine(({ attachmentMode, fsType, mountFlags = [] }, context) => {
    const total = mountFlags.reduce((sum, flag) => sum + Buffer.byteLength(flag), 0);
    if (total > maxMapBytes)
      context.addIssue({ code: 'custom', path: ['mountFlags'], message: `must have at most ${maxMapBytes} bytes` });
    if (attachmentMode === 'file-system') return;
    const message = 'is for file systems: leave it out for a block device';
    if (fsType !== undefined) context.addIssue({ code: 'custom', path: ['fsType'], message });
    if (mountFlags.length > 0) context.addIssue({ code: 'custom', path: ['mountFlags'], message });
  });

const namespace = text.default('default');
export const keySchema = z.strictObject({ namespace, id: text });

const secretRef: z.ZodType<SecretRef> = z.union([z.string().min(1), z.record(z.string(), z.string())]);
export const secretsSchema = z.record(text, secretRef);

/** Of two lists of segments, whether each of the one is in the other. */
const isPartOf = (part: Record<string, string>[], whole: Record<string, string>[]): boolean => {
  const known = whole.map((one) => JSON.stringify(Object.entries(one).sort()));
  return part.every((one) => known.includes(JSON.stringify(Object.entries(one).sort())));
};

export const specSchema = z
  .strictObject({
    namespace,
    id: text,
    plugin: text,
    capacity: capacitySchema.prefault({}),
    capabilities: z.array(capabilitySchema).min(1),
    parameters: mapSchema.default({}),
    mutableParameters: mapSchema.default({}),
    secrets: secretsSchema.default({}),
    topology: z
      .strictObject({ requisite: z.array(segmentsSchema).default([]), preferred: z.array(segmentsSchema).default([]) })
      .refine(
        ({ requisite, preferred }) => requisite.length === 0 || isPartOf(preferred, requisite),
        'must have every one of preferred in requisite too',
      )
      .prefault({}),
    source: z.union([z.strictObject({ volume: keySchema }), z.strictObject({ volumeSnapshot: text })]).optional(),
    external: z.strictObject({ csiId: text, context: mapSchema.default({}) }).optional(),
  })
  .superRefine(({ external, source, capacity, topology }, context) => {
    if (!external) return;
    const message = 'is for a volume that is to be made: one that exists is as it is';
    const fault = (path: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (source) fault('source');
    if (capacity.requiredBytes !== undefined || capacity.limitBytes !== undefined) fault('capacity');
    if (topology.requisite.length + topology.preferred.length > 0) fault('topology');
  });

/** `runtime.volumes.create`: what is left out has its default. */
export type VolumeSpec = z.input<typeof specSchema>;
/** The default namespace is `default`. */
export type VolumeKeyInput = z.input<typeof keySchema>;
export type CheckedSpec = z.output<typeof specSchema>;

/**
 * @param what names the whole, for faults that are of no part of it
 * @throws StagecraftError INVALID_ARGUMENT with every fault as `path: what is allowed`
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { data, error } = schema.safeParse(value, { error: inPlainWords });
  if (!error) return data;
  const faults = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${pathOf([...issue.path, key])}: unknown key`)
      : [`${pathOf(issue.path) || what}: ${issue.message}`],
  );
  const message = `${what} can't be taken:\n  ${faults.join('\n  ')}`;
  throw new StagecraftError('INVALID_ARGUMENT', message, { faults });
}

const pathOf = (path: PropertyKey[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');

/** The spec as the machine keeps it. @param sourceId the driver's id of what it begins with */
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

export const definedRange = ({ requiredBytes, limitBytes }: z.output<typeof capacitySchema>): CapacityRange => ({
  ...(requiredBytes !== undefined && { requiredBytes }),
  ...(limitBytes !== undefined && { limitBytes }),
});

export const definedCapability = ({ fsType, mountFlags, ...rest }: z.output<typeof capabilitySchema>): Capability => ({
  ...rest,
  ...(fsType !== undefined && { fsType }),
  ...(mountFlags !== undefined && { mountFlags }),
});

export const keyOf = (key: unknown, what = 'the key of a volume'): VolumeKey => checked(keySchema, key, what);
