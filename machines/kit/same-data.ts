/** Whether two values of plain data say the same, whatever the order of their keys. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) return isSameList(one, other);
  return isObject(one) && isObject(other) && hasSame(one, other) && hasNoMore(one, other);
}

/** Whether these are all among those, each with the same value. */
export const isAmong = (these: Record<string, string>, those: Record<string, string>): boolean =>
  Object.entries(these).every(([key, value]) => those[key] === value);

const isSameList = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) &&
  Array.isArray(other) &&
  one.length === other.length &&
  one.every((item, at) => isSameData(item, other[at]));

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Treats an undefined property as absent. */
function hasSame(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const key in one) if (!isSameData(one[key], Object.hasOwn(other, key) ? other[key] : undefined)) return false;
  return true;
}

function hasNoMore(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}
