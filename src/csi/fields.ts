/** The fields of CSI's messages between plain data and bytes, kind by kind. Whole messages: codec.ts */
import { isUtf8 } from 'node:buffer';
import type jspb from 'google-protobuf';
import { enums } from './generated/plain.js';

/** A field as in the tables of generated/plain.ts. */
interface FieldShape {
  name: string;
  number: number;
  kind: string;
  /** Its message or enum. */
  of?: string;
  isRepeated?: boolean;
  /** Fields of a message with the same number exclude each other. */
  oneof?: number;
}

export interface FieldCodec {
  name: string;
  number: number;
  oneof: number | undefined;
  /** Makes the value of a field that was not sent; absent if the field is absent then. */
  zero: (() => unknown) | undefined;
  /** @throws Misfit */
  write(writer: jspb.BinaryWriter, value: unknown): void;
  read(reader: jspb.BinaryReader, plain: Record<string, unknown>): void;
}

/** Bounds of what is read; a value outside of them is a Misfit. */
export interface ReadLimits {
  /** Bytes of one text. */
  textBytes: number;
  /** Bytes of all keys and values of one map. */
  mapBytes: number;
  int64: readonly [least: bigint, most: bigint];
  /** Meaning of a size or count of 0, if it has one of its own. */
  zeroMeans?: string;
  /** Whether an entry of a list that is a Misfit is left out; default: it makes the whole message one. */
  leavesOutEntries?: true;
}

/** Entries that a list lacks, as they do not fit. */
export interface LeftOut {
  count: number;
  /** Reason of the first one. */
  why: string;
}

const leftOutOfLists = new WeakMap<object, LeftOut>();

/** Returns what was left out of a list of an answer, as it was read. */
export const leftOutOf = (list: object): LeftOut | undefined => leftOutOfLists.get(list);

/** Codec of a message within another one. */
interface Part {
  fresh(): Record<string, unknown>;
  write(writer: jspb.BinaryWriter, plain: unknown): void;
  read(reader: jspb.BinaryReader, plain: Record<string, unknown>): void;
  /** @throws Misfit */
  decode(bytes: Uint8Array): Record<string, unknown>;
}

/** A value that does not fit its field, or a field that is not as it must be. The path is put together on the way out. */
export class Misfit extends Error {
  readonly #what: string;
  #path = '';
  #before = '';

  constructor(what: string) {
    super(what);
    this.#what = what;
  }

  in(place: string): this {
    this.#path = place + this.#path;
    return this;
  }

  asKey(): this {
    this.#before = 'a key of ';
    return this;
  }

  tellingAt(root: string): string {
    return `${this.#before}${root}${this.#path} ${this.#what}`;
  }
}

export const not = (what: string): Misfit => new Misfit(`must be ${what}`);

/** Reads the bytes of a text as they were sent: `readString` drops a byte order mark at its beginning. */
function readTextBytes(reader: jspb.BinaryReader): Buffer {
  const { buffer, byteOffset, byteLength } = reader.readBytes();
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Refuses bytes that are not UTF-8. Decoded all the same they would become another text: an id that is sent back would name
 * nothing, and two ids could become one.
 */
function wholeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw not('a text in UTF-8');
  return bytes.toString('utf8');
}

/** Codec of one kind of value. */
interface Kind {
  zero?: () => unknown;
  /** Whether the value is the default, which is not sent, except in a list. */
  isZero(value: unknown): boolean;
  write(writer: jspb.BinaryWriter, number: number, value: unknown): void;
  /** @param before value of the field so far */
  read(reader: jspb.BinaryReader, before: unknown): unknown;
}

/** @param partOf called only with a value: messages may contain themselves */
export function fieldCodec(shape: FieldShape, partOf: (name: string) => Part, limits: ReadLimits): FieldCodec {
  const { name, number, oneof } = shape;
  const kind = kindOf(shape, partOf, limits);
  if (shape.isRepeated) {
    const list = { name, number, oneof, zero: () => [], ...listOf(kind, shape) };
    if (limits.leavesOutEntries) list.read = entriesThatFit(() => partOf(shape.of ?? ''), name);
    return list;
  }
  return {
    name,
    number,
    oneof,
    zero: kind.zero,
    write(writer, value) {
      if (!kind.isZero(value)) kind.write(writer, number, value);
    },
    read(reader, plain) {
      plain[name] = kind.read(reader, plain[name]);
    },
  };
}

