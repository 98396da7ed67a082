/**
 * Hosts actors: finds or loads them, hands them their mail, and is the host that each of them needs.
 * Knows stores, effects and time through their ports; nothing of CSI. The contract: docs/architecture.md#save-then-act
 */
import type { AnyEventObject, StateValue } from 'xstate';
import type { RestoreReport } from '../../machines/registry.js';
import { messageOf, StagecraftError } from '../errors.js';
import { Actor, type ActorHost, type CommitNotice } from './actor.js';
import { type Clock, pause } from './clock.js';
import { Committer } from './committer.js';
import { asData } from './data.js';
import { Deliveries } from './deliveries.js';
import { EffectRunner } from './effect-runner.js';
import type { ActorKind } from './effects.js';
import { decodeEntry, decodeEnvelope, type JournalEntry, type LiveEffect, type LiveTimer } from './envelope.js';
import { HostedMachine } from './hosted-machine.js';
import type { ActorMessage, Inbox } from './inbox.js';
import { LeaseKeeper, type LeaseRequest } from './lease-keeper.js';
import type { Logger } from './logger.js';
import type { Random } from './random.js';
import { type Replayed, replay } from './replay.js';
import type { CommitResult, Cursor, JournalRow, OutboxRow, Store, StoredRecord, TopicRow } from './store.js';
import { Topics } from './topics.js';

export interface EngineOptions {
  store: Store;
  clock: Clock;
  random: Random;
  logger: Logger;
  kinds: ActorKind[];
  lease: Omit<LeaseRequest, 'owner'>;
}

/** An actor as committed last. */
export interface ActorView {
  seq: number;
  state: StateValue;
  context: object;
}

interface HostedKind {
  kind: ActorKind;
  machine: HostedMachine;
}

const pageSize = 512;
const loadRetryMs = 200;
const effectGraceMs = 5_000;
const storeGraceMs = 10_000;
/** What every store can keep as a name: stores/names.ts. */
const longestAddressBytes = 960;
const unwritable = /[\p{Cc}\p{Cs}]/u;

export class Engine {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #kinds = new Map<string, HostedKind>();
  readonly #actors = new Map<string, Actor>();
  readonly #timers = new Map<LiveTimer, () => void>();
  readonly #observers = new Set<(notice: CommitNotice) => void>();
  readonly #committer: Committer;
  readonly #effects: EffectRunner;
  readonly #topics: Topics;
  readonly #deliveries: Deliveries;
  readonly #leases: LeaseKeeper;
  readonly #leaseRequest: LeaseRequest;
  readonly #host: ActorHost;
  readonly #stop = new AbortController();
  /** Per restore under way, the addresses that were dropped from memory meanwhile. */
  readonly #droppedMeanwhile = new Set<Set<string>>();
  /** Resolved where nothing that earlier runs owed waits to be delivered. */
  #redelivered: Promise<unknown> = Promise.resolve();
  /** Effects that wait for the lease to be held again. */
  readonly #postponed = new Map<LiveEffect, () => void>();
  #tellLost: (reason: StagecraftError) => void = () => {};
  /** Resolves if another runtime has taken over what was ours; nothing is done here from then on. */
  readonly lost: Promise<StagecraftError>;
  #commits = 0;
  /** Why nothing is taken any more. */
  #closed: StagecraftError | undefined;

