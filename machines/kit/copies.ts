/** Differences between objects. */

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
