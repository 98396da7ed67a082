/**
 * Lists names of all buckets in order. Redis keeps each bucket's names in the order of their bytes; this file merges
 * them and fetches them in chunks as needed. All buckets that need more names are asked together.
 */

import { compareNames, indexFrom } from '../names.js';
import { allBuckets } from './redis-keys.js';
import { textsOf } from './redis-replies.js';
import { command, type RedisCall } from './redis-script.js';

/** Sends the calls and resolves with their answers; rejects if one call failed. */
type Ask = (calls: RedisCall[]) => Promise<unknown[]>;

export interface NameRange {
  /** Returns the key of a bucket's zset whose members are the names. */
  keyOf(bucket: number): string;
  /** First bound, in the form of ZRANGE BYLEX. */
  from: string | Buffer;
  to: string | Buffer;
  /** Number of names that the caller is likely to use. */
  wanted: number;
}

interface BucketPart {
  bucket: number;
  from: string | Buffer;
  /** Fetched names that were not returned yet. */
  names: string[];
  mayHaveMore: boolean;
}

/** Yields all names of a range in steps: each step is in order and follows the one before. */
export async function* namesInOrder(ask: Ask, range: NameRange): AsyncGenerator<string[]> {
  // A fair share of the wanted names plus a margin: buckets are not equally full.
  const chunk = Math.ceil((range.wanted * 1.5) / allBuckets.length) + 4;
  const parts = allBuckets.map((bucket): BucketPart => ({ bucket, from: range.from, names: [], mayHaveMore: true }));
  while (parts.some((part) => part.mayHaveMore || part.names.length > 0)) {
    await refill(ask, range, parts, chunk);
    const names = parts.flatMap(({ names }) => names.splice(0, countUpTo(names, endOfStep(parts)))).sort(compareNames);
    if (names.length > 0) yield names;
  }
}

async function refill(ask: Ask, { keyOf, to }: NameRange, parts: BucketPart[], chunk: number): Promise<void> {
  const empty = parts.filter((part) => part.mayHaveMore && part.names.length === 0);
  const calls = empty.map(({ bucket, from }) =>
    command(bucket, 'zrange', keyOf(bucket), from, to, 'BYLEX', 'LIMIT', '0', String(chunk)),
  );
  const answers = await ask(calls);
  for (const [i, part] of empty.entries()) {
    part.names = textsOf(answers[i]);
    part.mayHaveMore = part.names.length === chunk;
    part.from = `(${part.names.at(-1)}`;
  }
}

/** Returns the name up to which no bucket has unfetched names; undefined if no bucket has any left. */
function endOfStep(parts: BucketPart[]): string | undefined {
  const lasts = parts.flatMap(({ names, mayHaveMore }) => (mayHaveMore ? (names.at(-1) ?? []) : []));
  return lasts.reduce<string | undefined>((a, b) => (a === undefined || compareNames(b, a) < 0 ? b : a), undefined);
}

function countUpTo(names: string[], end: string | undefined): number {
  if (end === undefined) return names.length;
  const at = indexFrom(names, end);
  return names[at] === end ? at + 1 : at;
}

/** Returns the bounds for all names that begin with `prefix`, or for those after `after`. */
export function prefixBounds(prefix: string, after?: string): { from: string; to: string | Buffer } {
  const from = after === undefined || compareNames(after, prefix) < 0 ? `[${prefix}` : `(${after}`;
  // No UTF-8 text contains this byte.
  const to = prefix === '' ? '+' : Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]);
  return { from, to };
}
