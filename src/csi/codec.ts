/**
 * CSI's messages between plain data and bytes, by the tables of generated/plain.ts. Nothing is lost on the way: sizes are
 * exact, what was not sent stays absent, an enum value that is not known is its number. What each kind of field is:
 * fields.ts
 */
import { createRequire } from 'node:module';
import type jspb from 'google-protobuf';
import { answerBytes, answerLimitsOf, noLimits } from './answer-limits.js';
import type { RpcName } from './answers.js';
import { type FieldCodec, fieldCodec, isRecord, Misfit, not, type ReadLimits } from './fields.js';
import { messages, type Rpcs, rpcs } from './generated/plain.js';

/** Avoids `import`: Node 20 first searches the source for names to import, which takes longer than to run it. */
const { BinaryReader, BinaryWriter }: typeof jspb = createRequire(import.meta.url)('google-protobuf');

/** Fields may be left out: they get their zero values. Sizes may be numbers, if exact. */
export type Given<T> = T extends bigint
  ? bigint | number
  : T extends readonly (infer Item)[]
    ? readonly Given<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Given<T[Key]> | undefined }
      : T;

/** Encodes and decodes one message. */
export interface Codec<Plain> {
  /** @throws TypeError naming a field that the message does not have, or of another type */
  encode(plain: Given<Plain>): Buffer;
  /** @throws TypeError naming a text that is not UTF-8; in an answer also one of its bounds (answer-limits.ts) */
  decode(bytes: Uint8Array): Plain;
}

export const requestCodec = <Rpc extends RpcName>(rpc: Rpc): Codec<Rpcs[Rpc]['request']> =>
  codecOf(rpcs[rpc].request, unbounded, Number.POSITIVE_INFINITY);

export const responseCodec = <Rpc extends RpcName>(rpc: Rpc): Codec<Rpcs[Rpc]['response']> =>
  codecOf(rpcs[rpc].response, bounded, answerBytes(rpcs[rpc].response));

/** For checks of drivers, which judge sizes themselves: takes every answer whose texts are UTF-8. */
export const unboundedResponseCodec = <Rpc extends RpcName>(rpc: Rpc): Codec<Rpcs[Rpc]['response']> =>
  codecOf(rpcs[rpc].response, unbounded, Number.POSITIVE_INFINITY);

/** @param name of a message below the package: that of `Plain`, which the tables and the types are generated from alike */
function codecOf<Plain extends object>(
  name: keyof typeof messages,
  codecs: MessageCodecs,
  maxBytes: number,
): Codec<Plain> {
  const message = codecs.of(name);
  return {
    encode(plain) {
      const writer = new BinaryWriter();
      try {
        message.write(writer, plain);
      } catch (error) {
        throw faultAt(name, error);
      }
      const bytes = writer.getResultBuffer();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    decode(bytes) {
      try {
        if (bytes.length > maxBytes) throw not(`at most ${maxBytes} bytes long, and has ${bytes.length}`);
        return message.decode(bytes) as Plain;
      } catch (error) {
        throw faultAt(name, error);
      }
    },
  };
}

const faultAt = (name: string, error: unknown): unknown =>
  error instanceof Misfit ? new TypeError(error.tellingAt(name)) : error;

/** Codec of one kind of message. */
class MessageCodec {
  readonly #fields: FieldCodec[];
  readonly #byName: Map<string, FieldCodec>;
  readonly #byNumber: Map<number, FieldCodec>;

  constructor(fields: FieldCodec[]) {
    this.#fields = fields;
    this.#byName = new Map(fields.map((field) => [field.name, field]));
    this.#byNumber = new Map(fields.map((field) => [field.number, field]));
  }

  /** A message of which nothing was sent. */
  fresh(): Record<string, unknown> {
    const plain: Record<string, unknown> = {};
    for (const { name, zero } of this.#fields) if (zero) plain[name] = zero();
    return plain;
  }

  /** @throws Misfit */
  decode(bytes: Uint8Array): Record<string, unknown> {
    const plain = this.fresh();
    this.read(new BinaryReader(bytes), plain);
    return plain;
  }

  /** @throws Misfit */
  write(writer: jspb.BinaryWriter, plain: unknown): void {
    if (!isRecord(plain)) throw not('an object');
    const given = Object.entries(plain);
    for (const [name] of given) if (!this.#byName.has(name)) throw this.#stranger(name);
    let chosen: FieldCodec | undefined;
    let at = '';
    try {
      for (const [name, value] of given) {
        const field = this.#byName.get(name);
        if (!field || value === undefined) continue;
        at = name;
        if (field.oneof !== undefined && field.oneof === chosen?.oneof)
          throw new Misfit(`can't be given beside ${chosen.name}: CSI wants one of them`);
        if (field.oneof !== undefined) chosen = field;
        field.write(writer, value);
      }
    } catch (error) {
      throw error instanceof Misfit ? error.in(`.${at}`) : error;
    }
  }

  read(reader: jspb.BinaryReader, plain: Record<string, unknown>): void {
    while (reader.nextField() && !reader.isEndGroup()) {
      const field = this.#byNumber.get(reader.getFieldNumber());
      if (!field) {
        reader.skipField();
        continue;
      }
      if (field.oneof !== undefined) this.#clear(field, plain);
      try {
        field.read(reader, plain);
      } catch (error) {
        throw error instanceof Misfit ? error.in(`.${field.name}`) : error;
      }
    }
  }

  /** If several fields of one group were sent, the last one counts. */
  #clear({ oneof, name }: FieldCodec, plain: Record<string, unknown>): void {
    for (const field of this.#fields) if (field.oneof === oneof && field.name !== name) delete plain[field.name];
  }

  #stranger(name: string): Misfit {
    return new Misfit(`has no field '${name}', but: ${[...this.#byName.keys()].join(', ') || 'none'}`);
  }
}

/** Codecs of all messages, under the same bounds. Each is made on first use: most programs use a few. */
class MessageCodecs {
  readonly #limitsOf: (name: string) => ReadLimits;
  readonly #codecs = new Map<string, MessageCodec>();

  constructor(limitsOf: (name: string) => ReadLimits) {
    this.#limitsOf = limitsOf;
  }

  of(name: string): MessageCodec {
    let codec = this.#codecs.get(name);
    if (!codec) {
      const fields = Object.entries(messages).find(([candidate]) => candidate === name)?.[1];
      if (!fields) throw new TypeError(`CSI has no message ${name}`);
      const limits = this.#limitsOf(name);
      codec = new MessageCodec(fields.map((field) => fieldCodec(field, (part) => this.of(part), limits)));
      this.#codecs.set(name, codec);
    }
    return codec;
  }
}

const unbounded = new MessageCodecs(() => noLimits);
const bounded = new MessageCodecs(answerLimitsOf);
