/**
 * Keys of a store in Redis. Every address, topic and lease belongs to one of 64 buckets. All keys of a bucket share
 * one hash tag and so one cluster slot: one script can write a record and everything that belongs to it. The values
 * under these keys: redis-scripts.ts
 */

/** Stored in the meta key: with another number, every key would be looked for in the wrong bucket. */
export const buckets = 64;
export const allBuckets: readonly number[] = Array.from({ length: buckets }, (_, bucket) => bucket);

/** Names the bucket of the roster. */
export const rosterName = 'roster';

/** Keys of one store: all begin with its prefix. */
export class RedisKeys {
  readonly prefix: string;
  /** `{format, buckets}` */
  readonly meta: string;

  /** Written and deleted at open, to check the rights to do so. */
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
  /** Stream, ids `<seq>-0`; absent if nothing is owed */
  outbox = (address: string): string => this.#named('o', address);
  /** Stream, ids `0-<id>`: Redis numbers the entries, also after all were deleted */
  inbox = (address: string): string => this.#named('i', address);
  /** Stream, ids `0-<cursor>` */
  topic = (topic: string): string => this.#named('t', topic);
  /** Hash: source → `<seq> <index>` of its last event in the topic */
  marks = (topic: string): string => this.#named('m', topic);
  /** Hash: last holder of a lease and its epoch, kept for ever */
  lease = (name: string): string => this.#named('l', name);
  /** String that expires with the lease: the epoch that holds it */
  held = (name: string): string => this.#named('h', name);
  /** String that expires: the owner that was refused the lease last and wants it */
  wish = (name: string): string => this.#named('w', name);
  /** String that expires: the lowest level of those who were refused the lease and stand by */
  standby = (name: string): string => this.#named('s', name);

  /** Stream: texts for one run of an agent. Expires. */
  wire = (inbox: string): string => this.#named('x', inbox);
  /** Of the roster of agents: a hash of entries, a zset of beats, a zset of changes. Contents: redis-roster.ts */
  roster = (): string[] => ['a', 'b', 'c'].map((kind) => this.#named(kind, rosterName));

  /** Zsets of the bucket, ordered by name alone. A hash counts their members. */
  index = (bucket: number): string => this.#of(bucket, 'index');
  due = (bucket: number): string => this.#of(bucket, 'due');
  owed = (bucket: number): string => this.#of(bucket, 'owed');
  counts = (bucket: number): string => this.#of(bucket, 'counts');
  /** Hash: lease → `<newest epoch> <owner>`. Copied to each bucket: a script in a cluster sees no other bucket. */
  fences = (bucket: number): string => this.#of(bucket, 'fences');

  indexes(bucket: number): string[] {
    return [this.index(bucket), this.due(bucket), this.owed(bucket), this.counts(bucket)];
  }

  /** Beginning of all record keys of a bucket; the address follows. */
  records = (bucket: number): string => this.#of(bucket, 'r:');
  outboxes = (bucket: number): string => this.#of(bucket, 'o:');

  /** Glob pattern that matches every record key, and few others. */
  get recordPattern(): string {
    return `${this.prefix.replace(/[\\*?[\]^]/g, '\\$&')}{*}:r:*`;
  }

  /** Returns the address of a record key. */
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

/** Returns the bucket of a name. Never change it: stored data would not be found. */
export function bucketOf(name: string): number {
  return crc16(name) % buckets;
}

/** Returns the cluster slot of a bucket. Only the hash tag counts, whatever the prefix is. */
export function slotOf(bucket: number): number {
  return crc16(String(bucket)) % 16_384;
}

/** Encodes a time as text that sorts by time: the bits of the double, with those of negative numbers inverted. */
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

/** CRC16-XMODEM over UTF-8, as in Redis Cluster. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) crc = ((crc << 8) & 0xffff) ^ (crcTable[((crc >> 8) ^ byte) & 0xff] ?? 0);
  return crc;
}
