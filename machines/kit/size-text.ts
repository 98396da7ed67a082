/** Sizes for people. */

const units: [name: string, bytes: number][] = [
  ['Pi', 2 ** 50],
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
];

/** Formats bytes as options accept them, in the largest unit without a fraction. */
export function sizeText(bytes: number | string | undefined): string {
  if (bytes === undefined) return '-';
  if (BigInt(bytes) === 0n) return '0';
  const [unit, size] = units.find(([, factor]) => BigInt(bytes) % BigInt(factor) === 0n) ?? ['', 1];
  return `${BigInt(bytes) / BigInt(size)}${unit}`;
}
