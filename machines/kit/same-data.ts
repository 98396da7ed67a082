/** Whether two values of plain data say the same, whatever the order of their keys. */
export const isSameData = (one: unknown, other: unknown): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));

/** Whether these are all among those, each with the same value. */
export const isAmong = (these: Record<string, string>, those: Record<string, string>): boolean =>
  Object.entries(these).every(([key, value]) => those[key] === value);

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}
