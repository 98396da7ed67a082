/**
 * Masters of a Redis Cluster: which master has which bucket, and what happens when that changes during calls.
 * Replaces the cluster client of ioredis, which would send to a newly found node before its data was checked.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreEvents } from '../../engine/store.js';
import { greet, type Identity, SettingsWatch } from './redis-greeting.js';
import { allBuckets, slotOf } from './redis-keys.js';
import { isReply, type LinkOptions, NotSentError, RedisLink } from './redis-link.js';
import { type RedisSettings, serverText } from './redis-options.js';
import { arrayOf, numberOf } from './redis-replies.js';
import { command, type RedisCall } from './redis-script.js';
import { type RedisServers, sendOr } from './redis-servers.js';

interface Node {
  host: string;
  port: number;
}

/** Range of slots, both ends included, and the master that has them. */
interface SlotRange {
  first: number;
  last: number;
  node: Node;
}

/** Call without a final answer yet, and the node to ask next. */
interface Pending {
  index: number;
  call: RedisCall;
  where: string;
  /** True if the bucket is still moving to this node, which then answers only calls that announce it (ASKING). */
  asking: boolean;
}

/** Calls sent to one node together. */
interface Group {
  where: string;
  asking: boolean;
  calls: Pending[];
}

/** Milliseconds until a call for a moving bucket is repeated. */
const movingPauseMs = 10;

export class RedisCluster implements RedisServers {
  readonly shareCalls = false;
  readonly where: string;
  readonly #settings: RedisSettings;
  readonly #seeds: Node[];
  readonly #events: StoreEvents;
  /** Links to every master, and to nodes that have begun to take over buckets. */
  readonly #links = new Map<string, RedisLink>();
  readonly #known = new Map<string, Identity>();
  /** By node, as links are made again. */
  readonly #watches = new Map<string, SettingsWatch>();
  #masters = new Set<string>();
  /** Node of each bucket, by the bucket's number. */
  #places: string[] = [];
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(settings: RedisSettings, seeds: Node[], events: StoreEvents) {
    this.#settings = settings;
    this.#seeds = seeds;
    this.#events = events;
    this.where = seeds.map(serverText).join(', ');
  }

