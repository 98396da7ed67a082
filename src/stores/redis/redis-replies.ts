/** Reads the untyped replies of Redis: each function accepts the one shape that it names. */

export function textOf(reply: unknown): string {
  return typeof reply === 'string' ? reply : unexpected(reply);
}

/** Reads an integer, which arrives as a number or as text. */
export function numberOf(reply: unknown): number {
  const number = typeof reply === 'string' && reply !== '' ? Number(reply) : reply;
  return typeof number === 'number' && !Number.isNaN(number) ? number : unexpected(reply);
}

export function arrayOf(reply: unknown): unknown[] {
  return Array.isArray(reply) ? reply : unexpected(reply);
}

export function textsOf(reply: unknown): string[] {
  return arrayOf(reply).map(textOf);
}

/** One entry of a stream: both halves of its id, and its fields by name. */
export interface StreamEntry {
  id: [number, number];
  fields: Map<string, string>;
}

export function entriesOf(reply: unknown): StreamEntry[] {
  return arrayOf(reply).map((entry) => {
    const [id, pairs] = arrayOf(entry);
    const [first, second] = textOf(id).split('-');
    return { id: [numberOf(first), numberOf(second)], fields: pairsOf(pairs) };
  });
}

/** Reads `name, value, name, value …`. */
function pairsOf(reply: unknown): Map<string, string> {
  const texts = textsOf(reply);
  return new Map(texts.flatMap((name, i) => (i % 2 === 0 ? [[name, texts[i + 1] ?? '']] : [])));
}

function unexpected(reply: unknown): never {
  throw new Error(`Redis answered something that the store did not write: ${JSON.stringify(reply)?.slice(0, 200)}`);
}
