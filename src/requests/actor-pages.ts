/** Pages of matching actors, ordered by address. */
import type { AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { type ActorsOf, pageSize, type ViewOf } from '../engine/actors-of.js';
import { nameSchema } from '../host/names.js';
import type { PartsOf } from './fields.js';

/**
 * One page of a listing. `next` is present while there may be more; pass it as `after`. A page may hold fewer items
 * than its limit, even none, and still have a next one.
 */
export interface Page<T> {
  items: T[];
  next?: string;
  /** Number of records left out, as they can't be read: see `stagecraft actor list`. Absent: none. */
  skipped?: number;
}

/** Limit of actors that one page examines, however few of them match. */
const maxLooks = 4_096;

/** Conditions that a listed actor meets, all of them. */
export const filterShape = <State extends string>(states: readonly State[]) => ({
  namespace: nameSchema.optional(),
  plugin: nameSchema.optional(),
  state: z.enum(states).optional(),
});

type Conditions = PartsOf<ReturnType<typeof filterShape>>;

/** Whether an actor meets the conditions on its plugin and its state. */
export const isMeant = (actor: { plugin: string | undefined; state: string }, { plugin, state }: Conditions): boolean =>
  (plugin === undefined || actor.plugin === plugin) && (state === undefined || actor.state === state);

/**
 * `limit`: items per page, 1 to 1,000, default 100. `after`: the `next` of the previous page. @param prefix of all
 * addresses
 */
export const pageShape = (prefix: string) => ({
  limit: z.int().min(1).max(1_000).default(100),
  after: z
    .string()
    .refine((text) => text.startsWith(prefix), 'must be what a page gave as its next')
    .optional(),
});

/** Place of a page among the actors of a machine. `idPrefix`: start of their ids, within their namespace. */
export interface Paging {
  namespace?: string | undefined;
  idPrefix?: string | undefined;
  limit: number;
  after?: string | undefined;
}

/**
 * Lists each matching actor once. Actors created or deleted meanwhile may be missing. @param itemOf returns undefined
 * for an actor that does not match
 */
export async function pageOfActors<M extends AnyStateMachine, T>(
  actors: ActorsOf<M>,
  { namespace, idPrefix = '', limit, after: from }: Paging,
  itemOf: (view: ViewOf<M>) => T | undefined,
): Promise<Page<T>> {
  // An id's prefix is also one of its address, as parts are encoded character by character.
  const inNamespace = (name: string): string => `${encodeURIComponent(name)}/${encodeURIComponent(idPrefix)}`;
  const prefix = `${actors.prefix}${namespace === undefined ? '' : inNamespace(namespace)}`;
  const items: T[] = [];
  let skipped: { address: string }[] = [];
  const page = (next?: string): Page<T> => ({
    items,
    ...(next !== undefined && { next }),
    ...(skipped.length > 0 && { skipped: skipped.length }),
  });
  let after = from;
  for (let looks = 0; looks < maxLooks; looks += pageSize) {
    const { rows, next, skipped: some = [] } = await actors.page({ prefix, after });
    skipped = [...skipped, ...some];
    for (const [index, [address, view]] of rows.entries()) {
      try {
        const item = itemOf(view);
        if (item !== undefined) items.push(item);
      } catch {
        skipped.push({ address }); // its context is damaged; the overview says how
      }
      if (items.length < limit) continue;
      const isLast = index === rows.length - 1 && next === undefined;
      skipped = skipped.filter((one) => isLast || one.address < address); // the next page counts the others
      return page(isLast ? undefined : address);
    }
    if (next === undefined) return page();
    after = next;
  }
  return page(after);
}
