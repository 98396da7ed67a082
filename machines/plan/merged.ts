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