  constructor({ store, clock, random, logger, kinds, lease }: EngineOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#logger = logger;
    for (const kind of kinds) this.#kinds.set(kind.machine.id, { kind, machine: new HostedMachine(kind.machine) });
    this.#committer = new Committer(store, clock);
    this.#effects = new EffectRunner(clock);
    this.#topics = new Topics(store, clock);
    const inbox: Inbox = { append: (address, message) => this.#append(address, message) };
    this.#deliveries = new Deliveries({ store, clock, topics: this.#topics, inbox });
    this.#leases = new LeaseKeeper(store, clock, {
      regained: () => this.#startPostponed(),
      lost: (reason) => this.#fence(reason),
    });
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    this.#leaseRequest = { ...lease, owner: random.id() };
    this.#host = this.#makeHost();
  }

  /**
   * Opens the store and takes the lease.
   * @throws StagecraftError NODE_IN_USE, naming the holder
   */
  async open(): Promise<void> {
    await this.#store.open();
    try {
      await this.#leases.acquire(this.#leaseRequest);
    } catch (error) {
      await this.#store.close();
      throw error;
    }
  }

  /**
   * Brings back every actor under these address prefixes: delivers what was owed, resumes timers and effects.
   * A record that can't be read is left as it is and named in the report. Call it before anything is asked of them.
   */
  async restore(prefixes: string[]): Promise<RestoreReport> {
    if (this.#closed) throw this.#closed;
    const quarantined = new Set<string>();
    const redelivered = this.#redeliver(prefixes, quarantined);
    this.#redelivered = Promise.allSettled([this.#redelivered, redelivered]);
    await redelivered;
    let actors = 0;
    const dropped = new Set<string>();
    this.#droppedMeanwhile.add(dropped);
    try {
      for (const prefix of prefixes) {
        for await (const record of this.#pages((after) => this.#store.list({ prefix, limit: pageSize, ...after }))) {
          // What it says may have been overtaken by one that was in memory and has ended since.
          if (dropped.has(record.address)) continue;
          if (this.#restoreListed(record)) actors += 1;
          else quarantined.add(record.address);
        }
      }
    } finally {
      this.#droppedMeanwhile.delete(dropped);
    }
    return { actors, quarantined: [...quarantined] };
  }

  /**
   * Sends an actor an event. Resolves with its answer once that is committed.
   * @param requestId a repeat under the same id gets the same answer, also after a restart
   * @throws StagecraftError what the machine answers; ACTOR_NOT_FOUND, ACTOR_CRASHED, ACTOR_QUARANTINED,
   *   INVALID_ARGUMENT, STORE_UNAVAILABLE, FENCED, RUNTIME_CLOSED
   */
  async ask(address: string, event: AnyEventObject, { requestId }: { requestId?: string } = {}): Promise<unknown> {
    if (this.#closed) throw this.#closed;
    if (event.type === '*' || event.type.startsWith('xstate.')) {
      const message = `'${event.type}' is XState's own: send an event of the machine`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { address });
    }
    const actor = this.#actor(address);
    return new Promise((resolve, reject) => {
      actor.post({ kind: 'request', event: asData(event), resolve, reject, ...(requestId ? { requestId } : {}) });
    });
  }

  /** What is committed of an actor in memory. */
  peek(address: string): ActorView | undefined {
    const actor = this.#actors.get(address);
    if (!actor?.snapshot) return undefined;
    return { seq: actor.seq, state: actor.snapshot.value, context: actor.snapshot.context };
  }

  /** Whether an actor is in memory, be it on its way from the store or out of service. */
  has(address: string): boolean {
    return this.#actors.has(address);
  }

  /** What is committed of each actor in memory whose address begins with the prefix. */
  *views(prefix: string): Generator<[address: string, view: ActorView]> {
    for (const address of this.#actors.keys()) {
      const view = address.startsWith(prefix) ? this.peek(address) : undefined;
      if (view) yield [address, view];
    }
  }

  /** Calls back after each commit, in order per actor; the answer ends it. */
  observe(observer: (notice: CommitNotice) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** @see Topics.follow */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): AsyncIterable<TopicRow> {
    return this.#topics.follow(topic, from, signal);
  }

  /**
   * What an actor was given since it began, oldest first.
   * @throws StagecraftError JOURNAL_BROKEN where the text of an entry was damaged
   */
  async *journal(address: string, from = 1): AsyncGenerator<JournalEntry, void> {
    for (let next = from; ; ) {
      const rows = await this.#store.readJournal(address, next, pageSize);
      for (const row of rows) {
        yield readable(address, row);
        next = row.seq + 1;
      }
      if (rows.length < pageSize) return;
    }
  }

  /** @see replay */
  async replay(address: string, to?: number): Promise<Replayed> {
    return replay(this.#kindOf(address).machine, this.journal(address), to);
  }

  /** Takes nothing any more, ends effects, waits for what is on its way to the store, gives the lease back. */
  async stop(): Promise<void> {
    this.#close(new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed'));
    await this.#effects.stop(effectGraceMs);
    // A store that hangs holds nobody up: what it was to write is repeated, or taken up, by the next runtime.
    const written = new AbortController();
    void this.#settle().finally(() => written.abort());
    await pause(this.#clock, storeGraceMs, written.signal);
    await this.#store.close();
  }

  /** Resolves when nothing is on its way to the store any more, the lease given back last. */
  async #settle(): Promise<void> {
    await this.#committer.stop();
    await this.#topics.stop();
    await this.#deliveries.stop();
    await this.#leases.release();
  }

  /** Another one may run what was ours: from now on nothing of it is done or written here. */
  #fence(reason: StagecraftError): void {
    if (this.#closed) return;
    this.#logger.error({ code: reason.code, lease: this.#leaseRequest.name }, reason.message);
    this.#close(reason);
    void this.#committer.stop();
    this.#tellLost(reason);
  }

  #startPostponed(): void {
    const starts = [...this.#postponed.values()];
    this.#postponed.clear();
    for (const start of starts) start();
  }

  #close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#stop.abort();
    for (const actor of this.#actors.values()) actor.stop(this.#closed);
  }

  #hosted(address: string): HostedKind | undefined {
    return this.#kinds.get(address.split('/', 1)[0] ?? '');
  }

  #kindOf(address: string): HostedKind {
    const hosted = this.#hosted(address);
    if (hosted) return hosted;
    throw new StagecraftError('ACTOR_NOT_FOUND', `${address}: no machine of that name is hosted here`, { address });
  }

  #actor(address: string): Actor {
    const present = this.#actors.get(address);
    if (present) return present;
    const actor = this.#make(address);
    void this.#load(actor);
    return actor;
  }

  #make(address: string): Actor {
    if (unwritable.test(address) || Buffer.byteLength(address) > longestAddressBytes) {
      const message = `no store can keep this address: at most ${longestAddressBytes} bytes, no control characters`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { address });
    }
    const actor = new Actor({ address, ...this.#kindOf(address), host: this.#host });
    this.#actors.set(address, actor);
    // What arrives after the end stays owed where its sender keeps it.
    if (this.#closed) actor.stop(this.#closed);
    return actor;
  }

  async #load(actor: Actor): Promise<void> {
    // A message that it sends now must not overtake one that it owed before.
    await this.#redelivered;
    while (actor.loading) {
      try {
        const record = await this.#store.load(actor.address);
        if (actor.loading) this.#restoreRecord(actor, record);
      } catch (error) {
        this.#logger.warn({ address: actor.address }, `the store can't load an actor now: ${messageOf(error)}`);
        await pause(this.#clock, loadRetryMs, this.#stop.signal);
      }
    }
  }

  /** All is read before anything is delivered: what that sets off would overtake the rest. */
  async #redeliver(prefixes: string[], quarantined: Set<string>): Promise<void> {
    const rows: OutboxRow[] = [];
    for (const prefix of prefixes) {
      for await (const row of this.#pages((after) => this.#store.unsettled({ prefix, limit: pageSize, ...after }))) {
        rows.push(row);
      }
    }
    for (const row of rows) {
      if (quarantined.has(row.address)) continue; // its receivers would take what it owed before for old
      try {
        this.#deliveries.redeliver(row);
      } catch (error) {
        quarantined.add(row.address);
        this.#quarantine(row.address, `what it owes since seq ${row.seq} can't be read: ${messageOf(error)}`);
      }
    }
  }

  /** Whether its actor runs. */
  #restoreListed(record: StoredRecord): boolean {
    const { address } = record;
    try {
      const actor = this.#actors.get(address) ?? this.#make(address);
      if (actor.loading) this.#restoreRecord(actor, record);
      return !actor.stopped;
    } catch (error) {
      this.#logger.error({ address, code: 'ACTOR_QUARANTINED' }, messageOf(error));
      return false;
    }
  }

  /** Leaves a record that can't be read as it is, says so, and refuses what comes for its actor. */
  #restoreRecord(actor: Actor, record: StoredRecord | undefined): void {
    try {
      actor.restore(record, record && decodeEnvelope(record.text));
    } catch (error) {
      this.#quarantine(actor.address, `its record can't be read: ${messageOf(error)}`);
    }
  }

  #quarantine(address: string, why: string): void {
    this.#logger.error({ address, code: 'ACTOR_QUARANTINED' }, `actor quarantined: ${why}`);
    const actor = this.#actors.get(address) ?? (this.#hosted(address) && this.#make(address));
    actor?.stop(new StagecraftError('ACTOR_QUARANTINED', `${address} is out of service: ${why}`, { address }));
  }

  #append(address: string, message: ActorMessage): Promise<void> {
    return new Promise((applied) => {
      try {
        this.#actor(address).post({ kind: 'message', message, applied });
      } catch (error) {
        // It stays owed: a runtime that hosts the address may come.
        this.#logger.error({ address, from: message.from }, `a message can't be delivered: ${messageOf(error)}`);
      }
    });
  }

  #makeHost(): ActorHost {
    return {
      stamp: () => ({ at: this.#clock.now(), random: this.#random.next() }),
      claim: () => {
        this.#commits += 1;
        const { epoch, owner } = this.#leases.lease;
        return { commitId: `${owner}.${this.#commits}`, epoch, owner };
      },
      commit: (commit, outcome) => this.#committer.submit({ commit, outcome }),
      startEffect: (address, live, recovered) => {
        // A lapsed lease may be somebody else's by now: they take the effect up, or we do once it is ours again.
        if (!this.#leases.held) {
          this.#postponed.set(live, () => this.#host.startEffect(address, live, recovered));
          return;
        }
        const effect = this.#kindOf(address).kind.effects[live.src];
        const mail = { kind: 'effect' as const, id: live.id, seq: live.seq };
        this.#effects.start({
          address,
          live,
          effect,
          recovered,
          deliver: (event, ended) => this.#actors.get(address)?.post({ ...mail, event, ended }),
        });
      },
      cancelEffect: (address, live, reason) => {
        this.#postponed.delete(live);
        this.#effects.cancel(address, live, reason);
      },
      startTimer: (address, timer) => {
        const { id, seq, event } = timer;
        const fire = (): void => {
          this.#timers.delete(timer);
          this.#actors.get(address)?.post({ kind: 'timer', id, seq, event });
        };
        this.#timers.set(timer, this.#clock.after(timer.dueAtMs - this.#clock.now(), fire));
      },
      cancelTimer: (_, timer) => {
        this.#timers.get(timer)?.();
        this.#timers.delete(timer);
      },
      deliver: (address, seq, outbox) => this.#deliveries.deliver(address, seq, outbox),
      notify: (notice) => this.#notify(notice),
      conflicted: (address, result) => this.#conflicted(address, result),
      idle: (address) => {
        this.#actors.delete(address);
        for (const dropped of this.#droppedMeanwhile) dropped.add(address);
      },
    };
  }

  #notify(notice: CommitNotice): void {
    const { address, seq, entry, state } = notice;
    if (entry.kind === 'crash')
      this.#logger.error({ address, seq, code: 'ACTOR_CRASHED' }, `actor crashed: ${entry.error}`);
    else this.#logger.debug({ address, seq, state, event: entry.event?.type }, 'transition');
    for (const observer of this.#observers) {
      try {
        observer(notice);
      } catch (error) {
        this.#logger.error({ address, seq }, `an observer threw: ${messageOf(error)}`);
      }
    }
  }

  #conflicted(address: string, result: CommitResult): void {
    const stored = result.status === 'conflict' ? result.stored : undefined;
    const { name, epoch } = this.#leases.lease;
    if (stored && stored.epoch > epoch) {
      const why = `${name} was taken over (epoch ${stored.epoch}, ours is ${epoch})`;
      this.#fence(new StagecraftError('FENCED', why, { address }));
      return;
    }
    const ours = this.#actors.get(address)?.seq;
    this.#quarantine(address, `the store holds seq ${stored?.seq ?? 'none'} of it, not ours after ${ours}`);
  }

  async *#pages<T>(
    read: (after: { after?: string }) => Promise<{ rows: T[]; next?: string }>,
  ): AsyncGenerator<T, void> {
    let after: { after?: string } = {};
    for (;;) {
      const { rows, next } = await read(after);
      yield* rows;
      if (next === undefined) return;
      after = { after: next };
    }
  }
}

function readable(address: string, { seq, text }: JournalRow): JournalEntry {
  try {
    return decodeEntry(text);
  } catch (cause) {
    const message = `entry ${seq} of ${address} can't be read: ${messageOf(cause)}`;
    throw new StagecraftError('JOURNAL_BROKEN', message, { address, cause });
  }
}
