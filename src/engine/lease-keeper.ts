/**
 * Holds the lease that allows this runtime to write its actors, and says at once when it is lost.
 * A lease counts from before it was asked for, on the monotonic clock: never longer here than in the store.
 */
import { StagecraftError } from '../errors.js';
import type { Clock } from './clock.js';
import type { Lease, Store } from './store.js';

export interface LeaseRequest {
  /** What is leased: `node/<id>`. */
  name: string;
  owner: string;
  ttlMs: number;
  /** Who we are, for those who are refused because of us. */
  holder: string;
}

export class LeaseKeeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #lost: (reason: StagecraftError) => void;
  #lease: Lease | undefined;
  #heldUntilMs = 0;
  /** Released or lost: what a renewal says from then on counts no more. */
  #over = false;
  #cancelRenewal: () => void = () => {};
  #cancelLapse: () => void = () => {};

  constructor(store: Store, clock: Clock, lost: (reason: StagecraftError) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#lost = lost;
  }

  /** @throws StagecraftError NODE_IN_USE, naming the holder */
  async acquire(request: LeaseRequest): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const result = await this.#store.acquireLease(request);
    if (result.status === 'held') {
      const message = `${request.name} is run by ${result.holder}: stop that one first, or choose another nodeId`;
      throw new StagecraftError('NODE_IN_USE', message);
    }
    this.#held(result.lease, askedAtMs);
  }

  /** As acquired, even where it was lost since. */
  get lease(): Lease {
    if (!this.#lease) throw new Error('no lease was acquired');
    return this.#lease;
  }

  /** Whether effects may be started now. */
  get held(): boolean {
    return !this.#over && this.#clock.monotonicMs() < this.#heldUntilMs;
  }

  /** Gives it back, so that the next one need not wait for its lapse. */
  async release(): Promise<void> {
    const { held } = this;
    this.#end();
    if (held) await this.#store.releaseLease(this.lease).catch(() => {});
  }

  #held(lease: Lease, askedAtMs: number): void {
    this.#lease = lease;
    this.#heldUntilMs = askedAtMs + lease.ttlMs;
    this.#cancelLapse();
    this.#cancelLapse = this.#clock.after(this.#heldUntilMs - this.#clock.monotonicMs(), () => this.#lose(lease));
    this.#renewAfter(lease.ttlMs / 3, lease);
  }

  #renewAfter(delayMs: number, lease: Lease): void {
    this.#cancelRenewal = this.#clock.after(delayMs, () => void this.#renew(lease));
  }

  async #renew(lease: Lease): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const renewed = await this.#store.renewLease(lease).catch(() => undefined);
    if (this.#over) return;
    if (renewed) this.#held(lease, askedAtMs);
    // No answer is no loss yet: asked again until the lease has lapsed here.
    else if (renewed === undefined) this.#renewAfter(lease.ttlMs / 10, lease);
    else this.#lose(lease);
  }

  #lose({ name }: Lease): void {
    this.#end();
    this.#lost(new StagecraftError('FENCED', `${name} is no longer ours: another runtime may have taken it over`));
  }

  #end(): void {
    this.#over = true;
    this.#cancelRenewal();
    this.#cancelLapse();
  }
}
