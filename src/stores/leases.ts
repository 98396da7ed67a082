/**
 * Live leases of a store that only one process uses: in memory, on the monotonic clock, void once the store closes.
 * The store itself keeps what outlives the process: epochs, and the last holder of each lease.
 */

import type { Lease, LeaseAsked, LeaseResult, Renewal, StoreLevel } from '../engine/store.js';

/** Milliseconds of a clock that never goes back. Its start is arbitrary. */
export type MonotonicMs = () => number;

/** Owner to whom the lease was granted last, and the epoch since which it was granted to nobody else. Kept for ever. */
export interface LastHolder {
  owner: string;
  since: number;
  /** Highest level to which the lease was granted. Absent: to none. */
  level?: StoreLevel;
}

/** Returns the last holder once the lease is granted at `epoch`. */
export function holderAfter(last: LastHolder | undefined, { owner, reads }: LeaseAsked, epoch: number): LastHolder {
  const level = reads ?? last?.level;
  return { owner, since: last?.owner === owner ? last.since : epoch, ...(level && { level }) };
}

/** Returns an epoch above all earlier ones, including those that only the caller still knows. */
export function nextEpoch(lastEpoch: number, asked: LeaseAsked): number {
  return Math.max(lastEpoch, asked.above ?? 0) + 1;
}

/** Data of a lease that a store keeps for ever. */
export interface KeptLease {
  /** 0: it was never granted. */
  epoch: number;
  last: LastHolder | undefined;
}

type Refusal = Exclude<LeaseResult, { status: 'granted' }>;

const levelIn = (last: LastHolder | undefined): number => last?.level?.level ?? 0;

/** Returns what was stored under a lease, if that is more than the requester reads. */
const newerThan = (reads: StoreLevel | undefined, last: LastHolder | undefined): StoreLevel | undefined =>
  reads && reads.level < levelIn(last) ? last?.level : undefined;

interface Held {
  lease: Lease;
  holder: string;
  lapsesAtMs: number;
}

/** Refused owner that still wants the lease. */
interface Wish {
  owner: string;
  lapsesAtMs: number;
}

/** Lowest level of those who stand by. */
interface Standby {
  level: number;
  lapsesAtMs: number;
}

export class LeaseTable {
  readonly #held = new Map<string, Held>();
  readonly #wishes = new Map<string, Wish>();
  readonly #standbys = new Map<string, Standby>();
  readonly #monotonicMs: MonotonicMs;

  constructor(monotonicMs: MonotonicMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** Returns why the lease is not granted; undefined: it may be. @param kept what the store keeps of it */
  refusalOf(asked: LeaseAsked, kept: KeptLease): Refusal | undefined {
    const { name, seen = 0, reads } = asked;
    const { epoch, last } = kept;
    const held = this.#live(name);
    if (held !== undefined && held.lease.owner !== asked.owner) return this.#heldBy(held, asked, last);
    if (epoch < seen) return { status: 'forgotten' };
    if (!reads) return undefined;
    const newer = newerThan(reads, last);
    if (newer) return { status: 'too-old', ...newer };
    const standby = this.#standby(name);
    const isLater = standby !== undefined && standby.level < reads.level && standby.level >= levelIn(last);
    return isLater ? { status: 'later', level: standby.level } : undefined;
  }

  #heldBy(held: Held, asked: LeaseAsked, last: LastHolder | undefined): Refusal {
    const { name, owner, ttlMs, wants, reads } = asked;
    const nowMs = this.#monotonicMs();
    const [level, stored] = [reads?.level ?? 0, levelIn(last)];
    if (wants && level <= stored) this.#wishes.set(name, { owner, lapsesAtMs: nowMs + ttlMs });
    const lowest = this.#standby(name)?.level ?? level;
    if (asked.standsBy && level >= stored && level <= lowest)
      this.#standbys.set(name, { level, lapsesAtMs: nowMs + ttlMs });
    const isSilent = held.lapsesAtMs - nowMs < held.lease.ttlMs / 2;
    const newer = newerThan(reads, last);
    const { holder, lease } = held;
    return { status: 'held', holder, epoch: lease.epoch, ...(isSilent && { isSilent }), ...(newer && { newer }) };
  }

  #standby(name: string): Standby | undefined {
    const standby = this.#standbys.get(name);
    return standby !== undefined && this.#monotonicMs() < standby.lapsesAtMs ? standby : undefined;
  }

  /** Tells whether another owner was refused the lease and still wants it. */
  isWanted({ name, owner }: Pick<Lease, 'name' | 'owner'>): boolean {
    const wish = this.#wishes.get(name);
    if (wish === undefined) return false;
    const isOver = wish.owner === owner || wish.lapsesAtMs <= this.#monotonicMs();
    if (isOver) this.#wishes.delete(name);
    return !isOver;
  }

  grant(lease: Lease, holder: string): void {
    this.#standbys.delete(lease.name);
    this.#held.set(lease.name, { lease, holder, lapsesAtMs: this.#monotonicMs() + lease.ttlMs });
  }

  /** Renews a live lease. A lapsed lease is lost even if nobody took it: others may have counted its owner as dead. */
  renew(lease: Lease): Renewal {
    const held = this.#own(lease);
    if (held === undefined) return false;
    held.lapsesAtMs = this.#monotonicMs() + lease.ttlMs;
    return this.isWanted(lease) ? 'wanted' : true;
  }

  release(lease: Lease): void {
    if (this.#own(lease) !== undefined) this.#held.delete(lease.name);
  }

  clear(): void {
    this.#held.clear();
    this.#wishes.clear();
    this.#standbys.clear();
  }

  #own(lease: Lease): Held | undefined {
    const held = this.#live(lease.name);
    return held?.lease.epoch === lease.epoch && held.lease.owner === lease.owner ? held : undefined;
  }

  #live(name: string): Held | undefined {
    const held = this.#held.get(name);
    return held !== undefined && this.#monotonicMs() < held.lapsesAtMs ? held : undefined;
  }
}
