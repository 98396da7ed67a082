/**
 * Where things lie in Redis. Every address, topic and lease belongs to one of 64 buckets, and all keys of a bucket
 * carry one hash tag: they share a cluster slot, so that one script can write a record and all that follows from it.
 * What is written under these keys: redis-scripts.ts
 */

/** Kept in the store's meta key: another number would look for everything in the wrong place. */
export const buckets = 64;
export const allBuckets: readonly number[] = Array.from({ length: buckets }, (_, bucket) => bucket);

/** The keys of one store: all begin with its prefix. */
export class RedisKeys {
  readonly prefix: string;
  /** `{format, buckets}` */
  readonly meta: string;

  /** Written and deleted at open, to see whether that is allowed. */
  readonly probe: string;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.meta = this.#of(0, 'meta');
    this.probe = this.#of(0, 'probe');
  }

  /** Hash: seq, epoch, owner, commitId, gone, wake, text */
  record = (address: string): string => this.#named('r', address);
  /** Stream, ids `<seq>-0` */
  journal = (address: string): string => this.#named('j', address);
  /** Stream, ids `<seq>-0`; absent where nothing is owed */
  outbox = (address: string): string => this.#named('o', address);
  /** Stream, ids `0-<id>`: Redis counts on by itself, also when all was consumed */
  inbox = (address: string): string => this.#named('i', address);
  /** Stream, ids `0-<cursor>` */
  topic = (topic: string): string => this.#named('t', topic);
  /** Hash: source → `<seq> <index>` of its last event in the topic */
  marks = (topic: string): string => this.#named('m', topic);
  /** Hash: the last holder of a lease and its epoch, for ever */
  lease = (name: string): string => this.#named('l', name);
  /** String that lapses with the lease: the epoch that holds it */
  held = (name: string): string => this.#named('h', name);
  /** String that lapses: the owner who was refused the lease last, and wants it */
  wish = (name: string): string => this.#named('w', name);

  /** The bucket's zsets, ordered by name alone, and the hash that counts what must be in them. */
  index = (bucket: number): string => this.#of(bucket, 'index');
  due = (bucket: number): string => this.#of(bucket, 'due');
  owed = (bucket: number): string => this.#of(bucket, 'owed');
  counts = (bucket: number): string => this.#of(bucket, 'counts');
  /** Hash: lease → `<newest epoch> <owner>`. In each bucket, since a script of a cluster sees no other. */
  fences = (bucket: number): string => this.#of(bucket, 'fences');

  indexes(bucket: number): string[] {
    return [this.index(bucket), this.due(bucket), this.owed(bucket), this.counts(bucket)];
  }

  /** What all record keys of a bucket begin with; addresses follow. */
  records = (bucket: number): string => this.#of(bucket, 'r:');
  outboxes = (bucket: number): string => this.#of(bucket, 'o:');

  /** A glob that finds every record's key, and what little looks like one. */
  get recordPattern(): string {
    return `${this.prefix.replace(/[\\*?[\]^]/g, '\\$&')}{*}:r:*`;
  }

  /** The address whose record has this key. */
  addressOf(key: string): string | undefined {
    const address = key.slice(key.indexOf('}:r:') + 4);
    return address !== '' && key === this.record(address) ? address : undefined;
  }

  #named(kind: string, name: string): string {
    return this.#of(bucketOf(name), `${kind}:${name}`);
  }

  #of(bucket: number, rest: string): string {
    return `${this.prefix}{${bucket}}:${rest}`;
  }
}

/** Never to be changed: what is stored lies where this says. */
export function bucketOf(name: string): number {
  return crc16(name) % buckets;
}

/** The cluster slot of a bucket's keys, whatever the prefix: the hash tag alone counts. */
export function slotOf(bucket: number): number {
  return crc16(String(bucket)) % 16_384;
}

/** A moment as text whose order is that of time: the bits of the double, those of negative ones turned. */
export function sortable(ms: number): string {
  const bits = Buffer.alloc(8);
  bits.writeDoubleBE(ms);
  return turned(bits, Object.is(ms, -0) || ms < 0).toString('hex');
}

export function fromSortable(hex: string): number {
  const bits = Buffer.from(hex, 'hex');
  return turned(bits, (bits[0] ?? 0) < 0x80).readDoubleBE();
}

function turned(bits: Buffer, isNegative: boolean): Buffer {
  return Buffer.from(bits.map((byte, i) => (isNegative ? byte ^ 0xff : i === 0 ? byte ^ 0x80 : byte)));
}

const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** CRC16-XMODEM over UTF-8, as Redis Cluster has it. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) crc = ((crc << 8) & 0xffff) ^ (crcTable[((crc >> 8) ^ byte) & 0xff] ?? 0);
  return crc;
}
