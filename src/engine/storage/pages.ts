/** Reads long listings of the store page by page. */
import type { StorePage } from '../store.js';

/** Yields every row of a listing, in order. `read` gets the `after` to add to its query. */
export async function* pages<T>(read: (after: { after?: string }) => Promise<StorePage<T>>): AsyncGenerator<T, void> {
  let after: { after?: string } = {};
  for (;;) {
    const { rows, next } = await read(after);
    yield* rows;
    if (next === undefined) return;
    after = { after: next };
  }
}
