/**
 * Hosts actors: the rest of the house asks them, watches them and reads their past here. Knows stores, effects and
 * time through their ports, and nothing of CSI. The contract: docs/architecture.md#save-then-act
 */
import type { AnyEventObject } from 'xstate';
import type { RestoreReport } from '../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { CommitNotice } from './actor/actor-ports.js';
import type { QuarantinedActor } from './actor/actors.js';
import type { Reader } from './actor/from-record.js';
import type { Request } from './actor/message.js';
import type { ActorInspection, ActorPage, ActorRow, ActorSystem, ActorView, AskOptions } from './actor-system.js';
import { inNobodysName, whoAsks } from './asked-by.js';
import { pause } from './clock.js';
import type { ActorMessage, Inbox } from './delivery/inbox.js';
import type { ActorKind } from './effects/effects.js';
import { type EngineOptions, type EngineParts, engineParts } from './engine-parts.js';
import type { Journals } from './journals.js';
import { asData, deepestEvent, isDeeper } from './machine/data.js';
import { pageOfViews } from './storage/pages.js';
import { answered } from './storage/store-patience.js';
import type { Cursor, Range } from './store.js';
import type { FollowedRow } from './topics/event-ids.js';
import type { TopicReader } from './topics/topic-reader.js';
import type { Topics } from './topics/topics.js';

const effectGraceMs = 5_000;
const storeGraceMs = 10_000;

export class Engine implements ActorSystem, Inbox {
  readonly topics: Topics;
  readonly journals: Journals;
  readonly #parts: EngineParts;
  #elsewhere: Inbox | undefined;
  #neighbour: Pick<Engine, 'storeTrouble'> | undefined;
  readonly #stop = new AbortController();
  /** Checks under way of what the store still has. */
  #checks = 0;
  #tellLost: (reason: StagecraftError) => void = () => {};
  /** Resolves if another runtime has taken over; nothing is done here from then on. */
  readonly lost: Promise<StagecraftError>;
  /** Reason why nothing is accepted any more. */
  #closed: StagecraftError | undefined;

