/** Any value of any CSI message, for tests that hold for all of them: by the tables that codec.ts goes by. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { enums, messages } from '../../src/csi/generated/plain.js';
import { csi } from '../generated/csi.js';
import { google } from '../generated/google/protobuf/timestamp.js';

export interface Field {
  name: string;
  kind: string;
  of?: string;
  isRepeated?: boolean;
  isSecret?: boolean;
}

/** As plain data, or as the generated classes give it. */
export interface PlainRecord {
  [name: string]: unknown;
}

interface Generated {
  serialize(): Uint8Array;
  toObject(): object;
}

interface GeneratedClass {
  fromObject(data: PlainRecord): Generated;
  deserialize(bytes: Uint8Array): Generated;
}

interface Shape {
  /** The generated class. */
  type: GeneratedClass;
  fields: readonly Field[];
}

/** `Outer.Inner` of the generated code. */
const classOf = (name: string): GeneratedClass =>
  name
    .split('.')
    .reduce((outer, part) => Reflect.get(outer, part), Object(name === 'Timestamp' ? google.protobuf : csi.v1));

export const shapes: Readonly<Record<string, Shape>> = Object.fromEntries(
  Object.entries(messages).map(([name, fields]) => [name, { type: classOf(name), fields }]),
);
const enumValues: Readonly<Record<string, Readonly<Record<string, number>>>> = enums;

export const shapeOf = (name: string): Shape => {
  const shape = shapes[name];
  if (!shape) throw new Error(`there is no message ${name}`);
  return shape;
};

/** As csi.proto has it. */
export const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const facts: { messages: Record<string, Record<string, { oneof?: string }>> } = JSON.parse(
  readFileSync(new URL('../fixtures/csi-wire.json', import.meta.url), 'utf8'),
);

/** What is absent where it was not sent. */
const isOptional = ({ kind, isRepeated = false }: Field): boolean =>
  !isRepeated && ['message', 'boolValue', 'int64Value'].includes(kind);

const text = fc.string({ unit: 'binary', maxLength: 12 });
const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', '', '0', 'a.b/c'), text);
const anyInt64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
);
const size = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 63n - 1n));
const seconds = fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n });

/** Values that a message may have: those of answers have bounds. */
function int64In(message: string): fc.Arbitrary<bigint> {
  if (message === 'Timestamp') return seconds;
  return message.endsWith('Request') || message === 'CapacityRange' ? anyInt64 : size;
}

const namesOf = (of: string): string[] => Object.keys(enumValues[of] ?? {});

const enumValue = (of: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...namesOf(of)),
    fc
      .integer()
      .filter((number) => !Object.values(enumValues[of] ?? {}).includes(number))
      .map(String),
  );

function oneValue(message: string, { kind, of = '' }: Field): fc.Arbitrary<unknown> {
  switch (kind) {
    case 'string':
      return text;
    case 'bool':
    case 'boolValue':
      return fc.boolean();
    case 'int32':
      return fc.integer();
    case 'int64':
    case 'int64Value':
      return int64In(message);
    case 'enum':
      return enumValue(of);
    case 'map':
      return fc.dictionary(key, text, { maxKeys: 4, noNullPrototype: true });
    default:
      return plainValue(of);
  }
}

/** Whole values: as decoding gives them. */
export function plainValue(name: string): fc.Arbitrary<PlainRecord> {
  const { fields } = shapeOf(name);
  const values = Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.isRepeated ? fc.array(oneValue(name, field), { maxLength: 3 }) : oneValue(name, field),
    ]),
  );
  const requiredKeys = fields.filter((field) => !isOptional(field)).map((field) => field.name);
  const record = fc.record(values, { requiredKeys, noNullPrototype: true });
  return fc.tuple(record, fc.nat()).map(([value, pick]) => withOneOf(name, value, pick));
}

/** The names of fields of which only one may be given. */
export const oneofsOf = (name: string): string[][] => {
  const groups = new Map<string, string[]>();
  for (const { name: fieldName } of shapeOf(name).fields) {
    const group = facts.messages[name]?.[wireName(fieldName)]?.oneof;
    if (group) groups.set(group, [...(groups.get(group) ?? []), fieldName]);
  }
  return [...groups.values()];
};

function withOneOf(name: string, value: PlainRecord, pick: number): PlainRecord {
  const left = { ...value };
  for (const group of oneofsOf(name)) {
    const given = group.filter((field) => field in left);
    for (const [index, field] of given.entries()) if (index !== pick % given.length) delete left[field];
  }
  return left;
}

/** The same value as the generated classes have it. */
export function asGenerated(name: string, value: PlainRecord): PlainRecord {
  const entries = shapeOf(name).fields.flatMap((field) => {
    const given = value[field.name];
    if (given === undefined) return [];
    const wire = wireName(field.name);
    return [[wire, Array.isArray(given) ? given.map((item) => generated(field, item)) : generated(field, given)]];
  });
  return Object.fromEntries(entries);
}

function generated({ kind, of = '' }: Field, value: unknown): unknown {
  if (kind === 'int64') return String(value);
  if (kind === 'enum') return enumValues[of]?.[String(value)] ?? Number(value);
  if (kind === 'boolValue') return { value };
  if (kind === 'int64Value') return { value: String(value) };
  return kind === 'message' ? asGenerated(of, Object(value)) : value;
}

/** The same without what is empty, all the way down: as little as can be given for it. */
export function withoutEmpty(name: string, value: PlainRecord): PlainRecord {
  const kept = shapeOf(name).fields.flatMap((field): Array<[string, unknown]> => {
    const given = value[field.name];
    if (given === undefined || (!isOptional(field) && isEmpty(given))) return [];
    const { kind, of = '' } = field;
    const shorten = (item: unknown): unknown => (kind === 'message' ? withoutEmpty(of, Object(item)) : item);
    return [[field.name, Array.isArray(given) ? given.map(shorten) : shorten(given)]];
  });
  return Object.fromEntries(kept);
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === 0n ||
  value === false ||
  value === 'UNKNOWN' ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
