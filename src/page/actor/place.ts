/** The moment of an actor that the page shows, as its address says: `?seq=6`, `?seq=6&b=10` compares. Pure. */

export interface Place {
  /** Step that is shown; absent: now. */
  seq?: number;
  /** Step that it is compared with, a later one. */
  b?: number;
  /** Id of the part whose chart is open. */
  part?: string;
}

/** Changes of the query: null takes a key away. */
export type QueryChange = Record<string, string | null>;

export function placeIn(query: URLSearchParams): Place {
  const seq = stepIn(query, 'seq');
  const b = stepIn(query, 'b');
  const part = query.get('part');
  const [first, second] = seq !== undefined && b !== undefined && b < seq ? [b, seq] : [seq, b];
  return {
    ...(first !== undefined && { seq: first }),
    ...(first !== undefined && second !== undefined && second !== first && { b: second }),
    ...(part && { part }),
  };
}

function stepIn(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  return text && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

/**
 * Where a choice of a step leads. With a kept step, the choice is compared with it: the older one is always the first.
 * @param kept step that the choice is compared with
 */
export function chosen(seq: number, kept?: number): QueryChange {
  if (kept === undefined || kept === seq) return { seq: `${seq}`, b: null };
  return { seq: `${Math.min(seq, kept)}`, b: `${Math.max(seq, kept)}` };
}

/** Back to the present. */
export const present: QueryChange = { seq: null, b: null };

/**
 * One step further or back. The last step further is the present.
 * @param steps of the history, oldest first
 */
export function stepped(steps: readonly number[], { seq }: Place, by: 1 | -1): QueryChange | undefined {
  const last = steps.length - 1;
  if (last < 0) return undefined;
  if (seq === undefined) return by > 0 || last === 0 ? undefined : chosen(steps[last - 1] ?? 1);
  const at = steps.findLastIndex((step) => step <= seq);
  const next = at + by;
  if (next > last) return present;
  return next < 0 ? undefined : chosen(steps[next] ?? seq);
}
