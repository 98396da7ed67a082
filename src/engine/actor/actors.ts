/**
 * All actors of one runtime: finds and loads them, quarantines and releases them, and passivates idle ones. Reads
 * records, but knows no machine's behaviour. Next: actor.ts, and actor-host.ts for what actors ask of the engine
 */
import type { RestoreReport } from '../../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { ActorView } from '../actor-system.js';
import { type Clock, pause } from '../clock.js';
import type { ActorKind } from '../effects/effects.js';
import { checkCompensates } from '../effects/in-doubt-calls.js';
import { HostedMachine } from '../machine/hosted-machine.js';
import { pages, unreadable } from '../storage/pages.js';
import { storeRetryMs, storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Store, StoredRecord } from '../store.js';
import type { TimerHeap } from '../timer-heap.js';
import { Turns } from '../turns.js';
import { Actor } from './actor.js';
import type { ActorHost, ActorPorts } from './actor-ports.js';
import { recordIn } from './actor-record.js';
import { laterEpoch } from './commit-conflict.js';
import { type Reader, storedView } from './from-record.js';
import type { Message } from './message.js';
import { type Departed, IdleActors, PassivatedActors, Reminders } from './passivation.js';
import type { ActorPolicy } from './policy.js';

interface ActorsOptions {
  store: Store;
  clock: Clock;
  timers: TimerHeap;
  troubles: TroubleLog;
  policy: ActorPolicy;
  host: ActorHost;
  /** Total size of the records of idle actors kept in memory, as text. */
  idleBytes: number;
  /** Tells whether the lease allows to write this actor. */
  covers(address: string): boolean;
  /** Resolves once an actor's messages cannot overtake older messages that are being redelivered. */
  mayLoad(): Promise<unknown>;
}

export interface QuarantinedActor {
  address: string;
  reason: string;
}

/** Shared by all passivations: a new error with its stack would cost more than the passivation, and nobody reads it. */
const hasLeft = new StagecraftError('ABORTED', 'the actor has left memory');
const pageSize = 512;
/** Limits of names that every store can keep: stores/names.ts. */
const longestAddressBytes = 960;
const unwritable = /[\p{Cc}\p{Cs}]/u;

export class Actors {
  readonly #options: ActorsOptions;
  readonly #kinds = new Map<string, ActorPorts>();
  readonly #actors = new Map<string, Actor>();
  readonly #idle: IdleActors<Actor>;
  readonly #waker: Reminders;
  /** Makes loads yield the event loop. */
  readonly #turns: Turns;
  readonly #departed = new PassivatedActors();
  readonly #stop = new AbortController();
  /** Addresses that left memory during each running restore. */
  readonly #leftMeanwhile = new Set<Set<string>>();
  /** Addresses whose quarantine ends when their records are loaded. */
  readonly #released = new Set<string>();
  /** Actors that were looked up, and do not exist. */
  readonly #absent: Actor[] = [];
  readonly #releases = new Map<string, Promise<void>>();
  /** Why the runtime accepts nothing more; absent while it runs. */
  #closed: StagecraftError | undefined;