function listOf(kind: Kind, { name, number }: FieldShape): Pick<FieldCodec, 'write' | 'read'> {
  return {
    write(writer, value) {
      if (!Array.isArray(value)) throw not('a list');
      let index = 0;
      try {
        for (; index < value.length; index += 1) kind.write(writer, number, value[index]);
      } catch (error) {
        throw error instanceof Misfit ? error.in(`[${index}]`) : error;
      }
    },
    read(reader, plain) {
      const list = plain[name];
      if (Array.isArray(list)) list.push(kind.read(reader, undefined));
    },
  };
}

/** Reads each entry from its own bytes: the reader of the message stays in place, whatever is wrong in one. */
function entriesThatFit(part: () => Part, name: string): FieldCodec['read'] {
  return (reader, plain) => {
    const list = plain[name];
    if (!Array.isArray(list)) return;
    try {
      list.push(part().decode(reader.readBytes()));
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      const { count, why } = leftOutOf(list) ?? { count: 0, why: error.tellingAt(name) };
      leftOutOfLists.set(list, { count: count + 1, why });
    }
  };
}

function kindOf(shape: FieldShape, partOf: (name: string) => Part, limits: ReadLimits): Kind {
  const { name, kind, of = '' } = shape;
  switch (kind) {
    case 'string':
      return name === 'message' ? textForPeople : stringKind(limits);
    case 'bool':
      return bool;
    case 'int32':
      return int32;
    case 'int64':
      return int64Kind(limits);
    case 'map':
      return mapKind(limits);
    case 'boolValue':
      return wrapperOf(bool);
    case 'int64Value':
      return wrapperOf(int64Kind(limits));
    case 'enum':
      return enumKind(of);
    default:
      return messageKind(() => partOf(of));
  }
}

/** A text that is shown and never sent back. */
const textForPeople: Kind = {
  zero: () => '',
  isZero: (value) => value === '',
  write: (writer, number, value) => writer.writeString(number, textIn(value)),
  read: (reader) => readTextBytes(reader).toString('utf8'),
};

const stringKind = ({ textBytes }: ReadLimits): Kind => ({
  ...textForPeople,
  read(reader) {
    const bytes = readTextBytes(reader);
    if (bytes.length > textBytes) throw not(`at most ${textBytes} bytes long, and has ${bytes.length}`);
    return wholeText(bytes);
  },
});

const bool: Kind = {
  zero: () => false,
  isZero: (value) => value === false,
  write(writer, number, value) {
    if (typeof value !== 'boolean') throw not('a boolean');
    writer.writeBool(number, value);
  },
  read: (reader) => reader.readBool(),
};

const int32: Kind = {
  zero: () => 0,
  isZero: (value) => value === 0,
  write(writer, number, value) {
    if (typeof value !== 'number' || value !== (value | 0)) throw not('a whole number of 32 bits');
    writer.writeInt32(number, value);
  },
  read: (reader) => reader.readInt32(),
};

const int64Kind = ({ int64: [least, most], zeroMeans }: ReadLimits): Kind => ({
  zero: () => 0n,
  isZero: (value) => value === 0n || value === 0,
  write: (writer, number, value) => writer.writeInt64String(number, int64Text(value)),
  read(reader) {
    const value = BigInt(reader.readInt64String());
    if (value < 0n && least === 0n)
      throw new Misfit(`must not be negative${zeroMeans ? ` (0: ${zeroMeans})` : ''}, and is ${value}`);
    if (value < least || value > most) throw not(`${least} to ${most}, and is ${value}`);
    return value;
  },
});

