/**
 * Holds the lease that allows this runtime to write its actors, and reports its loss. The term counts from before the
 * request, on the monotonic clock: never longer here than in the store. After a lapse (process or store was paused) it
 * asks again. If it gets the very next epoch, nobody has acted in between, and work goes on.
 */
import { StagecraftError } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import type { Lease, LeaseResult, Store, StoreLevel } from '../store.js';

export interface LeaseRequest {
  /** Name of the lease: `node/<id>`, `volumes/0`. */
  name: string;
  owner: string;
  ttlMs: number;
  /** Describes this runtime to others that are refused the lease. */
  holder: string;
  /** Tells whether the store notes a refused request for the current holder; default: no. */
  wants?(): boolean;
  /** Level that this runtime reads. Default: levels are not compared. */
  reads?: StoreLevel;
  /** Whether it stands by while it is refused; default: no. */
  standsBy?: boolean;
}

/**
 * Makes the error that `acquire` throws while another owner holds the lease. `isSilent`: no renewal for half of its
 * time. `tooOld`: why this runtime can't take over.
 */
export type InUse = (holder: string, isSilent: boolean, tooOld?: StagecraftError) => StagecraftError;

/** Events of the lease, for its user. */
interface LeaseEvents {
  /** The lease has lapsed here; the keeper asks for it again. */
  lapsed(): void;
  /** The lapsed lease is held again. */
  regained(): void;
  /** The store says that this runtime does not hold the lease, though the term is not over. */
  forgotten(): void;
  /** Another runtime may write these actors now. */
  lost(reason: StagecraftError): void;
  /** The store has refused this lease to another owner that wants it. */
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
  #seen = 0;
  /** Moment of the first request since which the store is known to have lost data. */
  #forgottenAtMs: number | undefined;
  #patientUntilMs: number | undefined;
  /** True once the lease is released or lost; later answers of the store are ignored. */
  #over = false;
  #cancelRenewal: () => void = () => {};
  #cancelLapse: () => void = () => {};

  constructor(store: Store, clock: Clock, events: LeaseEvents) {
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
  }

  /**
   * Asks for the lease. A store that has lost data is left for one lease time to the runtime that had the lease before: that one
   * has the actors in memory, and writes them again.
   * @param inUse makes the error while another owner holds the lease; default: NODE_IN_USE, naming the holder
   * @param seen highest epoch of the lease that is known from before
   * @throws {StagecraftError} the error of `inUse`; NOT_LEADER: the store has lost data, or one who reads less comes first;
   *   STORE_TOO_NEW
   */
  async acquire(request: LeaseRequest, inUse?: InUse, seen = 0): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const { wants, ...asked } = request;
    this.#seen = Math.max(this.#seen, seen);
    const isLeft = askedAtMs - (this.#forgottenAtMs ?? askedAtMs) >= request.ttlMs;
    const result = await this.#store.acquireLease({
      ...asked,
      ...(isLeft ? { above: this.#seen } : { seen: this.#seen }),
      ...(wants?.() && { wants: true }),
    });
    this.#forgottenAtMs = result.status === 'forgotten' ? (this.#forgottenAtMs ?? askedAtMs) : undefined;
    if (result.status === 'held') this.#seen = Math.max(this.#seen, result.epoch);
    if (result.status !== 'granted') throw refusedWith(result, request, inUse);
    this.#request = request;
    this.#sinceMs = this.#clock.monotonicMs();
    this.#held(result.lease, askedAtMs);
    if (result.wanted) this.#events.wanted();
  }

  /** Moment of the acquisition, on the monotonic clock. No earlier runtime has begun anything since. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Highest epoch that the store has named, of this runtime or of a holder; 0: none. */
  get seen(): number {
    return this.#seen;
  }

