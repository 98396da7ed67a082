/** Chance that depends on nothing but what it is asked about: the same question gives the same answer in every life. */

/** Uniform in [0, 1), told by these words alone. */
export function chance(...words: (string | number)[]): number {
  return mixed(...words) / 2 ** 32;
}

/** A whole number below 2^32, told by these words alone: FNV-1a with a last stir. */
export function mixed(...words: (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const word of words) {
    const text = `${word};`;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
