/** What is wrong with a value, in words for whoever writes configurations. Faults that a schema words itself stay as they are. */
import type { z } from 'zod';

const kinds: Record<string, string> = {
  array: 'a list, e.g. [x, --y]',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a map of keys and values',
  record: 'a map of names and texts',
  string: 'a text; a number needs quotes',
};

/** To be handed to `safeParse` as its `error`. */
export function inPlainWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.input === undefined) return 'is missing';
  const isCount = issue.expected === 'number' || issue.expected === 'int';
  return `must be ${isCount ? numberOf(issue.path) : (kinds[issue.expected] ?? issue.expected)}`;
}

/** With the unit that its name ends with. */
function numberOf(path: PropertyKey[] = []): string {
  const name = String(path.at(-1));
  if (name.endsWith('Bytes')) return 'a number of bytes';
  return name.endsWith('Ms') ? 'a number of milliseconds' : 'a whole number';
}
