/**
 * Does the same work for each item, only so many at once, begun in order. Rejects with the first failure, and begins
 * no other then.
 */
export async function forEachLimited<T extends object>(
  all: Iterable<T>,
  most: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = [...all];
  const go = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  try {
    await Promise.all(Array.from({ length: Math.min(most, left.length) }, go));
  } finally {
    left.length = 0;
  }
}
