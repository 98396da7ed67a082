/** The moment of an actor that the page shows, as its address says: `?seq=6`, `?seq=6&b=10` compares. Pure. */

export interface ActorPlace {
  /** Step that is shown; absent: now. */
  seq?: number;
  /** Step that it is compared with, a later one. */
  b?: number;
  /** Id of the part whose chart is open. */
  part?: string;
}

/** Changes of the query: null takes a key away. */
export type QueryChange = Record<string, string | null>;

export function placeIn(query: URLSearchParams): ActorPlace {
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
export function choiceOf(seq: number, kept?: number): QueryChange {
  if (kept === undefined || kept === seq) return { seq: `${seq}`, b: null };
  return { seq: `${Math.min(seq, kept)}`, b: `${Math.max(seq, kept)}` };
}

/** Back to the present. */
export const present: QueryChange = { seq: null, b: null };

/**
 * Moves a step further or back. The last step further is the present, unless two steps are compared.
 * @param steps of the history, oldest first
 * @param kept step of a comparison that stays where it is
 */
export function stepped(
  steps: readonly number[],
  { seq, b }: ActorPlace,
  by: 1 | -1,
  kept?: number,
): QueryChange | undefined {
  const last = steps.length - 1;
  const moving = b !== undefined && seq === kept ? b : seq;
  if (last < 0 || (moving === undefined && by > 0)) return undefined;
  const at = moving === undefined ? last : steps.findLastIndex((step) => step <= moving);
  const next = steps[at + by];
  if (next !== undefined) return choiceOf(next, kept);
  return by > 0 && kept === undefined ? present : undefined;
}
