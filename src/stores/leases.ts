/**
 * Live leases of a store that only one process uses: in memory, on the monotonic clock, void once the store closes.
 * The store itself keeps what outlives the process: epochs, and the last holder of each lease.
 */

import type { Lease, LeaseAsked, LeaseResult, Renewal } from '../engine/store.js';

/** Milliseconds of a clock that never goes back. Its start is arbitrary. */
export type MonotonicMs = () => number;

/** Owner to whom the lease was granted last, and the epoch since which it was granted to nobody else. Kept for ever. */
export interface LastHolder {
  owner: string;
  since: number;
}

/** Returns the last holder once `owner` is granted the lease at `epoch`. */
export function holderAfter(last: LastHolder | undefined, owner: string, epoch: number): LastHolder {
  return last?.owner === owner ? last : { owner, since: epoch };
}

/** Returns an epoch above all earlier ones, including those that only the caller still knows. */
export function nextEpoch(lastEpoch: number, asked: LeaseAsked): number {
  return Math.max(lastEpoch, asked.above ?? 0) + 1;
}

/** Tells whether the store has lost data, since the requester knows of a later grant. */
export const hasForgotten = (lastEpoch: number, { seen = 0 }: LeaseAsked): boolean => lastEpoch < seen;

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

export class LeaseTable {
  readonly #held = new Map<string, Held>();
  readonly #wishes = new Map<string, Wish>();
  readonly #monotonicMs: MonotonicMs;

  constructor(monotonicMs: MonotonicMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** Returns the refusal if another owner holds the lease; undefined: it may be granted. */
  refusalOf({ name, owner, ttlMs, wants }: LeaseAsked): Extract<LeaseResult, { status: 'held' }> | undefined {
    const held = this.#live(name);
    if (held === undefined || held.lease.owner === owner) return undefined;
    const nowMs = this.#monotonicMs();
    if (wants) this.#wishes.set(name, { owner, lapsesAtMs: nowMs + ttlMs });
    const isSilent = held.lapsesAtMs - nowMs < held.lease.ttlMs / 2;
    return { status: 'held', holder: held.holder, epoch: held.lease.epoch, ...(isSilent && { isSilent }) };
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
