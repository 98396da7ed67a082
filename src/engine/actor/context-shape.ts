/**
 * Shape of the contexts of one machine: the types of the fields with which they begin. A damaged field would make each walk
 * over the actors fail, so a record with one is not read at all.
 */
type FieldType = 'list' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'nothing';

export class ContextShape {
  readonly #types: readonly [field: string, type: FieldType][];

  /** @param fresh context of an actor that has just begun; fields that begin as null may hold anything */
  constructor(fresh: object) {
    this.#types = Object.entries(fresh)
      .map(([field, value]): [string, FieldType] => [field, typeOf(value)])
      .filter(([, type]) => type !== 'null' && type !== 'nothing');
  }

  /** Returns the first fault of a context; undefined: none. A field that is absent is none, as older records lack some. */
  faultIn(context: object): string | undefined {
    const fields: Record<string, unknown> = { ...context };
    for (const [field, type] of this.#types) {
      const stored = typeOf(fields[field]);
      if (stored !== type && stored !== 'nothing') return `its ${field} is damaged: ${stored} instead of ${type}`;
    }
    return undefined;
  }
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  return type === 'object' || type === 'string' || type === 'number' || type === 'boolean' ? type : 'nothing';
}