  async open(): Promise<void> {
    try {
      await this.#look();
      for (const link of this.masters()) await link.send([]);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
  }

  masters(): RedisLink[] {
    return [...this.#masters].flatMap((where) => this.#links.get(where) ?? []);
  }

  async send(calls: RedisCall[], sure = false): Promise<unknown[]> {
    const answers: unknown[] = calls.map(() => undefined);
    const until = performance.now() + this.#settings.commandTimeoutMs;
    let pending: Pending[] = calls.map((call, index) => ({ index, call, where: this.#placeOf(call), asking: false }));
    for (;;) {
      await Promise.all(
        groupsOf(pending).map(async (group) => {
          const replies = await this.#sendGroup(group, sure);
          for (const [i, { index }] of group.calls.entries()) answers[index] = replies[i];
        }),
      );
      pending = pending.filter(({ index }) => isReply(answers[index], 'MOVED', 'ASK', 'TRYAGAIN'));
      if (pending.length === 0 || this.#isClosed || performance.now() > until) break;
      pending = await this.#redirected(pending, answers);
    }
    if (answers.some((answer) => answer instanceof NotSentError || isReply(answer, 'CLUSTERDOWN'))) this.#lookSoon();
    return answers;
  }

  async #sendGroup({ where, asking, calls }: Group, sure: boolean): Promise<unknown[]> {
    const link = this.#links.get(where);
    if (link === undefined) {
      const error = new NotSentError(`The Redis cluster ${this.where} has no node for what was asked.`);
      return calls.map(() => error);
    }
    if (!asking)
      return sendOr(
        link,
        calls.map(({ call }) => call),
        sure,
      );
    const asked = calls.flatMap(({ call }) => [command(call.bucket, 'asking'), call]);
    const replies = await sendOr(link, asked, sure);
    return replies.filter((_, i) => i % 2 === 1);
  }

  async #redirected(pending: Pending[], answers: unknown[]): Promise<Pending[]> {
    const all = pending.map(({ index }) => answers[index]);
    if (all.some((answer) => isReply(answer, 'MOVED'))) await this.#look().catch(() => undefined);
    if (all.some((answer) => isReply(answer, 'TRYAGAIN'))) await sleep(movingPauseMs);
    for (const answer of all) await this.#meet(importerOf(answer));
    return pending.map(({ index, call }) => {
      const importer = importerOf(answers[index]);
      const asking = importer !== undefined;
      return { index, call, where: asking ? serverText(importer) : this.#placeOf(call), asking };
    });
  }

  #placeOf({ bucket }: RedisCall): string {
    return this.#places[bucket] ?? '';
  }

  /** Asks again which node has which slots. Concurrent callers share one query. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  #lookSoon(): void {
    if (!this.#isClosed) this.#look().catch(() => undefined);
  }

  async #lookOnce(): Promise<void> {
    const ranges = await this.#slotRanges();
    const masters = new Set(ranges.map(({ node }) => serverText(node)));
    for (const where of this.#masters) {
      if (masters.has(where)) continue;
      this.#events.suspect(`Redis at ${where} serves the cluster no longer: a replica may have taken its place.`);
    }
    await Promise.all(ranges.map(({ node }) => this.#meet(node)));
    for (const [where, link] of this.#links) {
      if (masters.has(where)) continue;
      this.#links.delete(where);
      link.close();
    }
    this.#masters = masters;
    this.#places = allBuckets.map((bucket) => {
      const slot = slotOf(bucket);
      const range = ranges.find(({ first, last }) => first <= slot && slot <= last);
      return range === undefined ? '' : serverText(range.node);
    });
  }

  /** Makes sure that there is a link to this node. If the node cannot be reached now, the link keeps trying. */
  async #meet(node: Node | undefined): Promise<void> {
    if (node === undefined || this.#isClosed || this.#links.has(serverText(node))) return;
    const where = serverText(node);
    const settings = this.#watches.get(where) ?? new SettingsWatch(where, this.#events);
    this.#watches.set(where, settings);
    const link = this.#linkTo(node, {
      look: (say) => settings.look(say),
      greet: async (say) => {
        const known = this.#known.get(where);
        const identity = await greet(say, { where, db: 0, onlyMaster: false, known, events: this.#events, settings });
        this.#known.set(where, identity);
        return identity.isMaster;
      },
    });
    this.#links.set(where, link);
    await link.open().catch(() => {
      // Skips a link that was closed or given up meanwhile.
      if (!this.#isClosed && this.#links.get(where) === link) link.start();
    });
  }

  #linkTo(node: Node, checks: Pick<LinkOptions, 'greet' | 'look'>): RedisLink {
    const { connection, durability, commandTimeoutMs } = this.#settings;
    return new RedisLink({ connection: { ...connection, ...node }, durability, commandTimeoutMs, ...checks });
  }

  /** Returns the slots as reported by the first node that answers: one in use, else one from the configuration. */
  async #slotRanges(): Promise<SlotRange[]> {
    const failures: string[] = [];
    const ask = async (link: RedisLink, node: Node): Promise<SlotRange[] | undefined> => {
      const [answer] = await sendOr(link, [command(0, 'cluster', 'slots')], false);
      if (Array.isArray(answer) && answer.length > 0) return answer.map((row) => slotRangeOf(row, node));
      failures.push(answer instanceof Error ? answer.message : `Redis at ${link.where} serves no slots.`);
      return undefined;
    };
    for (const [where, link] of this.#links) {
      const ranges = link.isLive ? await ask(link, nodeOf(where)) : undefined;
      if (ranges !== undefined) return ranges;
    }
    for (const seed of this.#seeds) {
      const link = this.#linkTo(seed, { greet: async () => true, look: async () => {} });
      try {
        await link.open();
        const ranges = await ask(link, seed);
        if (ranges !== undefined) return ranges;
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      } finally {
        link.close();
      }
    }
    throw new Error(`No node of the Redis cluster reports its slots: ${failures.join('; ')}`);
  }
}

function groupsOf(pending: Pending[]): Group[] {
  const groups = new Map<string, Group>();
  for (const one of pending) {
    const { where, asking } = one;
    const key = `${where} ${asking}`;
    const group = groups.get(key) ?? { where, asking, calls: [] };
    group.calls.push(one);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Reads `[first, last, [host, port, …], …]`. A node that does not know its own host is the node that was asked. */
function slotRangeOf(reply: unknown, asked: Node): SlotRange {
  const [first, last, master] = arrayOf(reply);
  const [host, port] = arrayOf(master);
  const node = { host: typeof host === 'string' && host !== '' ? host : asked.host, port: numberOf(port) };
  return { first: numberOf(first), last: numberOf(last), node };
}

/** Reads `ASK <slot> <host>:<port>`. */
function importerOf(answer: unknown): Node | undefined {
  return isReply(answer, 'ASK ') ? nodeOf(answer.message.split(' ')[2] ?? '') : undefined;
}

function nodeOf(where: string): Node {
  const colon = where.lastIndexOf(':');
  return { host: where.slice(0, colon), port: Number(where.slice(colon + 1)) };
}
