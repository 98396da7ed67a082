/**
 * Names that stores accept (addresses, topics, sources, leases), and the order of their listings. One rule for all
 * stores, so that results on the memory store also hold on LMDB and Redis.
 */

/**
 * Two names and a separator must fit one LMDB key of 1,978 bytes: the mark of a topic has topic and source in its
 * key.
 */
const longestNameBytes = 960;

/** Control characters and halves of surrogate pairs: LMDB's key encoding would change or confuse them. */
const unwritable = /[\p{Cc}\p{Cs}]/u;

/** @throws {TypeError} for a name that some store cannot keep; nothing has been written then */
export function checkName(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes >= 1 && bytes <= longestNameBytes && !unwritable.test(name)) return;
  throw new TypeError(
    `A store can't keep the name ${JSON.stringify(shortened(name))} (${bytes} bytes): ` +
      `give one of 1 to ${longestNameBytes} bytes, without control characters or broken surrogate pairs.`,
  );
}

/** Compares as the bytes of UTF-8 do, which is the order of LMDB and Redis; `<` would put U+1F600 before U+FF01. */
export function compareNames(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/**
 * Returns the index of the first name at or after `name`.
 * @param names in order
 */
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

/** Ranks surrogates above all other code units: their code points are higher than any that fits one unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

function shortened(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
