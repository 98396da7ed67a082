/**
 * The one rule of names that users give: to volumes, namespaces, snapshots, allocs, nodes, plugins, tasks and the volumes
 * of an alloc. Every entry point checks it, so that a map by such names is never asked for what all objects inherit.
 */
import { z } from 'zod';
import { atMost, maxCsiIdBytes, maxNodeIdBytes, printable, type Rule, uninherited } from './name-rules.js';
import { inPlainWords } from './plain-faults.js';

/** Limits of the CSI specification in bytes: of a string, of a map. */
export const maxTextBytes = 128;
export const maxMapBytes = 4_096;

const under = (schema: z.ZodString, { holds, fault }: Rule): z.ZodString => schema.refine(holds, fault);

/** A text of at least one character and at most that many bytes. */
export const sized = (maxBytes: number): z.ZodString =>
  under(under(z.string().min(1, 'must not be empty'), atMost(maxBytes)), printable);

/** Refuses names of properties that every object has. */
export const notInherited = (schema: z.ZodString): z.ZodString => under(schema, uninherited);

export const textSchema = sized(maxTextBytes);
export const nameSchema = notInherited(sized(maxTextBytes));
export const nodeIdSchema = notInherited(sized(maxNodeIdBytes));
/** Id of a volume or snapshot that a driver has given. */
export const csiIdSchema = sized(maxCsiIdBytes);
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

/** Reference to a secret; its value is fetched when it is used. */
export const secretRefSchema: z.ZodType<string | Record<string, string>> = z.union(
  [z.string().min(1, 'must not be empty'), mapOf(z.string())],
  { error: 'must be a reference to a secret: a text that is not empty, or a map of texts' },
);

/** First fault of a value, as `must …`; undefined without one. */
export const faultIn = (schema: z.ZodType, value: unknown): string | undefined =>
  schema.safeParse(value, { error: inPlainWords }).error?.issues[0]?.message;
