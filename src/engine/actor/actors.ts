/**
 * The actors of one runtime: finds or loads them, takes them out of service and back, and lets those that are idle
 * leave memory. Knows records, but nothing of what actors do. Who is their host: actor-host.ts
 */
import type { RestoreReport } from '../../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import type { ActorKind } from '../effects/effects.js';
import { checkCompensates } from '../effects/in-doubt-calls.js';
import { HostedMachine } from '../machine/hosted-machine.js';
import { pages } from '../storage/pages.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Store, StoredRecord } from '../store.js';
import type { TimerHeap } from '../timer-heap.js';
import { Turns } from '../turns.js';
import { Actor } from './actor.js';
import type { ActorHost, ActorPorts } from './actor-ports.js';
import { decodeRecord } from './actor-record.js';
import { IdleActors } from './idle-actors.js';
import type { Mail } from './message.js';
import { type Departed, PassivatedActors } from './passivated-actors.js';
import type { ActorPolicy } from './policy.js';
import { Reminders } from './reminders.js';

export interface ActorsOptions {
  store: Store;
  clock: Clock;
  timers: TimerHeap;
  troubles: TroubleLog;
  policy: ActorPolicy;
  host: ActorHost;
  /** What the records of idle actors that stay in memory may stepActor, as text. */
  idleBytes: number;
  /** Whether the lease allows to write this actor. */
  covers(address: string): boolean;
  /** Resolves when a message that an actor sends can't overtake one that it owed before. */
  mayLoad(): Promise<unknown>;
}

export interface QuarantinedActor {
  address: string;
  reason: string;
}

/** One for all: nobody waits for an idle actor, and an error of its own, with its stack, would cost more than its leaving. */
const hasLeft = new StagecraftError('ABORTED', 'the actor has left memory');
const pageSize = 512;
const loadRetryMs = 200;
/** What every store can keep as a name: stores/names.ts. */
const longestAddressBytes = 960;
const unwritable = /[\p{Cc}\p{Cs}]/u;

export class Actors {
  readonly #options: ActorsOptions;
  readonly #kinds = new Map<string, ActorPorts>();
  readonly #actors = new Map<string, Actor>();
  readonly #idle: IdleActors;
  readonly #waker: Reminders;
  /** Those that come into memory stepActor them. */
  readonly #turns: Turns;
  readonly #departed = new PassivatedActors();
  readonly #stop = new AbortController();
  /** Per restore under way, the addresses that left memory meanwhile. */
  readonly #leftMeanwhile = new Set<Set<string>>();
  /** Those that are to be taken back into service as they are loaded. */
  readonly #released = new Set<string>();
  readonly #releases = new Map<string, Promise<void>>();
  /** Why nothing is taken any more. */
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

  versionOf(address: string): string | undefined {
    return this.#hosted(address)?.machine.version;
  }

  /** In memory, be it on its way from the store or out of service. */
  get(address: string): Actor | undefined {
    return this.#actors.get(address);
  }

  [Symbol.iterator](): IterableIterator<Actor> {
    return this.#actors.values();
  }

  /** @throws StagecraftError ACTOR_NOT_FOUND where no machine of that name is hosted */
  kindOf(address: string): ActorPorts {
    const hosted = this.#options.covers(address) ? this.#hosted(address) : undefined;
    if (hosted) return hosted;
    const why = this.#hosted(address) ? 'it belongs to another node' : 'no machine of that name is hosted here';
    throw new StagecraftError('ACTOR_NOT_FOUND', `${address}: ${why}`, { address });
  }

  /**
   * The actor at this address: on its way from the store where it was not in memory.
   * @throws StagecraftError ACTOR_NOT_FOUND, INVALID_ARGUMENT
   */
  demand(address: string): Actor {
    const present = this.#actors.get(address);
    if (present) return present;
    const actor = this.#make(address);
    void this.#load(actor);
    return actor;
  }