function mapKind({ mapBytes }: ReadLimits): Kind {
  const bytesRead = new WeakMap<object, number>();
  return {
    zero: () => ({}),
    isZero: () => false,
    write(writer, number, value) {
      if (!isRecord(value)) throw not('a record of strings');
      for (const [key, text] of Object.entries(value)) if (text !== undefined) writeEntry(writer, number, [key, text]);
    },
    read(reader, before) {
      const record: object = Object(before);
      const [key, text] = readEntry(reader);
      const bytes = (bytesRead.get(record) ?? 0) + key.length + text.length;
      if (bytes > mapBytes) throw not(`at most ${mapBytes} bytes in all its keys and values`);
      bytesRead.set(record, bytes);
      // A key may be __proto__, which is no ordinary property.
      Object.defineProperty(record, wholeText(key), {
        value: wholeText(text),
        writable: true,
        enumerable: true,
        configurable: true,
      });
      return record;
    },
  };
}

/** Wraps one value, so that its absence differs from zero. */
const wrapperOf = (inner: Kind): Kind => ({
  isZero: () => false,
  write: (writer, number, value) =>
    writer.writeMessage(number, value, () => {
      if (!inner.isZero(value)) inner.write(writer, 1, value);
    }),
  read(reader) {
    const wrapper = { value: inner.zero?.() };
    reader.readMessage(wrapper, () => {
      while (reader.nextField()) {
        if (reader.getFieldNumber() === 1) wrapper.value = inner.read(reader, undefined);
        else reader.skipField();
      }
    });
    return wrapper.value;
  },
});

function enumKind(of: string): Kind {
  const entries: [string, number][] = Object.entries(Object.entries(enums).find(([name]) => name === of)?.[1] ?? {});
  const numbers = new Map(entries);
  const names = new Map(entries.map(([name, number]) => [number, name]));
  const numberOf = (value: unknown): number => {
    const number = typeof value === 'string' ? (numbers.get(value) ?? unknownNumber(value)) : Number.NaN;
    if (number === (number | 0)) return number;
    throw not(`one of ${[...numbers.keys()].join(', ')}, or the number of another as text`);
  };
  const nameOf = (number: number): string => names.get(number) ?? String(number);
  return {
    zero: () => nameOf(0),
    isZero: (value) => value === nameOf(0) || value === '0',
    write: (writer, number, value) => writer.writeEnum(number, numberOf(value)),
    read: (reader) => nameOf(reader.readEnum()),
  };
}

const unknownNumber = (text: string): number => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN);

function messageKind(part: () => Part): Kind {
  return {
    isZero: () => false,
    write(writer, number, value) {
      if (!isRecord(value)) throw not('an object');
      writer.writeMessage(number, value, () => part().write(writer, value));
    },
    read(reader, before) {
      const plain: Record<string, unknown> = before === undefined ? part().fresh() : Object(before);
      reader.readMessage(plain, () => part().read(reader, plain));
      return plain;
    },
  };
}

/** Whether it is an object with fields, neither a list nor a Map. */
export const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);

/** Refuses half a surrogate pair, which has no bytes: another character would arrive. */
function textIn(value: unknown): string {
  if (typeof value !== 'string') throw not('a string');
  if (!value.isWellFormed()) throw not('whole characters, without half a surrogate pair');
  return value;
}

function int64Text(value: unknown): string {
  if (typeof value === 'bigint' && value === BigInt.asIntN(64, value)) return value.toString();
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  throw not('a whole number of 64 bits: a bigint, or a number up to 2^53 - 1');
}

function writeEntry(writer: jspb.BinaryWriter, number: number, [key, value]: [string, unknown]): void {
  if (!key.isWellFormed()) throw not('whole characters, without half a surrogate pair').asKey();
  let text: string;
  try {
    text = textIn(value);
  } catch (error) {
    throw error instanceof Misfit ? error.in(`.${key}`) : error;
  }
  writer.writeMessage(number, text, () => {
    writer.writeString(1, key);
    writer.writeString(2, text);
  });
}

/** Reads an entry of a map. Some encoders leave out an empty key or value. */
function readEntry(reader: jspb.BinaryReader): [key: Buffer, value: Buffer] {
  const entry: [key: Buffer, value: Buffer] = [noBytes, noBytes];
  reader.readMessage(entry, () => {
    while (reader.nextField()) {
      const number = reader.getFieldNumber();
      if (number === 1) entry[0] = readTextBytes(reader);
      else if (number === 2) entry[1] = readTextBytes(reader);
      else reader.skipField();
    }
  });
  return entry;
}

const noBytes = Buffer.alloc(0);