  /** The acquired lease, even if it was lost since. */
  get lease(): Lease {
    if (!this.#lease) throw new Error('no lease was acquired');
    return this.#lease;
  }

  /** Tells whether effects may start now. */
  get held(): boolean {
    return !this.#over && this.#clock.monotonicMs() < this.#heldUntilMs;
  }

  /** Renews the lease at once, as the store may have lost it; asks for it again if it is gone. */
  confirm(): void {
    if (this.#lease && this.held) this.#renewAfter(0, this.#lease);
  }

  /** Asks the store whether the lease is still ours; resolves once it answers. False also if the lease is given up meanwhile. */
  async confirmed(): Promise<boolean> {
    while (!this.#over) {
      const answer = await this.#store.renewLease(this.lease).catch(() => undefined);
      if (answer !== undefined) return answer !== false && !this.#over;
      await pause(this.#clock, this.lease.ttlMs / 10);
    }
    return false;
  }

  /** Takes the lease, which is ours, at a higher epoch than `above`. @throws {Error} if the store does not grant it */
  async raise(above: number): Promise<void> {
    const lease = this.lease;
    if (!this.#request || !this.held || lease.epoch > above) return;
    const askedAtMs = this.#clock.monotonicMs();
    const { wants: _, ...request } = this.#request;
    const result = await this.#store.acquireLease({ ...request, above });
    if (this.#over) this.#giveBack(result);
    else if (result.status === 'granted' && result.since <= lease.epoch) this.#held(result.lease, askedAtMs);
    else this.#lapse(lease);
  }

  /** Neither renews nor releases the lease: another owner has it. */
  giveUp(): void {
    this.#end();
  }

  /** Releases the lease, so that the next owner need not wait for its lapse. */
  async release(): Promise<void> {
    const { held } = this;
    this.#end();
    if (held) await this.#store.releaseLease(this.lease).catch(() => {});
  }

  #held(lease: Lease, askedAtMs: number): void {
    this.#lease = lease;
    this.#seen = Math.max(this.#seen, lease.epoch);
    this.#heldUntilMs = askedAtMs + lease.ttlMs;
    this.#cancelLapse();
    const leftMs = this.#heldUntilMs - this.#clock.monotonicMs();
    this.#cancelLapse = this.#clock.after(leftMs, () => this.#lapse(lease));
    // Counts from the request: a slow store leaves less time.
    this.#renewAfter(Math.max(0, askedAtMs + lease.ttlMs / 3 - this.#clock.monotonicMs()), lease);
  }

  #renewAfter(delayMs: number, lease: Lease): void {
    this.#cancelRenewal();
    this.#cancelRenewal = this.#clock.after(delayMs, () => void this.#renew(lease));
  }

  async #renew(lease: Lease): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    const renewed = await this.#store.renewLease(lease).catch(() => undefined);
    if (this.#over || this.#lease !== lease || !this.held) return; // the keeper has asked for the lease again meanwhile
    if (renewed) {
      this.#held(lease, askedAtMs);
      if (renewed === 'wanted') this.#events.wanted();
    }
    // A missing answer is no loss: the keeper asks again until the lease has lapsed here.
    else if (renewed === undefined) this.#renewAfter(lease.ttlMs / 10, lease);
    else {
      this.#lapse(lease);
      this.#events.forgotten();
    }
  }

  /** Asks for the lapsed lease again until the store answers. A silent store also accepts no writes of others. */
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
    // A store that has lost data may show a dead holder, whose lease lapses within its term.
    const isBehind = result?.status === 'held' && result.epoch <= lease.epoch;
    if (isBehind) this.#patientUntilMs ??= askedAtMs + lease.ttlMs;
    if (!result || (isBehind && askedAtMs < (this.#patientUntilMs ?? 0))) {
      this.#cancelRenewal = this.#clock.after(lease.ttlMs / 10, () => void this.#reclaim(lease));
    } else if (result.status === 'granted' && (result.since <= lease.epoch || result.lease.epoch === lease.epoch + 1)) {
      this.#held(result.lease, askedAtMs);
      this.#events.regained();
    } else {
      this.#giveBack(result);
      this.#lose(lease);
    }
  }

  /** Releases a granted lease of no use, so that the next owner need not wait for its lapse. */
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

function refusedWith(
  result: Exclude<LeaseResult, { status: 'granted' }>,
  request: LeaseRequest,
  inUse: InUse | undefined,
): StagecraftError {
  switch (result.status) {
    case 'held': {
      const { holder, isSilent = false, newer } = result;
      return inUse?.(holder, isSilent, newer && tooOld(request, newer)) ?? nodeInUse(request, holder);
    }
    case 'forgotten':
      return forgotten(request);
    case 'too-old':
      return tooOld(request, result);
    case 'later':
      return new StagecraftError(
        'NOT_LEADER',
        'an agent of an older version takes over: it comes first while there is one',
      );
  }
}

function nodeInUse({ name, ttlMs }: LeaseRequest, holder: string): StagecraftError {
  const message = `${name} is run by ${holder}: stop that one first, or choose another nodeId; if it is dead, wait ${Math.ceil(ttlMs / 1_000)} s for its lease to lapse`;
  return new StagecraftError('NODE_IN_USE', message);
}

function forgotten({ ttlMs }: LeaseRequest): StagecraftError {
  const seconds = Math.ceil(ttlMs / 1_000);
  const message = `the store has lost data: the agent that led before has ${seconds} s to write again what it knows, then this one takes over`;
  return new StagecraftError('NOT_LEADER', message);
}

function tooOld({ reads = { level: 0, version: '' } }: LeaseRequest, { level, version }: StoreLevel): StagecraftError {
  const message = `this agent (${reads.version}) reads level ${reads.level} of what is stored, and the store has level ${level}: update it to ${version} or newer`;
  return new StagecraftError('STORE_TOO_NEW', message);
}