  /** Brings every actor under these prefixes into memory that belongs there, or has something to do. */
  async restore(prefixes: string[], quarantined: Set<string>): Promise<RestoreReport> {
    const { store } = this.#options;
    const left = new Set<string>();
    this.#leftMeanwhile.add(left);
    let actors = 0;
    try {
      for (const prefix of prefixes.filter((listed) => !this.#hosted(listed)?.kind.onDemand)) {
        for await (const record of pages((after) => store.list({ prefix, limit: pageSize, ...after }))) {
          // What it says may have been overtaken by one that was in memory and has ended since.
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

  /** The store may have lost what it took: resolves when that is known of all, and made good where it can be. */
  async verify(): Promise<void> {
    const departed = this.#departed.addresses().map((address) => this.demand(address));
    await Promise.all([...this.#actors.values()].map((actor) => actor.verify()));
    await Promise.all(departed.map((actor) => actor.ready()));
  }

  quarantined(): QuarantinedActor[] {
    return [...this.#actors.values()].flatMap(({ address, quarantine: reason }) => (reason ? { address, reason } : []));
  }

  /** Takes one out of service: what comes for it is refused, or waits where it is owed. */
  quarantine(address: string, reason: string): void {
    const actor = this.#actors.get(address) ?? (this.#hosted(address) && this.#make(address));
    if (actor) actor.enterQuarantine(reason);
    else this.#options.host.quarantined(address, reason);
  }

  /**
   * Takes one back into service. Resolves when it is.
   * @throws StagecraftError ACTOR_QUARANTINED if its record still can't be read
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

  /** Replaces one by what its record says; its mail is handed on. */
  takeUp(before: Actor): Actor {
    const mail = before.giveUp();
    this.#forget(before);
    const actor = this.demand(before.address);
    for (const each of mail) actor.post(each);
    return actor;
  }

  /** It has nothing to do: does it stay? */
  rested(resting: { address: string }): void {
    const actor = this.#actors.get(resting.address);
    if (actor !== resting) return;
    if (!actor.snapshot) this.#depart(actor);
    else if (actor.site.kind.onDemand && this.#mayLeave(actor)) this.#idle.add(actor);
  }

  post(address: string, mail: Mail): void {
    this.#actors.get(address)?.post(mail);
  }

  /** Nothing is taken any more. */
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
    // What arrives after the end stays owed where its sender keeps it.
    if (this.#closed) actor.stop(this.#closed);
    return actor;
  }

  #forget(actor: Actor): void {
    if (this.#actors.get(actor.address) !== actor) return;
    this.#idle.delete(actor);
    this.#actors.delete(actor.address);
    for (const left of this.#leftMeanwhile) left.add(actor.address);
  }

  #depart(actor: Actor): void {
    if (this.#actors.get(actor.address) !== actor) return;
    this.#forget(actor);
    this.#departed.add(actor.departed);
  }

  /** A timer that is due fires in its own turn: it must find its actor. */
  #mayLeave(actor: Actor): boolean {
    const nowMs = this.#options.clock.now();
    return actor.isIdle && actor.wakeAtMs(nowMs) > nowMs;
  }

  #passivate(actor: Actor): void {
    // Else it has got something to do since, and comes to rest again.
    if (!this.#mayLeave(actor)) return;
    const { address } = actor;
    const wakeAtMs = actor.wakeAtMs(this.#options.clock.now());
    this.#depart(actor);
    actor.stop(hasLeft);
    if (wakeAtMs !== Number.POSITIVE_INFINITY) this.#waker.arm(address, wakeAtMs);
  }

  async #wake(address: string): Promise<void> {
    if (!this.#hosted(address) || this.#closed) return;
    await this.demand(address).ready();
  }

  async #load(actor: Actor): Promise<void> {
    const { store, clock, troubles, mayLoad } = this.#options;
    await mayLoad();
    const turn = this.#turns.next();
    if (turn) await turn;
    while (actor.loading) {
      try {
        const record = await store.load(actor.address);
        troubles.over(actor);
        if (actor.loading) this.#restoreRecord(actor, record);
      } catch (error) {
        const message = `the store can't load an actor now: ${messageOf(error)}`;
        troubles.failed(actor, { subject: storeSubject, fields: { address: actor.address }, message });
        actor.unreachable(error);
        await pause(clock, loadRetryMs, this.#stop.signal);
      }
    }
    troubles.abandon(actor);
  }

  /** Whether its actor runs. */
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

  /** Leaves a record that can't be read as it is, says so, and refuses what comes for its actor. */
  #restoreRecord(actor: Actor, record: StoredRecord | undefined): void {
    const known = this.#departed.stepActor(actor.address);
    try {
      if (known && (record?.seq ?? 0) < known.seq) this.#restoreLost(actor, known);
      else actor.restore(record, record && decodeRecord(record.text), this.#released.has(actor.address));
    } catch (error) {
      actor.enterQuarantine(`its record can't be read: ${messageOf(error)}`);
    }
  }

  /** The store has lost what it took of this one while it was out of memory. */
  #restoreLost(actor: Actor, { seq, tombstone, commitId }: Departed): void {
    if (tombstone) actor.restoreDeleted(tombstone, commitId);
    else actor.enterQuarantine(`the store has lost what it took of it up to seq ${seq}`);
  }
}
