/**
 * The one rule of names that users give: to volumes, namespaces, snapshots, allocs, nodes, plugins, tasks and the volumes
 * of an alloc. Every entry point checks it, so that a map by such names is never asked for what all objects inherit.
 */
import { z } from 'zod';
import { inPlainWords } from './plain-faults.js';

/** Limits of the CSI specification in bytes: of a string, of a node id, of a map. */
export const maxTextBytes = 128;
const maxNodeIdBytes = 256;
export const maxMapBytes = 4_096;

/** A text of at least one character and at most that many bytes. */
export const sized = (maxBytes: number): z.ZodString =>
  z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => Buffer.byteLength(text) <= maxBytes, `must have at most ${maxBytes} bytes`)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'must have no control characters or broken surrogate pairs');

/** Refuses names of properties that every object has. */
export const notInherited = (schema: z.ZodString): z.ZodString =>
  schema.refine(
    (text) => !(text in Object.prototype),
    'must not be a name that every JavaScript object has, as constructor: take another one',
  );

/** A text from outside, e.g. an id that a driver gave. */
export const textSchema = sized(maxTextBytes);
export const nameSchema = notInherited(sized(maxTextBytes));
export const nodeIdSchema = notInherited(sized(maxNodeIdBytes));
/** Node id that a driver gives. */
export const csiNodeIdSchema = sized(maxNodeIdBytes);

/** A map. Zod would drop the key `__proto__` silently: refused before. */
export const mapOf = <T extends z.ZodType>(values: T) => {
  const record = z.record(z.string(), values);
  return z
    .custom<z.input<typeof record>>(
      (map) => !(map instanceof Object && Object.hasOwn(map, '__proto__')),
      'must have no key __proto__: take another name',
    )
    .pipe(record);
};

/** First fault of a value, as `must …`; undefined without one. */
export const faultIn = (schema: z.ZodType, value: unknown): string | undefined =>
  schema.safeParse(value, { error: inPlainWords }).error?.issues[0]?.message;
