/**
 * Which names stores take (addresses, topics, sources, leases) and in which order they list them. One rule for
 * all, so that what a test does on the memory store holds on LMDB and Redis too.
 */

/** Two names and a separator must fit one LMDB key of 1,978 bytes: a topic's mark stands under topic and source. */
export const longestNameBytes = 960;

/** Control characters and halves of surrogate pairs: LMDB's key encoding would change or confuse them. */
const unwritable = /[\p{Cc}\p{Cs}]/u;

/** @throws {TypeError} for a name that some store could not keep; nothing has been written then */
export function checkName(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes >= 1 && bytes <= longestNameBytes && !unwritable.test(name)) return;
  throw new TypeError(
    `A store can't keep the name ${JSON.stringify(shortened(name))} (${bytes} bytes): ` +
      `give one of 1 to ${longestNameBytes} bytes, without control characters or broken surrogate pairs.`,
  );
}

/** Orders as the bytes of UTF-8 do, which is how LMDB and Redis order; `<` would put U+1F600 before U+FF01. */
export function compareNames(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Index of the first name at or after `name`; `names` is in order. */
export function indexFrom(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareNames(names[middle] ?? '', name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Surrogates stand for code points above all that fit one unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

function shortened(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
