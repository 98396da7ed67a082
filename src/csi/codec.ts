/**
 * CSI's messages between plain data and bytes, by the tables of generated/plain.ts. Nothing is lost on the way: sizes are
 * exact, what was not sent stays absent, an enum value that is not known is its number.
 */
import jspb from 'google-protobuf';
import type { RpcName } from './answers.js';
import { google } from './generated/google/protobuf/wrappers.js';
import { enums, messages, type Rpcs, rpcs } from './generated/plain.js';

/** What may be left out is filled with its zero value; sizes may be numbers, as long as those are exact. */
export type Given<T> = T extends bigint
  ? bigint | number
  : T extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Given<T[Key]> | undefined }
      : T;

/** One message, there and back. */
export interface Codec<Plain> {
  /** @throws TypeError naming the field that is not of the message, or not of its type */
  encode(plain: Given<Plain>): Buffer;
  decode(bytes: Uint8Array): Plain;
}

interface FieldShape {
  name: string;
  wire: string;
  kind: string;
  of?: string;
  isRepeated?: boolean;
}

interface MessageShape {
  type: { new (): jspb.Message; deserialize(bytes: Uint8Array): jspb.Message };
  fields: readonly FieldShape[];
}

const shapes: Readonly<Record<string, MessageShape>> = messages;
const enumShapes: Readonly<Record<string, Readonly<Record<string, string | number>>>> = enums;

export const requestCodec = <Rpc extends RpcName>(rpc: Rpc): Codec<Rpcs[Rpc]['request']> => codecOf(rpcs[rpc].request);

export const responseCodec = <Rpc extends RpcName>(rpc: Rpc): Codec<Rpcs[Rpc]['response']> =>
  codecOf(rpcs[rpc].response);

/** @param name of a message below the package: that of `Plain`, which the tables and the types are generated from alike */
function codecOf<Plain extends object>(name: string): Codec<Plain> {
  const shape = shapeOf(name);
  return {
    encode: (plain) => {
      const bytes = encoded(shape, plain, name).serializeBinary();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode: (bytes) => decoded(shape, shape.type.deserialize(bytes)) as Plain,
  };
}

function shapeOf(name: string): MessageShape {
  const shape = shapes[name];
  if (!shape) throw new TypeError(`CSI has no message ${name}`);
  return shape;
}

/** Neither a list nor a Map, which would pass for an object without fields. */
const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);

function encoded({ type, fields }: MessageShape, plain: unknown, at: string): jspb.Message {
  if (!isRecord(plain)) throw not('an object', at);
  const message = new type();
  const parts: FieldShape[] = [];
  let taken = 0;
  for (const field of fields) {
    if (!Object.hasOwn(plain, field.name)) continue;
    taken += 1;
    const value: unknown = Reflect.get(plain, field.name);
    if (value === undefined) continue;
    Reflect.set(message, field.wire, toWire(field, value, `${at}.${field.name}`));
    if (field.kind === 'message' && !field.isRepeated) parts.push(field);
  }
  if (taken < Object.keys(plain).length) throw new TypeError(strangerIn(fields, plain, at));
  const ousted = parts.length > 1 && parts.find(({ wire }) => Reflect.get(message, wire) === undefined);
  if (ousted) throw new TypeError(`${at}.${ousted.name} can't be given beside the others: CSI wants one of them`);
  return message;
}

function strangerIn(fields: readonly FieldShape[], plain: object, at: string): string {
  const names = fields.map(({ name }) => name);
  const stranger = Object.keys(plain).find((key) => !names.includes(key));
  return `${at} has no field '${stranger}', but: ${names.join(', ') || 'none'}`;
}

function toWire(field: FieldShape, value: unknown, at: string): unknown {
  if (!field.isRepeated) return oneToWire(field, value, at);
  if (!Array.isArray(value)) throw not('a list', at);
  return Array.from(value, (item: unknown, index) => oneToWire(field, item, `${at}[${index}]`));
}

function oneToWire({ kind, of = '' }: FieldShape, value: unknown, at: string): unknown {
  switch (kind) {
    case 'string':
      return textOf(value, at);
    case 'bool':
      if (typeof value !== 'boolean') throw not('a boolean', at);
      return value;
    case 'int32':
      if (typeof value !== 'number' || value !== (value | 0)) throw not('a whole number of 32 bits', at);
      return value;
    case 'int64':
      return int64Text(value, at);
    case 'enum':
      return enumNumber(of, value, at);
    case 'map':
      return new Map(textEntries(value, at));
    case 'boolValue':
      if (typeof value !== 'boolean') throw not('a boolean', at);
      return new google.protobuf.BoolValue({ value });
    case 'int64Value':
      return new google.protobuf.Int64Value({ value: int64Text(value, at) });
    default:
      return encoded(shapeOf(of), value, at);
  }
}

const not = (what: string, at: string): TypeError => new TypeError(`${at} must be ${what}`);

/** Half a surrogate pair has no bytes: another character would arrive. */
function textOf(value: unknown, at: string): string {
  if (typeof value !== 'string') throw not('a string', at);
  if (!value.isWellFormed()) throw not('whole characters, without half a surrogate pair', at);
  return value;
}

function int64Text(value: unknown, at: string): string {
  if (typeof value === 'bigint' && value === BigInt.asIntN(64, value)) return value.toString();
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  throw not('a whole number of 64 bits: a bigint, or a number up to 2^53 - 1', at);
}

function enumNumber(of: string, value: unknown, at: string): number {
  const known = typeof value === 'string' ? enumShapes[of]?.[value] : undefined;
  if (typeof known === 'number') return known;
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number === (number | 0)) return number;
  const names = Object.keys(enumShapes[of] ?? {}).filter((name) => !/^\d+$/.test(name));
  throw not(`one of ${names.join(', ')}, or the number of another as text`, at);
}

function textEntries(value: unknown, at: string): [string, string][] {
  if (!isRecord(value)) throw not('a record of strings', at);
  return Object.entries(value)
    .filter(([, text]) => text !== undefined)
    .map(([key, text]: [string, unknown]) => [textOf(key, `a key of ${at}`), textOf(text, `${at}.${key}`)]);
}

function decoded({ fields }: MessageShape, message: jspb.Message): object {
  const plain: Record<string, unknown> = {};
  for (const field of fields) {
    const value: unknown = Reflect.get(message, field.wire);
    const isAbsent = value === undefined || value === null;
    if (!isAbsent)
      plain[field.name] = Array.isArray(value) ? value.map((item) => fromWire(field, item)) : fromWire(field, value);
  }
  return plain;
}

function fromWire({ kind, of = '' }: FieldShape, value: unknown): unknown {
  if (kind === 'int64') return BigInt(String(value));
  if (kind === 'enum') return enumName(of, Number(value));
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof google.protobuf.BoolValue) return value.value;
  if (value instanceof google.protobuf.Int64Value) return BigInt(value.value);
  return value instanceof jspb.Message ? decoded(shapeOf(of), value) : value;
}

function enumName(of: string, number: number): string {
  const name = enumShapes[of]?.[number];
  return typeof name === 'string' ? name : String(number);
}
