/** Moments of histories as text: JSON, with numbers that JSON can't hold and sets written as objects. */

export const momentText = (moment: object): string =>
  JSON.stringify(moment, (_, value) =>
    typeof value === 'bigint' ? { bigint: String(value) } : value instanceof Set ? { set: [...value] } : value,
  );

/** The caller knows which kind of moment was written. */
export const momentOf = <TMoment>(text: string): TMoment =>
  JSON.parse(text, (_, value) =>
    typeof value?.bigint === 'string' ? BigInt(value.bigint) : Array.isArray(value?.set) ? new Set(value.set) : value,
  );
