/** Reads long listings of the store page by page. */
import { messageOf } from '../../errors.js';
import type { ActorPage, ActorView } from '../actor-system.js';
import type { StoredRecord, StorePage } from '../store.js';

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

/** Views of listed records. Leaves out a record at which `viewOf` throws: one record must not stop a walk over all. */
export function pageOfViews(
  records: readonly StoredRecord[],
  viewOf: (record: StoredRecord) => ActorView | undefined,
): Pick<ActorPage, 'rows' | 'skipped'> {
  const page: Pick<ActorPage, 'rows' | 'skipped'> = { rows: [] };
  for (const record of records) {
    const { address } = record;
    try {
      const view = viewOf(record);
      if (view) page.rows.push([address, view]);
    } catch (error) {
      page.skipped ??= [];
      page.skipped.push({ address, reason: unreadable(error) });
    }
  }
  return page;
}

export const unreadable = (error: unknown): string => `its record can't be read: ${messageOf(error)}`;
