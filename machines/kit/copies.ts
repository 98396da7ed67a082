/** Copies of objects that V8 keeps in few hidden classes, on every version of Node. */

/**
 * Returns `{ ...known, ...change }`. Node 20 gives each object that a spread adds keys to a hidden class of its own, which
 * makes this one and all its copies slow.
 */
export function merged<T extends object>(known: T, change: Partial<T>): T;
export function merged(known: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  for (const key in change) if (!(key in known)) return mergedByKey(known, change);
  return { ...known, ...change };
}

function mergedByKey(known: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const key in known) all[key] = known[key];
  for (const key in change) all[key] = change[key];
  return all;
}

/** Returns the properties of `after` that differ from `before`, except one. */
export function changesOf<T extends object>(before: T, after: T, except?: string): Partial<T>;
export function changesOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  except?: string,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const key in after) if (after[key] !== before[key] && key !== except) changes[key] = after[key];
  return changes;
}
