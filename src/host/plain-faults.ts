/** Faults of a value in words for authors of configurations. Texts of the schema itself stay as they are. */
import { z } from 'zod';

const kinds: Record<string, string> = {
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of names and texts',
  string: 'a text; a number needs quotes',
};

/** Units of too few or too many. */
const counts: Record<string, string> = { string: 'characters', array: 'entries' };

/** Use as the `error` of `safeParse`. */
export function inPlainWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') {
    const missing = issue.input === undefined ? '; it is missing' : '';
    return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}${missing}`;
  }
  if (issue.code === 'too_small' && isNumber(issue.origin))
    return `must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}`;
  if (issue.code === 'too_big' && isNumber(issue.origin))
    return `must be ${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}`;
  const counted = issue.code === 'too_small' || issue.code === 'too_big' ? counts[issue.origin] : undefined;
  if (counted && issue.code === 'too_small') return `must have at least ${issue.minimum} ${counted}`;
  if (counted && issue.code === 'too_big') return `must have at most ${issue.maximum} ${counted}`;
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.input === undefined) return 'is missing';
  if (issue.expected === 'array') return `must be ${listOf(issue.path)}`;
  return `must be ${isNumber(issue.expected) ? numberOf(issue) : (kinds[issue.expected] ?? issue.expected)}`;
}

const isNumber = (kind: string): boolean => kind === 'number' || kind === 'int';

/** A command is easily written as a text. */
const listOf = (path: PropertyKey[] = []): string => (path.at(-1) === 'command' ? 'a list, e.g. [x, --y]' : 'a list');

/** Names the unit that the field's name ends with. */
function numberOf({ path = [], expected }: { path?: PropertyKey[] | undefined; expected: string }): string {
  const name = String(path.at(-1));
  const unit = name.endsWith('Bytes') ? 'bytes' : name.endsWith('Ms') ? 'milliseconds' : undefined;
  if (unit === undefined) return 'a whole number';
  return `a ${expected === 'int' ? 'whole number' : 'number'} of ${unit}`;
}

/** Keys of the schema at a path; none if it is no map. */
export function allowedKeys(root: z.ZodType, path: PropertyKey[]): string[] {
  let schema: z.core.JSONSchema.BaseSchema = z.toJSONSchema(root, { io: 'input', unrepresentable: 'any' });
  for (const part of path) {
    const next = typeof part === 'number' ? schema.items : schema.properties?.[String(part)];
    if (typeof next !== 'object' || Array.isArray(next)) return [];
    schema = next;
  }
  return Object.keys(schema.properties ?? {});
}
