/**
 * Converts values to plain JSON. Data that enters or leaves a machine is plain JSON, so that a replay and a restart see
 * the same values. Used at every entry of the engine, and in each snapshot (hosted-machine.ts).
 */

/**
 * Copies a value as plain JSON, so that later changes by its giver have no effect.
 * @throws {TypeError} for values that JSON cannot hold: bigint, cycles
 */
export const asData = <T>(value: T): T => (isData(value) ? copyOfData(value) : JSON.parse(JSON.stringify(value)));

/** Copies plain data, several times faster than a round trip through text. */
export function copyOfData<T>(value: T): T;
export function copyOfData(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.length === 0 ? [] : value.map((item) => copyOfData(item));
  // A spread keeps the hidden class; then objects within are replaced by their copies.
  const copy: Record<string, unknown> = { ...value };
  for (const key in copy) {
    const inner = copy[key];
    if (typeof inner === 'object' && inner !== null) copy[key] = copyOfData(inner);
  }
  return copy;
}

/** Tells whether JSON, and `copyOfData`, return the same value. */
export function isData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isLeaf(value);
  if (Array.isArray(value)) return value.every(isData);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  // A for-in loop is safe for plain objects, and several times faster than a list of their values.
  for (const key in value) {
    const inner: unknown = value[key as keyof typeof value];
    const isGood = typeof inner === 'object' && inner !== null ? isData(inner) : isLeaf(inner);
    if (!isGood || key === '__proto__') return false;
  }
  return true;
}

/**
 * Tells whether an object is plain data, if it was before a change: looks only into objects that were not in it before.
 */
export function isStillData(before: object, value: object): boolean {
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    const inner: unknown = value[key as keyof typeof value];
    const isNested = typeof inner === 'object' && inner !== null;
    const isGood = isNested ? inner === before[key as keyof typeof before] || isData(inner) : isLeaf(inner);
    if (!isGood || key === '__proto__') return false;
  }
  return true;
}

function isLeaf(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    default:
      return value === null;
  }
}

/** Deepest nesting of an event that comes from outside. */
export const deepestEvent = 64;

/** Tells whether data is nested deeper than `levels`. */
export const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Deepest nesting of objects and lists in a JSON text, counted without parsing it. */
export function nestingOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\' && isInString) at += 1;
    else if (char === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (char === '{' || char === '[') {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (char === '}' || char === ']') depth -= 1;
  }
  return deepest;
}
