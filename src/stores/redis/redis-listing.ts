/**
 * Names from all buckets as one listing, in order. Each bucket's names are in order of their bytes; here they are
 * merged, and fetched in chunks as they are needed: all buckets that need more are asked in one go.
 */

import { compareNames, indexFrom } from '../names.js';
import { allBuckets } from './redis-keys.js';
import { textsOf } from './redis-replies.js';
import { type Call, command } from './redis-script.js';

/** Sends the calls and resolves with their answers; rejects if one failed. */
export type Ask = (calls: Call[]) => Promise<unknown[]>;

export interface NameRange {
  /** The zset of a bucket whose members are the names. */
  keyOf(bucket: number): string;
  /** As ZRANGE BYLEX has it. */
  from: string | Buffer;
  to: string | Buffer;
  /** How many are likely to be taken. */
  wanted: number;
}

interface BucketPart {
  bucket: number;
  from: string | Buffer;
  /** Fetched, and not handed on yet. */
  names: string[];
  mayHaveMore: boolean;
}

/** All names of a range, in steps: each step is in order and comes after the one before. */
export async function* namesInOrder(ask: Ask, range: NameRange): AsyncGenerator<string[]> {
  // A fair share of what is wanted, and some more, since no bucket has exactly that.
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

/** No bucket has unfetched names up to this one; undefined where none has any at all. */
function endOfStep(parts: BucketPart[]): string | undefined {
  const lasts = parts.flatMap(({ names, mayHaveMore }) => (mayHaveMore ? (names.at(-1) ?? []) : []));
  return lasts.reduce<string | undefined>((a, b) => (a === undefined || compareNames(b, a) < 0 ? b : a), undefined);
}

function countUpTo(names: string[], end: string | undefined): number {
  if (end === undefined) return names.length;
  const at = indexFrom(names, end);
  return names[at] === end ? at + 1 : at;
}

/** Bounds for all names that begin with `prefix`, or for those after `after`. */
export function prefixBounds(prefix: string, after?: string): { from: string; to: string | Buffer } {
  const from = after === undefined || compareNames(after, prefix) < 0 ? `[${prefix}` : `(${after}`;
  // No UTF-8 text has this byte.
  const to = prefix === '' ? '+' : Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]);
  return { from, to };
}
