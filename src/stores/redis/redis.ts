/**
 * Store on Redis: one server, one that sentinels name, or a cluster. One script writes the whole of a commit, next to
 * its record. Read next: redis-keys.ts (keys), redis-commits.ts (writes), redis-link.ts (calls without an
 * answer).
 */

import { systemClock } from '../../engine/clock.js';
import type {
  Commit,
  CommitResult,
  Cursor,
  DueRow,
  Encoded,
  InboxRow,
  JournalRow,
  Lease,
  LeaseAsked,
  LeaseResult,
  OutboxRow,
  Range,
  Renewal,
  Store,
  StoredRecord,
  StoreEvents,
  StorePage,
  TopicEntry,
  TopicPage,
  Wire,
} from '../../engine/store.js';
import { checkCommit } from '../commit-rule.js';
import { checkName } from '../names.js';
import { numberedPosition, numberedToken, pageOf } from '../pages.js';
import { RedisCluster } from './redis-cluster.js';
import { commitAll, slices } from './redis-commits.js';
import { allBuckets, bucketOf, RedisKeys, sortable } from './redis-keys.js';
import { type NameRange, namesInOrder, prefixBounds } from './redis-listing.js';
import { checkStored, openFailure } from './redis-opening.js';
import { type RedisSettings, type RedisStoreOptions, redisSettings } from './redis-options.js';
import { arrayOf, entriesOf, numberOf, textOf } from './redis-replies.js';
import { decodeJournal, dueRow, entryText, outboxRows, recordFields, recordRow, topicRow } from './redis-rows.js';
import { call, command, type RedisCall } from './redis-script.js';
import * as scripts from './redis-scripts.js';
import { askAll, RedisServer, type RedisServers, readAll } from './redis-servers.js';
import { blockMs, redisWire } from './redis-wire.js';

/**
 * A store on Redis 7 or newer, which several runtimes may share.
 *
 * What outlives a crash is for the server's settings to say: `appendonly yes`, `appendfsync always` and
 * `maxmemory-policy noeviction` keep all that the store promises; open() warns of others. `durability` adds replicas.
 *
 * A user of its own needs, with the prefix `stagecraft:` and without cluster or sentinels:
 * `~stagecraft:* +evalsha +eval +script|load +hmget +hget +hset +hdel +hincrby +xadd +xdel +xtrim +xrange +xread +xlen
 * +xinfo|stream +zadd +zrem +zrange +zcard +zscore +get +set +del +exists +pexpire +pttl +scan +info +wait +time
 * +config|get`;
 * another database than 0 also `+select`,
 * a cluster also `+cluster|slots +asking`.
 * @throws {TypeError} for options that can't be used, naming every fault with its path
 */
export function redisStore(options: string | RedisStoreOptions): Store {
  return new RedisStore(redisSettings(options));
}

/** Texts per script call that only appends. */
const appendStep = 256;
const silent: StoreEvents = { warn: () => undefined, suspect: () => undefined };

class RedisStore implements Store {
  readonly wire: Wire;
  readonly #settings: RedisSettings;
  readonly #keys: RedisKeys;
  #opening: Promise<void> | undefined;
  #servers: RedisServers | undefined;
  #isOpen = false;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
    this.#keys = new RedisKeys(settings.prefix);
    this.wire = redisWire({
      ...{ keys: this.#keys, clock: systemClock },
      servers: () => this.#opened(),
      reading: (suspect) => this.#reading(suspect),
    });
  }

  /** Concurrent callers wait for the same opening. */
  open(events: StoreEvents = silent): Promise<void> {
    this.#opening ??= this.#open(events);
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#servers?.close();
    this.#servers = undefined;
    this.#opening = undefined;
    this.#isOpen = false;
  }

