/** Faults of a value in words for authors of configurations. Texts of the schema itself stay as they are. */
import { z } from 'zod';

const kinds: Record<string, string> = {
  array: 'a list',
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
  const kind = isNumber(issue.expected) ? numberOf(issue) : (kinds[issue.expected] ?? issue.expected);
  return `must be ${kind}${exampleOf(issue.path)}`;
}

/** Values of keys that are easily written in a shorter form. */
const examples: Record<string, string> = {
  command: ', e.g. [x, --y]',
  capacity: ', e.g. { requiredBytes: 1073741824 }',
  redis: ', e.g. { url: redis://127.0.0.1:6379 }',
};

const exampleOf = (path: PropertyKey[] = []): string => examples[String(path.at(-1))] ?? '';

const isNumber = (kind: string): boolean => kind === 'number' || kind === 'int';

/** Names the unit that the field's name ends with. */
function numberOf({ path = [], expected }: { path?: PropertyKey[] | undefined; expected: string }): string {
  const name = String(path.at(-1));
  const unit = name.endsWith('Bytes')
    ? 'bytes, e.g. 10485760'
    : name.endsWith('Ms')
      ? 'milliseconds, e.g. 30000'
      : undefined;
  if (unit === undefined) return 'a whole number';
  return `a ${expected === 'int' ? 'whole number' : 'number'} of ${unit}`;
}

const letters = (key: string): string => key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Names the key that was meant, if only case or hyphens differ. */
export function unknownKey(key: string, allowed: string[]): string {
  const meant = allowed.find((one) => letters(one) === letters(key));
  if (meant !== undefined) return `unknown key, did you mean ${meant}?`;
  return allowed.length === 0 ? 'unknown key' : `unknown key; allowed here: ${allowed.join(', ')}`;
}

/** Formats the path of a value, e.g. `tasks[0].id`. */
export const pathText = (path: PropertyKey[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');

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
