/**
 * The live leases of a store that one process uses: in memory, on the monotonic clock, void when the store closes.
 * What outlives them (epochs, and who held each of them last) is the store's to keep.
 */

import type { Lease, LeaseAsked, LeaseResult, Renewal } from '../engine/store.js';

/** Milliseconds that never go back, from any start. */
export type MonotonicMs = () => number;

/** Who was granted a lease last, and from which epoch on nobody else was. Kept for ever. */
export interface LastHolder {
  owner: string;
  since: number;
}

/** What is to be kept once `owner` is granted it at `epoch`. */
export function holderAfter(last: LastHolder | undefined, owner: string, epoch: number): LastHolder {
  return last?.owner === owner ? last : { owner, since: epoch };
}

/** Higher than every epoch before, also than those that only the caller still knows of. */
export function nextEpoch(lastEpoch: number, asked: LeaseAsked): number {
  return Math.max(lastEpoch, asked.above ?? 0) + 1;
}

interface Held {
  lease: Lease;
  holder: string;
  lapsesAtMs: number;
}

/** Of an owner who was refused. */
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

  /** The refusal, where another owner holds the lease; undefined where it may be granted. */
  refusalOf({ name, owner, ttlMs, wants }: LeaseAsked): Extract<LeaseResult, { status: 'held' }> | undefined {
    const held = this.#live(name);
    if (held === undefined || held.lease.owner === owner) return undefined;
    const nowMs = this.#monotonicMs();
    if (wants) this.#wishes.set(name, { owner, lapsesAtMs: nowMs + ttlMs });
    const isSilent = held.lapsesAtMs - nowMs < held.lease.ttlMs / 2;
    return { status: 'held', holder: held.holder, ...(isSilent && { isSilent }) };
  }

  /** Whether another owner was refused it and wants it. */
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

  /** A lapsed lease is lost even if nobody took it: its owner may have been thought dead meanwhile. */
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