  constructor(options: ActorsOptions) {
    this.#options = options;
    this.#turns = new Turns(options.clock);
    this.#idle = new IdleActors(options.idleBytes, (actor) => this.#passivate(actor));
    this.#waker = new Reminders({
      ...options,
      wake: (address) => this.#wake(address),
      isAwake: (address) => this.#actors.has(address),
    });
  }

  /** @see Engine.host */
  host(kind: ActorKind): void {
    const { policy, host } = this.#options;
    const { id } = kind.machine;
    if (this.#kinds.has(id)) throw new Error(`actors of '${id}' are hosted already`);
    checkCompensates(kind);
    this.#kinds.set(id, { kind, machine: HostedMachine.of(kind.machine), policy, host });
  }

  get prefixes(): string[] {
    return [...this.#kinds.keys()].map((id) => `${id}/`);
  }

  readerOf(address: string): Reader | undefined {
    return this.#hosted(address);
  }

  /** View of a listed record. @throws {Error} saying why it can't be read */
  viewOf(record: StoredRecord): ActorView | undefined {
    this.#checkEpoch(record);
    return storedView(this.kindOf(record.address), record);
  }

  versionOf(address: string): string | undefined {
    return this.#hosted(address)?.machine.version;
  }

  /** Actor in memory; it may be loading or quarantined. */
  get(address: string): Actor | undefined {
    return this.#actors.get(address);
  }

  [Symbol.iterator](): IterableIterator<Actor> {
    return this.#actors.values();
  }

  /** @throws {StagecraftError} ACTOR_NOT_FOUND if no such machine is hosted, or the lease does not cover the address */
  kindOf(address: string): ActorPorts {
    const hosted = this.#options.covers(address) ? this.#hosted(address) : undefined;
    if (hosted) return hosted;
    const why = this.#hosted(address)
      ? 'it belongs to another node'
      : 'no actor has such an address: see stagecraft actor list';
    throw new StagecraftError('ACTOR_NOT_FOUND', `${address}: ${why}`, { address });
  }

  /**
   * Returns the actor at this address, and starts loading it if it is not in memory.
   * @throws {StagecraftError} ACTOR_NOT_FOUND, INVALID_ARGUMENT
   */
  demand(address: string): Actor {
    const present = this.#actors.get(address);
    if (present) return present;
    const actor = this.#make(address);
    void this.#load(actor);
    return actor;
  }

  /** Loads every actor under these prefixes that stays in memory, and wakes on-demand actors that have work to do. */
  async restore(prefixes: string[], quarantined: Set<string>): Promise<RestoreReport> {
    const { store } = this.#options;
    const left = new Set<string>();
    this.#leftMeanwhile.add(left);
    let actors = 0;
    try {
      for (const prefix of prefixes.filter((listed) => !this.#hosted(listed)?.kind.onDemand)) {
        for await (const record of pages((after) => store.list({ prefix, limit: pageSize, ...after }))) {
          // A listed actor may have ended, and left memory, since this page was read: its row is outdated.
          if (left.has(record.address) || this.#hosted(record.address)?.kind.onDemand) continue;
          if (this.#restoreListed(record)) actors += 1;
          else quarantined.add(record.address);
        }
      }
    } finally {
      this.#leftMeanwhile.delete(left);
    }
    await this.#waker.watch(prefixes);
    return { actors, quarantined: [...quarantined] };
  }

  /**
   * Compares all actors with a store that may have lost writes. Resolves once each actor is compared, and repaired if
   * possible.
   */
  async verify(): Promise<void> {
    const departed = this.#departed.addresses().map((address) => this.demand(address));
    await Promise.all([...this.#actors.values()].map((actor) => actor.verify()));
    await Promise.all(departed.map((actor) => actor.ready()));
  }

  quarantined(): QuarantinedActor[] {
    return [...this.#actors.values()].flatMap(({ address, quarantine: reason }) => (reason ? { address, reason } : []));
  }

  /** Quarantines an actor: its requests are refused, and its messages wait in the outbox of their senders. */
  quarantine(address: string, reason: string): void {
    const actor = this.#actors.get(address) ?? (this.#hosted(address) && this.#make(address));
    if (actor) actor.enterQuarantine(reason);
    else this.#options.host.quarantined(address, reason);
  }

  /**
   * Releases a quarantined actor. Resolves once it runs.
   * @throws {StagecraftError} ACTOR_NOT_FOUND; ACTOR_QUARANTINED if its record still cannot be read
   */
  release(address: string): Promise<void> {
    const under = this.#releases.get(address) ?? this.#release(address).finally(() => this.#releases.delete(address));
    this.#releases.set(address, under);
    return under;
  }

  async #release(address: string): Promise<void> {
    const before = this.demand(address);
    await before.ready();
    if (this.#closed) throw this.#closed;
    if (!before.quarantine && before.seq === 0) {
      throw new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}`, { address });
    }
    if (!before.quarantine) return;
    this.#released.add(address);
    const actor = this.takeUp(before);
    await actor.ready();
    this.#released.delete(address);
    if (this.#closed) throw this.#closed;
    const reason = actor.quarantine;
    if (reason) throw new StagecraftError('ACTOR_QUARANTINED', reason, { address });
  }

  /** Replaces an actor by a fresh one loaded from its record, and hands its messages over. */
  takeUp(before: Actor): Actor {
    const messages = before.giveUp();
    this.#forget(before);
    const actor = this.demand(before.address);
    for (const message of messages) actor.post(message);
    return actor;
  }

  /** Decides whether an idle actor stays in memory. */
  rested(resting: { address: string }): void {
    const actor = this.#actors.get(resting.address);
    if (actor !== resting) return;
    if (!actor.snapshot) this.#departSoon(actor);
    else if (actor.site.kind.onDemand && this.#mayLeave(actor)) this.#idle.add(actor);
  }

  post(address: string, message: Message): void {
    this.#actors.get(address)?.post(message);
  }

  /** Stops all actors; the runtime accepts nothing more. */
  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#stop.abort();
    this.#waker.stop();
    for (const actor of this.#actors.values()) actor.stop(this.#closed);
  }

  #hosted(address: string): ActorPorts | undefined {
    const end = address.indexOf('/');
    return this.#kinds.get(end < 0 ? address : address.slice(0, end));
  }

  #make(address: string): Actor {
    if (unwritable.test(address) || Buffer.byteLength(address) > longestAddressBytes) {
      const message = `no store can keep this address: at most ${longestAddressBytes} bytes, no control characters`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { address });
    }
    const actor = new Actor(address, this.kindOf(address));
    this.#actors.set(address, actor);
    this.#waker.disarm(address);
    // A message that arrives after the end stays in its sender's outbox.
    if (this.#closed) actor.stop(this.#closed);
    return actor;
  }

  #forget(actor: Actor): void {
    if (this.#actors.get(actor.address) !== actor) return;
    this.#idle.delete(actor);
    this.#actors.delete(actor.address);
    for (const left of this.#leftMeanwhile) left.add(actor.address);
  }

  /** Keeps an actor that does not exist for this turn of the event loop: whoever has looked it up may begin it now. */
  #departSoon(actor: Actor): void {
    if (actor.seq > 0 || !this.#options.policy.keepsAbsent) {
      this.#depart(actor);
      return;
    }
    this.#absent.push(actor);
    if (this.#absent.length === 1) setImmediate(() => this.#departAbsent());
  }

  #departAbsent(): void {
    for (const actor of this.#absent.splice(0)) if (!actor.snapshot && actor.isIdle) this.#depart(actor);
  }

  #depart(actor: Actor): void {
    if (this.#actors.get(actor.address) !== actor) return;
    this.#forget(actor);
    this.#departed.add(actor.departed);
  }

  /** Keeps actors whose timer is due: the timer fires in its own turn and must find its actor. */
  #mayLeave(actor: Actor): boolean {
    const nowMs = this.#options.clock.now();
    return actor.isIdle && actor.wakeAtMs(nowMs) > nowMs;
  }

  #passivate(actor: Actor): void {
    // An actor that has got work since then rests again later.
    if (!this.#mayLeave(actor)) return;
    const { address } = actor;
    const wakeAtMs = actor.wakeAtMs(this.#options.clock.now());
    this.#depart(actor);
    actor.stop(hasLeft);
    this.#options.host.feed.actor(address, 'passivated');
    if (wakeAtMs !== Number.POSITIVE_INFINITY) this.#waker.arm(address, wakeAtMs);
  }

  async #wake(address: string): Promise<void> {
    if (!this.#hosted(address) || !this.#options.covers(address) || this.#closed) return;
    try {
      await this.demand(address).ready();
    } catch (error) {
      this.#options.host.quarantined(address, `it is due, but can't be loaded: ${messageOf(error)}`);
    }
  }

  async #load(actor: Actor): Promise<void> {
    const { store, clock, troubles, mayLoad } = this.#options;
    await mayLoad();
    const turn = this.#turns.next();
    if (turn) await turn;
    while (actor.loading) {
      try {
        const record = await store.load(actor.address);
        if (record && this.#released.has(actor.address)) await this.#raiseFor(record);
        troubles.over(actor);
        if (actor.loading) this.#restoreRecord(actor, record);
      } catch (error) {
        const message = `the store can't load an actor now: ${messageOf(error)}`;
        troubles.failed(actor, { subject: storeSubject, fields: { address: actor.address }, message, cause: error });
        actor.unreachable(error);
        await pause(clock, storeRetryMs, this.#stop.signal);
      }
    }
    troubles.abandon(actor);
  }

  /** Takes the lease at a higher epoch than that of a record that is to be released: only then can it be written. */
  async #raiseFor({ epoch }: StoredRecord): Promise<void> {
    if (epoch > this.#options.host.epoch() && epoch < Number.MAX_SAFE_INTEGER / 2)
      await this.#options.host.raiseLease(epoch);
  }

  /** @throws {Error} if no holder of the lease can have written the record */
  #checkEpoch({ epoch }: StoredRecord): void {
    const { host } = this.#options;
    if (host.holdsLease() && epoch > host.epoch()) throw new Error(laterEpoch(epoch, host.epoch()));
  }

  /** @returns whether the actor runs */
  #restoreListed(record: StoredRecord): boolean {
    const { address } = record;
    try {
      const actor = this.#actors.get(address) ?? this.#make(address);
      if (actor.loading) this.#restoreRecord(actor, record);
      return !actor.stopped;
    } catch (error) {
      this.#options.host.quarantined(address, messageOf(error));
      return false;
    }
  }

  /**
   * Restores an actor from its record. If the record cannot be read, quarantines the actor and leaves the record as it
   * is.
   */
  #restoreRecord(actor: Actor, record: StoredRecord | undefined): void {
    const known = this.#departed.take(actor.address);
    try {
      if (record) this.#checkEpoch(record);
      if (known && (record?.seq ?? 0) < known.seq) this.#restoreLost(actor, known);
      else actor.restore(record, record && recordIn(record), this.#released.has(actor.address));
    } catch (error) {
      actor.enterQuarantine(unreadable(error));
    }
  }

  /**
   * Repairs a passivated actor whose commits the store has lost: a deletion is written again, a living actor is
   * quarantined.
   */
  #restoreLost(actor: Actor, { seq, tombstone, commitId }: Departed): void {
    if (tombstone) actor.restoreDeleted(tombstone, commitId);
    else actor.enterQuarantine(`the store has lost its commits up to seq ${seq}`);
  }
}
