/**
 * The live leases of a store that one process uses: in memory, on the monotonic clock, void when the store closes.
 * What outlives them (epochs, and who held each of them last) is the store's to keep.
 */

import type { Lease, LeaseAsked } from '../engine/store.js';

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

export class LeaseTable {
  readonly #held = new Map<string, Held>();
  readonly #monotonicMs: MonotonicMs;

  constructor(monotonicMs: MonotonicMs) {
    this.#monotonicMs = monotonicMs;
  }

  /** The words of the other owner who holds `name`; undefined where `owner` may have it. */
  rivalOf(name: string, owner: string): string | undefined {
    const held = this.#live(name);
    return held === undefined || held.lease.owner === owner ? undefined : held.holder;
  }

  grant(lease: Lease, holder: string): void {
    this.#held.set(lease.name, { lease, holder, lapsesAtMs: this.#monotonicMs() + lease.ttlMs });
  }

  /** A lapsed lease is lost even if nobody took it: its owner may have been thought dead meanwhile. */
  renew(lease: Lease): boolean {
    const held = this.#own(lease);
    if (held === undefined) return false;
    held.lapsesAtMs = this.#monotonicMs() + lease.ttlMs;
    return true;
  }

  release(lease: Lease): void {
    if (this.#own(lease) !== undefined) this.#held.delete(lease.name);
  }

  clear(): void {
    this.#held.clear();
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
