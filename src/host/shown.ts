/**
 * Masks what may be secret in the data of actors, before it leaves the runtime: values of tasks' environments, and contexts of
 * volumes and publications, in which drivers put passwords. All other secrets are references wherever an actor has them.
 */

declare const isShown: unique symbol;

/** Data that may be shown to people: only `shown` makes it. */
export type Shown<T> = T & { readonly [isShown]: true };

/** Data with the masks. Shares with the original all parts in which nothing is masked: change neither. */
export const shown = <T extends object>(value: T): Shown<T> => masked(value) as Shown<T>;

const mask = '***';

/** Fields whose values may be secret, wherever they stand. */
const maskedFields: ReadonlySet<string> = new Set(['env', 'publishContext', 'volumeContext']);

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return maskedList(value);
  if (!isFields(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    const field = value[key];
    if (!isFields(field)) continue;
    const hides = maskedFields.has(key) || (key === 'context' && isOfDriver(value));
    const safe = hides ? withoutValues(field) : masked(field);
    if (safe === field) continue;
    copy ??= { ...value };
    copy[key] = safe;
  }
  return copy ?? value;
}

function maskedList(list: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index += 1) {
    const safe = masked(list[index]);
    if (safe === list[index]) continue;
    copy ??= [...list];
    copy[index] = safe;
  }
  return copy ?? list;
}

/** Whether these are the data of a created or an external volume: their `context` is the driver's, not that of a machine. */
const isOfDriver = (fields: Fields): boolean => 'accessibleTopology' in fields || 'csiId' in fields;

/** Keeps names alone. */
function withoutValues(field: object): object {
  const names = Object.keys(field);
  return names.length === 0 ? field : Object.fromEntries(names.map((name) => [name, mask]));
}
