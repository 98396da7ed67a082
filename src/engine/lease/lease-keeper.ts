/**
 * Holds the lease that allows this runtime to write its actors, and says when it is lost.
 * A lease counts from before it was asked for, on the monotonic clock: never longer here than in the store.
 * One that has lapsed (this process was stopped for a while, or the store) is asked for again: with the very next epoch
 * nobody has acted in between, and work goes on.
 */
import { StagecraftError } from '../../errors.js';
import type { Clock } from '../clock.js';
import type { Lease, LeaseResult, Store } from '../store.js';

export interface LeaseRequest {
  /** What is leased: `node/<id>`, `volumes/0`. */
  name: string;
  owner: string;
  ttlMs: number;
  /** Who we are, for those who are refused because of us. */
  holder: string;
  /** Whether its holder is to find, where it is refused, that it is wanted; default: no. */
  wants?(): boolean;
}

/** Error that `acquire` throws where another owner holds the lease. `isSilent`: no renewal for half of the lease's time. */
export type InUse = (holder: string, isSilent: boolean) => StagecraftError;

/** Who is told what becomes of the lease. */
export interface LeaseEvents {
  /** It has lapsed here, and is asked for again. */
  lapsed(): void;
  /** It had lapsed, and is held again. */
  regained(): void;
  /** The store says that it is not ours, though it can't have lapsed. */
  forgotten(): void;
  /** Somebody else may write these actors. */
  lost(reason: StagecraftError): void;
  /** Tells that another owner was refused the lease held here, and wants it. */
  wanted(): void;
}

export class LeaseKeeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #events: LeaseEvents;
  #request: LeaseRequest | undefined;
  #lease: Lease | undefined;
  #sinceMs = 0;
  #heldUntilMs = 0;
  /** The store may have lost writes since it was acquired. */
  #mayBeForgotten = false;
  #patientUntilMs: number | undefined;
  /** Released or lost: what a renewal says from then on counts no more. */
  #over = false;
  #cancelRenewal: () => void = () => {};
  #cancelLapse: () => void = () => {};

  constructor(store: Store, clock: Clock, events: LeaseEvents) {
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
  }

  /** @param inUse what it throws where somebody else holds it; default: NODE_IN_USE, naming the holder */
  async acquire(request: LeaseRequest, inUse?: InUse): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const { wants, ...asked } = request;
    const result = await this.#store.acquireLease({ ...asked, ...(wants?.() && { wants: true }) });
    if (result.status === 'held')
      throw inUse?.(result.holder, result.isSilent === true) ?? nodeInUse(request, result.holder);
    this.#request = request;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#held(result.lease, askedAtMs);
    if (result.wanted) this.#events.wanted();
  }

  /** When it was acquired, on the monotonic clock: no runtime before this one has begun anything since. */
  get sinceMs(): number {
    return this.#sinceMs;
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

  /** The store may have lost it: renewed now, and asked for again where it is gone. */
  confirm(): void {
    this.#mayBeForgotten = true;
    if (this.#lease && this.held) this.#renewAfter(0, this.#lease);
  }

  /** Somebody else has it: it is neither renewed nor given back. */
  giveUp(): void {
    this.#end();
  }

  /** Gives it back, so that the next one need not wait for its lapse. */
  async release(): Promise<void> {
    const { held } = this;
    this.#end();
    if (held) await this.#store.releaseLease(this.lease).catch(() => {});
  }

  #held(lease: Lease, askedAtMs: number): void {
    this.#lease = lease;
    this.#mayBeForgotten = false;
    this.#heldUntilMs = askedAtMs + lease.ttlMs;
    this.#cancelLapse();
    const leftMs = this.#heldUntilMs - this.#clock.monotonicMs();
    this.#cancelLapse = this.#clock.after(leftMs, () => this.#lapse(lease));
    // Counted from when it was asked for: a slow store leaves less time.
    this.#renewAfter(Math.max(0, askedAtMs + lease.ttlMs / 3 - this.#clock.monotonicMs()), lease);
  }

  #renewAfter(delayMs: number, lease: Lease): void {
    this.#cancelRenewal();
    this.#cancelRenewal = this.#clock.after(delayMs, () => void this.#renew(lease));
  }

  async #renew(lease: Lease): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const renewed = await this.#store.renewLease(lease).catch(() => undefined);
    if (this.#over || this.#lease !== lease || !this.held) return; // asked for again by now
    if (renewed) {
      this.#held(lease, askedAtMs);
      if (renewed === 'wanted') this.#events.wanted();
    }
    // No answer is no loss yet: asked again until the lease has lapsed here.
    else if (renewed === undefined) this.#renewAfter(lease.ttlMs / 10, lease);
    else {
      this.#lapse(lease);
      this.#events.forgotten();
    }
  }

  /** Asked for again until the store says whose it is: its silence means nothing, and it lets nobody else's writes pass. */
  #lapse(lease: Lease): void {
    this.#heldUntilMs = this.#clock.monotonicMs();
    this.#patientUntilMs = undefined;
    this.#cancelRenewal();
    this.#cancelLapse();
    this.#events.lapsed();
    void this.#reclaim(lease);
  }

  async #reclaim(lease: Lease): Promise<void> {
    if (!this.#request) return;
    const askedAtMs = this.#clock.monotonicMs();
    const { wants: _, ...request } = this.#request;
    const asked = { ...request, above: lease.epoch };
    const result = await this.#store.acquireLease(asked).catch(() => undefined);
    if (this.#over) {
      this.#giveBack(result);
      return;
    }
    // Where the store went back in time, it may be held by one who is dead: then it lapses within its term.
    if (result?.status === 'held' && this.#mayBeForgotten) this.#patientUntilMs ??= askedAtMs + lease.ttlMs;
    if (!result || (result.status === 'held' && askedAtMs < (this.#patientUntilMs ?? 0))) {
      this.#cancelRenewal = this.#clock.after(lease.ttlMs / 10, () => void this.#reclaim(lease));
    } else if (result.status === 'granted' && (result.since <= lease.epoch || result.lease.epoch === lease.epoch + 1)) {
      this.#held(result.lease, askedAtMs);
      this.#events.regained();
    } else {
      this.#giveBack(result);
      this.#lose(lease);
    }
  }

  /** Granted, but of no use any more: the next one need not wait for its lapse. */
  #giveBack(result: LeaseResult | undefined): void {
    if (result?.status === 'granted') void this.#store.releaseLease(result.lease).catch(() => {});
  }

  #lose({ name }: Lease): void {
    this.#end();
    this.#events.lost(
      new StagecraftError('FENCED', `${name} is no longer ours: another runtime may have taken it over`),
    );
  }

  #end(): void {
    this.#over = true;
    this.#cancelRenewal();
    this.#cancelLapse();
  }
}

function nodeInUse({ name, ttlMs }: LeaseRequest, holder: string): StagecraftError {
  const message = `${name} is run by ${holder}: stop that one first, or choose another nodeId; if it is dead, wait ${Math.ceil(ttlMs / 1_000)} s for its lease to lapse`;
  return new StagecraftError('NODE_IN_USE', message);
}
