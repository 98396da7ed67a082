/** Pages of long listings, and the tokens that name the start of the next page. */

import type { StorePage } from '../engine/store.js';

/** Takes the first `limit` of `rows`. `next` names the last row taken; absent if no row follows. */
export function pageOf<T>(rows: Iterable<T>, limit: number, tokenOf: (row: T) => string): StorePage<T> {
  const taken: T[] = [];
  for (const row of rows) {
    const last = taken.at(-1);
    if (taken.length >= limit) return last === undefined ? { rows: taken } : { rows: taken, next: tokenOf(last) };
    taken.push(row);
  }
  return { rows: taken };
}

/**
 * Makes the token `<number>/<address>`, for rows that differ by both. The number is first because it contains no
 * slash.
 */
export function numberedToken(number: number, address: string): string {
  return `${number}/${address}`;
}

export function numberedPosition(token: string): { number: number; address: string } {
  const slash = token.indexOf('/');
  return { number: Number(token.slice(0, slash)), address: token.slice(slash + 1) };
}
