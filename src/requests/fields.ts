/**
 * Schemas of the fields that requests share. A request is checked as a whole before anything is stored; the error lists
 * every fault with its path.
 */
import { z } from 'zod';
import type { Bytes, Capability, CapacityRange } from '../../machines/kit/csi-types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { mapOf, maxMapBytes, maxTextBytes, nameSchema, secretRefSchema, sized, textSchema } from '../host/names.js';
import { allowedKeys, inPlainWords, pathText, unknownKey } from '../host/plain-faults.js';

const bytesOf = (map: Record<string, string>): number =>
  Object.entries(map)
    .flat()
    .reduce((sum, part) => sum + Buffer.byteLength(part), 0);

/** Map of texts that is sent to drivers. */
export const mapSchema = mapOf(z.string())
  .refine(
    (entries) => !/\p{Cs}/u.test(Object.entries(entries).flat().join(' ')),
    'must have no broken surrogate pairs, in keys and values',
  )
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

/** A size as plain data: above 2⁵³−1 as decimal text. */
export const plainBytes = (size: bigint | Bytes): Bytes =>
  BigInt(size) <= Number.MAX_SAFE_INTEGER ? Number(size) : String(size);

/**
 * Stored as plain data: above 2⁵³−1 as decimal text. The regular expression aborts, as later checks fail on other text.
 */
export const bytesSchema = z
  .union([z.int().positive(), z.bigint().positive(), z.string().regex(/^[1-9]\d*$/, { abort: true })], {
    error: 'must be a whole number of bytes, at least 1; above 2^53-1 a bigint',
  })
  .refine((size) => BigInt(size) < 2n ** 63n, 'must be below 2^63')
  .transform((size) => plainBytes(size));

/** Use as the `error` of a capacity whose limit is too low. */
export const limitFault = 'limitBytes must not be below requiredBytes';

export const capacitySchema = z
  .strictObject({ requiredBytes: bytesSchema.optional(), limitBytes: bytesSchema.optional() })
  .refine(
    ({ requiredBytes = 0, limitBytes }) => limitBytes === undefined || BigInt(requiredBytes) <= BigInt(limitBytes),
    limitFault,
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

/** Runs a check even if parts of the input are wrong, so that all faults are reported together. */
export const isMap = ({ value }: { value: unknown }): boolean => value instanceof Object && !Array.isArray(value);

const bytesIn = (texts: unknown): number =>
  Array.isArray(texts) ? texts.reduce((sum: number, one) => sum + Buffer.byteLength(String(one)), 0) : 0;

const forFileSystems = 'is for file systems: leave it out for a block device';

/** Adds the checks between fields of a capability. Works also for schemas with optional fields. */
export const fitting = <T extends z.ZodType<CapabilityParts>>(schema: T): T =>
  schema
    .refine(({ mountFlags }) => bytesIn(mountFlags) <= maxMapBytes, {
      path: ['mountFlags'],
      message: `must have at most ${maxMapBytes} bytes together`,
      when: isMap,
    })
    .refine(({ attachmentMode, fsType }) => attachmentMode !== 'block-device' || fsType === undefined, {
      path: ['fsType'],
      message: forFileSystems,
      when: isMap,
    })
    .refine(({ attachmentMode, mountFlags }) => attachmentMode !== 'block-device' || bytesIn(mountFlags) === 0, {
      path: ['mountFlags'],
      message: forFileSystems,
      when: isMap,
    });

export const capabilityShape = {
  accessMode: accessModeSchema,
  attachmentMode: attachmentModeSchema,
  fsType: textSchema.optional(),
  mountFlags: z.array(sized(maxMapBytes)).optional(),
};

/** Output of a schema with that shape, all fields optional. */
export type PartsOf<Shape extends z.ZodRawShape> = { [Part in keyof Shape]?: z.output<Shape[Part]> | undefined };

type CapabilityParts = PartsOf<typeof capabilityShape>;

export const capabilitySchema = fitting(z.strictObject(capabilityShape));

export const namespaceSchema = nameSchema.default('default');
export const keySchema = z.strictObject({ namespace: namespaceSchema, id: nameSchema });

export const secretsSchema = mapOf(secretRefSchema)
  .refine((refs) => !('' in refs), 'must have no empty key')
  .refine(
    (refs) => Object.keys(refs).every((key) => Buffer.byteLength(key) <= maxTextBytes),
    `must have keys of at most ${maxTextBytes} bytes`,
  );

/** The default namespace is `default`. */
export type VolumeKeyInput = z.input<typeof keySchema>;

/**
 * Parses input with a schema.
 * @param what names the whole input in the messages
 * @throws {StagecraftError} INVALID_ARGUMENT with every fault as `path: what is allowed`
 */
export function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const { data, error } = schema.safeParse(value, { error: inPlainWords });
  if (!error) return data;
  const faults = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(
          (key) => `${pathText([...issue.path, key])}: ${unknownKey(key, allowedKeys(schema, issue.path))}`,
        )
      : [`${pathText(issue.path) || what}: ${issue.message}`],
  );
  const message = `cannot accept ${what}:\n  ${faults.join('\n  ')}`;
  throw new StagecraftError('INVALID_ARGUMENT', message, { faults });
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

export const volumeKeyOf = (key: unknown, what = 'the key of a volume'): VolumeKey => checked(keySchema, key, what);
