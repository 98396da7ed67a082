/** Finds the actors that belong beside one on a timeline: the mounts of a volume, the volumes of an alloc or a snapshot. Pure. */

interface Key {
  namespace: string;
  id: string;
}

const isKey = (value: unknown): value is Key =>
  value instanceof Object &&
  typeof Reflect.get(value, 'namespace') === 'string' &&
  typeof Reflect.get(value, 'id') === 'string';

/** Keys of volumes that a context names, however deep: of an alloc its volumes, of a snapshot its source. */
function* keysIn(value: unknown, depth = 4): Generator<Key> {
  if (isKey(value)) yield value;
  if (!(value instanceof Object) || depth === 0) return;
  for (const inner of Object.values(value)) yield* keysIn(inner, depth - 1);
}

/** Kinds whose addresses end with the key of a volume. */
const keyed = /^(volume|mount\/[^/]+)$/;

/**
 * Addresses of known actors that are about the same volumes, in order, without the actor itself.
 * @param known addresses of all actors
 */
export function relatedTo(address: string, context: object | undefined, known: readonly string[]): string[] {
  const ends = new Set(
    [...keysIn(context)].map(({ namespace, id }) => `${encodeURIComponent(namespace)}/${encodeURIComponent(id)}`),
  );
  return known
    .filter((one) => {
      const end = one.split('/').slice(-2).join('/');
      return one !== address && ends.has(end) && keyed.test(one.slice(0, -end.length - 1));
    })
    .sort();
}