  constructor(options: EngineOptions) {
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    this.#elsewhere = options.elsewhere;
    this.#parts = engineParts(options, {
      inbox: this,
      stopped: this.#stop.signal,
      isChecking: () => this.#checks > 0,
      fence: (reason) => this.#fence(reason),
      suspect: (reason) => this.#suspect(reason),
    });
    const { topics, journals } = this.#parts;
    this.topics = topics;
    this.journals = journals;
  }

  /**
   * Hosts actors of these kinds. Call it before `restore`.
   * @throws Error for a kind that is hosted already, or whose effects undo one that it does not have
   */
  host(kinds: readonly ActorKind[]): this {
    for (const kind of kinds) this.#parts.actors.host(kind);
    return this;
  }

  /** Address prefixes of all hosted actors, in the order of their kinds. */
  get prefixes(): string[] {
    return this.#parts.actors.prefixes;
  }

  /** Reads records at this address; undefined if no such kind is hosted. */
  readerOf(address: string): Reader | undefined {
    return this.#parts.actors.readerOf(address);
  }

  /** Version of the machine at this address; undefined if none is hosted. */
  versionOf(address: string): string | undefined {
    return this.#parts.actors.versionOf(address);
  }

  /**
   * Opens the store and takes the lease. May be repeated if that fails.
   * @param seenEpoch highest epoch of the lease that is known from before
   * @throws StagecraftError NODE_IN_USE, naming the holder, or the error of `inUse`; STORE_UNAVAILABLE; NOT_LEADER: the store
   *   has lost data, and the holder from before may write it again; STORE_TOO_NEW
   */
  async open(seenEpoch?: number): Promise<void> {
    await answered(
      this.#parts.store.open({
        warn: (message) => this.#parts.logger.warn({ code: 'STORE_UNSAFE' }, message),
        suspect: (reason) => {
          this.#parts.leases.confirm();
          void this.#check(reason);
        },
      }),
      "the store can't be opened",
    );
    try {
      await answered(
        this.#parts.leases.acquire(this.#parts.leaseRequest, this.#parts.inUse, seenEpoch),
        'the store grants no lease',
      );
    } catch (error) {
      await this.#parts.store.close();
      throw error;
    }
  }

  /**
   * Restores the actors under these address prefixes: delivers owed messages, resumes timers and effects. Actors of
   * kinds on demand are loaded only if they have something to do. A record that can't be read is left as it is and
   * named in the report. Call it before anything is asked of the actors.
   */
  async restore(prefixes: string[]): Promise<RestoreReport> {
    if (this.#closed) throw this.#closed;
    const unreadable = await this.#parts.redelivery.deliverUnder(prefixes);
    return this.#parts.actors.restore(prefixes, unreadable);
  }

  ask(address: string, event: AnyEventObject, options: AskOptions = {}): Promise<unknown> {
    const by = whoAsks();
    return inNobodysName(() => this.#ask(address, event, { ...options, by }));
  }

  #ask(
    address: string,
    event: AnyEventObject,
    { requestId, signal, by }: AskOptions & { by: string | undefined },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      if (event.type === '*' || event.type.startsWith('xstate.')) {
        const message = `'${event.type}' is XState's own: send an event of the machine`;
        throw new StagecraftError('INVALID_ARGUMENT', message, { address });
      }
      if (isDeeper(event, deepestEvent)) {
        const message = `'${event.type}' is nested more than ${deepestEvent} levels deep: send flatter data`;
        throw new StagecraftError('INVALID_ARGUMENT', message, { address });
      }
      this.#parts.patience.refuseInVain({ address, signal });
      const actor = this.#parts.actors.demand(address);
      const request: Request = {
        kind: 'request',
        event: asData(event),
        resolve: (answer) => {
          stop();
          resolve(answer);
        },
        reject: (error) => {
          stop();
          reject(error);
        },
      };
      if (requestId) request.requestId = requestId;
      if (by !== undefined) request.by = by;
      // Another actor object may have replaced this one by then, and have its messages.
      const stop = this.#parts.patience.wait({ address, signal }, (failed) =>
        (this.#parts.actors.get(address) ?? actor).drop(request, failed),
      );
      actor.post(request);
    });
  }

  peek(address: string): ActorView | undefined {
    const actor = this.#parts.actors.get(address);
    if (!actor?.snapshot) return undefined;
    const { seq, snapshot, at } = actor;
    const view: ActorView = { seq, state: snapshot.value, context: snapshot.context };
    if (at !== undefined) view.at = at;
    return view;
  }

  async read(address: string, signal?: AbortSignal): Promise<ActorView | undefined> {
    if (this.#closed) throw this.#closed;
    const actor = this.#parts.actors.demand(address);
    if (!actor.isReady) await this.#parts.patience.answered({ address, signal }, () => actor.ready());
    if (this.#closed) throw this.#closed;
    if (actor.quarantine) throw new StagecraftError('ACTOR_QUARANTINED', actor.quarantine, { address });
    return this.peek(address);
  }

  readNow(address: string): { view: ActorView | undefined } | undefined {
    const actor = this.#closed ? undefined : this.#parts.actors.get(address);
    return actor?.isReady && !actor.stopped ? { view: this.peek(address) } : undefined;
  }

  /**
   * An actor as it is now, in service or not; undefined if no actor has the address. Loads it if it is not in memory.
   * @throws {StagecraftError} as `read`, but for ACTOR_QUARANTINED
   */
  async inspect(address: string): Promise<ActorInspection | undefined> {
    await this.read(address).catch((error: unknown) => {
      if (!(error instanceof StagecraftError && error.code === 'ACTOR_QUARANTINED')) throw error;
    });
    const actor = this.#parts.actors.get(address);
    const view = this.peek(address);
    if (!actor || !view) return undefined;
    const { quarantine: quarantined, unread, work, machine } = actor;
    return {
      ...{ ...view, ...work, version: machine.version, unread: unread.length },
      ...(quarantined !== undefined && { quarantined }),
    };
  }

  async page(range: Range): Promise<ActorPage> {
    if (this.#closed) throw this.#closed;
    const { rows, next } = await this.#parts.reads.list(range).catch((cause: unknown) => {
      const message = `the store can't list ${range.prefix} now (${messageOf(cause)}): ask again later`;
      throw new StagecraftError('STORE_UNAVAILABLE', message, { outcome: 'refused', cause });
    });
    const page = pageOfViews(rows, (record) => this.peek(record.address) ?? this.#parts.actors.viewOf(record));
    for (const { address, reason } of page.skipped ?? []) this.#parts.actors.quarantine(address, reason);
    return { ...page, ...(next !== undefined && { next }) };
  }

  /** Messages that the actor still has to apply, oldest first. */
  unread(address: string): ActorMessage[] {
    return this.#parts.actors.get(address)?.unread ?? [];
  }

  has(address: string): boolean {
    const actor = this.#parts.actors.get(address);
    return actor !== undefined && (actor.snapshot !== undefined || !actor.isIdle);
  }

  /** Resolves once each actor in memory under the prefix takes messages, or is out of service: `views` lists it then. */
  async inService(prefix: string): Promise<void> {
    const actors = [...this.#parts.actors].filter(({ address }) => address.startsWith(prefix));
    await Promise.all(actors.map((actor) => actor.ready()));
  }

  *views(prefix: string): Generator<ActorRow> {
    for (const { address } of this.#parts.actors) {
      const view = address.startsWith(prefix) ? this.peek(address) : undefined;
      if (view) yield [address, view];
    }
  }

  /** Messages in all mailboxes, and effects that committed states ask for. */
  load(): { queued: number; effects: number } {
    let queued = 0;
    let effects = 0;
    for (const actor of this.#parts.actors) {
      queued += actor.queued;
      effects += actor.work.effects.length;
    }
    return { queued, effects };
  }

  /**
   * Epoch of the lease.
   * @throws Error if none was acquired
   */
  get epoch(): number {
    return this.#parts.leases.lease.epoch;
  }

  /** Highest epoch of the lease that the store has named, of this runtime or of another; 0: none. */
  get seenEpoch(): number {
    return this.#parts.leases.seen;
  }

  /** Tells whether the lease is held at this moment; if not, another runtime may have it, and memory may be old. */
  get holdsLease(): boolean {
    return this.#parts.leases.held;
  }

  /**
   * Connects it with the other engine of its process, on the same store: messages to actors that its own lease does not cover
   * go there, and trouble with the store that the other one has noticed is its own.
   */
  connect(other: Inbox & Pick<Engine, 'storeTrouble'>): void {
    this.#elsewhere = other;
    this.#neighbour = other;
  }

  storeTrouble(forMs?: number): Error | undefined {
    return this.#parts.store.trouble(forMs) ?? this.#neighbour?.storeTrouble(forMs);
  }

  /** Since when the store takes no writes, though it may answer, in milliseconds since the epoch; absent while it takes them. */
  get refusedSince(): number | undefined {
    return this.#parts.writes.refusedSince;
  }

  /** Beginning of the store's silence, milliseconds since the epoch; absent while it answers. */
  get silentSince(): number | undefined {
    return this.#parts.store.silentSince;
  }

  /** Actors out of service until they are released: they crashed too often, or their record can't be read. */
  quarantined(): QuarantinedActor[] {
    return this.#parts.actors.quarantined();
  }

  /**
   * Takes an actor back into service: owed messages are delivered, its effects and timers run. Does nothing if it is
   * in service.
   * @throws StagecraftError ACTOR_QUARANTINED if its record still can't be read; ACTOR_NOT_FOUND for an address that
   *   is not of this runtime, STORE_UNAVAILABLE, RUNTIME_CLOSED
   */
  async release(address: string): Promise<void> {
    if (this.#closed) throw this.#closed;
    await this.#parts.patience.answered({ address, outcome: 'unknown' }, () => this.#release(address));
  }

  async #release(address: string): Promise<void> {
    const reason = `what ${address} owes still can't be read`;
    if (!(await answered(this.#parts.redelivery.deliverOf(address), "the store can't say what it owes")))
      throw new StagecraftError('ACTOR_QUARANTINED', reason, { address });
    await this.#parts.actors.release(address);
  }

  observe(observer: (notice: CommitNotice) => void): () => void {
    this.#parts.observers.add(observer);
    return () => this.#parts.observers.delete(observer);
  }

  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow> {
    return this.topics.follow(topic, from, signal);
  }

  /** Accepts nothing more, ends effects, waits for commits under way, gives the lease back. */
  async stop(): Promise<void> {
    this.#close(new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed'));
    await this.#parts.effects.stop(effectGraceMs);
    // A store that hangs does not delay the stop: the next runtime repeats the commit, or finds it.
    const written = new AbortController();
    void this.#settle().finally(() => written.abort());
    await pause(this.#parts.clock, storeGraceMs, written.signal);
    this.#parts.leases.giveUp();
    this.#parts.troubles.abandon(this.#parts.leases);
    this.#parts.timers.stop();
    const closed = new AbortController();
    const closing = this.#parts.store.close().finally(() => closed.abort());
    // A later failure concerns nobody.
    closing.catch(() => {});
    await pause(this.#parts.clock, storeGraceMs, closed.signal);
    if (closed.signal.aborted) await closing;
  }

  /** Resolves when no write is under way any more; gives the lease back last. */
  async #settle(): Promise<void> {
    await this.#parts.committer.stop();
    await (this.#parts.hasOwnTopics ? this.topics.stop() : this.topics.flush());
    await this.#parts.deliveries.stop();
    await this.#parts.leases.release();
  }

  /**
   * Stops at once, as another runtime may run these actors: nothing is begun, and the store refuses commits under
   * way.
   */
  #fence(reason: StagecraftError): void {
    if (this.#closed) return;
    this.#parts.logger.error({ code: reason.code, lease: this.#parts.leaseRequest.name }, reason.message);
    this.#close(reason);
    this.#parts.leases.giveUp();
    this.#parts.troubles.abandon(this.#parts.leases);
    void this.#parts.committer.stop();
    this.#tellLost(reason);
  }

  #close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#stop.abort();
    this.#parts.actors.close(this.#closed);
  }

  /** Starts a check, unless one is under way: something shows that the store has lost writes. */
  #suspect(reason: string): void {
    if (this.#checks === 0 && !this.#closed) void this.#check(reason);
  }

  /** Compares each actor in memory with the store, which may have lost writes. No effect starts before the end. */
  async #check(reason: string): Promise<void> {
    const hasAny = !this.#parts.actors[Symbol.iterator]().next().done;
    const message = `the store may have lost writes (${reason}): each actor is compared`;
    if (hasAny) this.#parts.logger.warn({ code: 'STORE_SUSPECT' }, message);
    this.#checks += 1;
    this.topics.verify();
    await this.#parts.actors.verify();
    this.#checks -= 1;
    this.#parts.gate.reopen();
  }

  /** @see Inbox */
  append(address: string, message: ActorMessage): Promise<void> {
    if (this.#elsewhere && !this.#parts.covers(address)) return this.#elsewhere.append(address, message);
    return new Promise((applied) => {
      try {
        this.#parts.actors.demand(address).post({ kind: 'message', sent: message, applied });
      } catch (error) {
        // The message stays owed: a runtime that hosts the address may come.
        this.#parts.logger.error({ address, from: message.from }, `a message can't be delivered: ${messageOf(error)}`);
      }
    });
  }
}