  async acquireLease(asked: LeaseAsked): Promise<LeaseResult> {
    const { name, owner, ttlMs, holder, above = 0, seen = 0, wants = false, standsBy = false, reads } = asked;
    checkName(name);
    const { level, version } = reads ?? { level: 0, version: '' };
    const args = [owner, holder, version, ...[ttlMs, above, seen, level, Number(wants), Number(standsBy)].map(String)];
    const reply = await this.#write(call(scripts.acquireScript, bucketOf(name), this.#leaseKeys(name), args));
    const [status, ...row] = arrayOf(reply);
    if (status === 'forgotten') return { status };
    if (status === 'later') return { status, level: numberOf(row[0]) };
    if (status === 'too-old') return { status, level: numberOf(row[0]), version: textOf(row[1]) };
    if (status === 'held') {
      const [rival, held, isSilent, stored, by] = row;
      const silent = numberOf(isSilent) === 1 && { isSilent: true as const };
      const newer = level > 0 && level < numberOf(stored) && { level: numberOf(stored), version: textOf(by) };
      return { status, holder: textOf(rival), epoch: numberOf(held), ...silent, ...(newer && { newer }) };
    }
    const [epoch, since, isWanted] = row;
    // Fences before the grant: the earlier holder must not write anything any more.
    const fences = allBuckets.map((bucket) =>
      call(scripts.fenceScript, bucket, [this.#keys.fences(bucket)], [name, textOf(epoch), owner]),
    );
    const lease = { name, epoch: numberOf(epoch), owner, ttlMs };
    try {
      await this.#ask(fences, true);
    } catch (cause) {
      // Gives the lease back: nobody should wait for a lease that nobody holds.
      await this.releaseLease(lease).catch(() => {});
      throw cause;
    }
    return { status: 'granted', lease, since: numberOf(since), ...(numberOf(isWanted) === 1 && { wanted: true }) };
  }

  async renewLease({ name, owner, epoch, ttlMs }: Lease): Promise<Renewal> {
    const args = [owner, String(epoch), String(ttlMs)];
    const renewed = await this.#write(call(scripts.renewScript, bucketOf(name), this.#leaseKeys(name), args));
    return renewed === 2 ? 'wanted' : renewed === 1;
  }

  async releaseLease({ name, owner, epoch }: Lease): Promise<void> {
    await this.#write(call(scripts.releaseScript, bucketOf(name), this.#leaseKeys(name), [owner, String(epoch)]));
  }

  async load(address: string): Promise<StoredRecord | undefined> {
    const [record] = await this.#records([address]);
    return record;
  }

  async list({ prefix, after, limit }: Range): Promise<StorePage<StoredRecord>> {
    const names: string[] = [];
    for await (const some of this.#names(this.#keys.index, { ...prefixBounds(prefix, after), wanted: limit + 1 })) {
      names.push(...some);
      if (names.length > limit) break;
    }
    const { rows, next } = pageOf(names, limit, (name) => name);
    // Leaves out actors that were deleted meanwhile.
    const records = (await this.#records(rows)).flatMap((record) => (record && !record.gone ? record : []));
    return next === undefined ? { rows: records } : { rows: records, next };
  }

  async due({ prefix, after, limit, untilMs }: Range & { untilMs: number }): Promise<StorePage<DueRow>> {
    const begin = after === undefined ? undefined : numberedPosition(after);
    const from = begin === undefined ? '-' : `(${sortable(begin.number)}/${begin.address}`;
    // `0` is the character after `/`.
    const range = { from, to: `(${sortable(untilMs)}0`, wanted: limit + 1 };
    const rows: DueRow[] = [];
    for await (const members of this.#names(this.#keys.due, range)) {
      rows.push(
        ...members.flatMap((member) => dueRow(member) ?? []).filter(({ address }) => address.startsWith(prefix)),
      );
      if (rows.length > limit) break;
    }
    return pageOf(rows, limit, ({ wakeAtMs, address }) => numberedToken(wakeAtMs, address));
  }

  async commit(items: Commit[]): Promise<CommitResult[]> {
    const servers = this.#opened();
    items.forEach(checkCommit);
    return commitAll(servers, this.#keys, items);
  }

  async unsettled({ prefix, after, limit }: Range): Promise<StorePage<OutboxRow>> {
    const begin = after === undefined ? undefined : numberedPosition(after);
    const bounds = prefixBounds(prefix);
    const from = begin === undefined ? bounds.from : `[${begin.address}`;
    const rows: OutboxRow[] = [];
    for await (const addresses of this.#names(this.#keys.owed, { ...bounds, from, wanted: limit + 1 })) {
      const calls = addresses.map((address) => {
        const first = address === begin?.address ? begin.number + 1 : 0;
        const range = [this.#keys.outbox(address), `${first}-0`, '+', 'COUNT', String(limit + 1)];
        return command(bucketOf(address), 'xrange', ...range);
      });
      const outboxes = await readAll(this.#opened(), calls);
      rows.push(...addresses.flatMap((address, i) => outboxRows(address, outboxes[i])));
      if (rows.length > limit) break;
    }
    return pageOf(rows, limit, (row) => numberedToken(row.seq, row.address));
  }

  async settle(rows: { address: string; seq: number }[]): Promise<void> {
    const byBucket = new Map<number, Map<string, number[]>>();
    for (const { address, seq } of rows) {
      const bucket = entryOf(byBucket, bucketOf(address), () => new Map<string, number[]>());
      entryOf(bucket, address, (): number[] => []).push(seq);
    }
    const calls = [...byBucket].map(([bucket, seqs]) => {
      const outboxes = [...seqs.keys()].map(this.#keys.outbox);
      const args = [...seqs].flatMap(([address, some]) => [address, String(some.length), ...some.map(String)]);
      return call(
        scripts.settleScript,
        bucket,
        [this.#keys.owed(bucket), this.#keys.counts(bucket), ...outboxes],
        args,
      );
    });
    await this.#ask(calls, true);
  }

  async appendInbox(address: string, texts: Encoded[]): Promise<number[]> {
    checkName(address);
    const ids: number[] = [];
    for (const step of slices(texts, appendStep)) {
      const reply = await this.#write(call(scripts.inboxScript, bucketOf(address), [this.#keys.inbox(address)], step));
      ids.push(...arrayOf(reply).map(numberOf));
    }
    return ids;
  }

  async readInbox(address: string, after: number, limit: number): Promise<InboxRow[]> {
    const entries = entriesOf(await this.#entries(address, this.#keys.inbox(address), `0-${after + 1}`, limit));
    return entries.map((entry) => ({ id: entry.id[1], text: entryText(entry) }));
  }

  async appendTopic(topic: string, entries: TopicEntry[]): Promise<Cursor> {
    for (const name of [topic, ...entries.map((entry) => entry.source)]) checkName(name);
    const keys = [this.#keys.topic(topic), this.#keys.marks(topic)];
    let newest: unknown = 0;
    // Sends steps one after the other: were a later step written first, the earlier one would count as old. Without entries one empty step asks for the cursor.
    for (const step of entries.length === 0 ? [[]] : slices(entries, appendStep)) {
      const args = step.flatMap(({ source, seq, index, text }) => [source, String(seq), String(index), text]);
      newest = await this.#write(call(scripts.appendTopicScript, bucketOf(topic), keys, args));
    }
    return numberOf(newest);
  }

  async readTopic(topic: string, after: Cursor, limit: number): Promise<TopicPage> {
    const args = [String(after + 1), String(Math.max(limit, 1))];
    const reading = call(scripts.readTopicScript, bucketOf(topic), [this.#keys.topic(topic)], args);
    const [rows, newest, oldest] = arrayOf((await this.#ask([reading]))[0]);
    return {
      rows: limit <= 0 ? [] : entriesOf(rows).map(topicRow),
      oldest: typeof oldest === 'string' ? numberOf(oldest.slice(2)) : numberOf(newest) + 1,
      newest: numberOf(newest),
    };
  }

  async trimTopic(topic: string, upTo: Cursor): Promise<void> {
    await this.#write(command(bucketOf(topic), 'xtrim', this.#keys.topic(topic), 'MINID', `0-${upTo + 1}`));
  }

  async readJournal(address: string, from: number, limit: number): Promise<JournalRow[]> {
    const first = Math.max(from, 0);
    return decodeJournal(await this.#entries(address, this.#keys.journal(address), `${first}-0`, limit), first);
  }

  async trimJournal(address: string, below: number): Promise<void> {
    const min = `${Math.max(below, 0)}-0`;
    await this.#write(command(bucketOf(address), 'xtrim', this.#keys.journal(address), 'MINID', min));
  }

  /** Connects for reads that block. */
  async #reading(suspect: () => void): Promise<RedisServers> {
    const { durability: _, commandTimeoutMs, ...settings } = this.#settings;
    const patient = { ...settings, durability: 'server' as const, commandTimeoutMs: commandTimeoutMs + blockMs };
    const servers = serversOf(patient, { ...silent, suspect });
    await servers.open();
    return servers;
  }

  async #open(events: StoreEvents): Promise<void> {
    const servers = serversOf(this.#settings, events);
    this.#servers = servers;
    try {
      await servers.open();
      await checkStored(servers, this.#keys);
      if (this.#servers !== servers) throw new Error('It was closed meanwhile.');
      this.#isOpen = true;
    } catch (error) {
      if (this.#servers === servers) await this.close();
      throw openFailure(error, servers.where);
    }
  }

  #leaseKeys(name: string): string[] {
    return [this.#keys.lease(name), this.#keys.held(name), this.#keys.wish(name), this.#keys.standby(name)];
  }

  async #records(addresses: string[]): Promise<(StoredRecord | undefined)[]> {
    const calls = addresses.map((address) =>
      command(bucketOf(address), 'hmget', this.#keys.record(address), ...recordFields),
    );
    const replies = await readAll(this.#opened(), calls);
    return addresses.map((address, i) => recordRow(address, replies[i]));
  }

  /** Reads the stream of `name`; `key` tells which kind of stream. */
  async #entries(name: string, key: string, from: string, limit: number): Promise<unknown> {
    const servers = this.#opened();
    if (limit <= 0) return [];
    const reading = command(bucketOf(name), 'xrange', key, from, '+', 'COUNT', String(limit));
    const [reply] = await readAll(servers, [reading]);
    return reply;
  }

  #names(keyOf: NameRange['keyOf'], range: Omit<NameRange, 'keyOf'>): AsyncGenerator<string[]> {
    return namesInOrder((calls) => this.#ask(calls), { keyOf, ...range });
  }

  async #write(call: RedisCall): Promise<unknown> {
    const [reply] = await this.#ask([call], true);
    return reply;
  }

  /** @throws {Error} if one of the calls failed */
  async #ask(calls: RedisCall[], sure = false): Promise<unknown[]> {
    return askAll(this.#opened(), calls, sure);
  }

  #opened(): RedisServers {
    if (this.#servers === undefined || !this.#isOpen) throw new Error('The Redis store is closed: open() it first.');
    return this.#servers;
  }
}

const serversOf = (settings: RedisSettings, events: StoreEvents): RedisServers =>
  settings.cluster === undefined
    ? new RedisServer(settings, events)
    : new RedisCluster(settings, settings.cluster, events);

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}
