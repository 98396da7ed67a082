/**
 * Engine of a lease for which several runtimes compete: one leads, the others stand by. A standby takes over once the
 * lease is released or has lapsed. Each term has an engine of its own; callers use this object for all terms. Why:
 * docs/decisions/0010-one-engine-per-lease.md
 */
import type { AnyEventObject } from 'xstate';
import { onAbort } from '../../abort.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { CommitNotice } from '../actor/actor-ports.js';
import type { ActorInspection, ActorPage, ActorSystem, ActorView, AskOptions } from '../actor-system.js';
import { type Clock, pause } from '../clock.js';
import type { ActorMessage, Inbox } from '../delivery/inbox.js';
import type { ActorKind } from '../effects/effects.js';
import type { Engine } from '../engine.js';
import type { Logger } from '../logger.js';
import type { Random } from '../random.js';
import type { StoredViews } from '../storage/stored-views.js';
import type { TroubleLog } from '../storage/trouble-log.js';
import type { Cursor, Range } from '../store.js';
import type { FollowedRow } from '../topics/event-ids.js';
import type { TopicReader } from '../topics/topic-reader.js';
import type { Topics } from '../topics/topics.js';

interface ElectedEngineOptions {
  /**
   * Makes the engine of the next term, not opened. Its `open` throws NOT_LEADER, naming the leader, while another
   * runtime leads.
   */
  engine(): Engine;
  /** Prefixes of the actors that are restored when a term begins; default: all kinds. */
  prefixes?: string[];
  /** Reads actors while another runtime leads. */
  stored: StoredViews;
  /** Topics that outlive all terms. */
  topics: Topics;
  clock: Clock;
  random: Pick<Random, 'next'>;
  logger: Logger;
  troubles: TroubleLog;
  /** Why this runtime never asks for the lease. Default: it asks. */
  never?: StagecraftError | undefined;
  /** Prepares a term: the lease is granted, and no work has begun. Must not reject. Default: nothing is to be prepared. */
  prepare?(): Promise<void>;
  /** Average pause between requests for the lease while another runtime leads, in milliseconds; default 250. */
  retryMs?(): number;
  /** Called when a term begins, before any work in it. `tookOver`: this runtime stood by before. `ended`: until its end. */
  elected(term: { epoch: number; tookOver: boolean; ended: AbortSignal }): void;
  /** Called when a term ends other than by `stop`. Another runtime continues the term's work. */
  resigned(reason: StagecraftError): void;
}

/** Message that is not known to be applied. */
interface Owed {
  address: string;
  message: ActorMessage;
  applied(): void;
}

/**
 * Average pause between a standby's requests for the lease. Randomized, as a standby in step with another would always
 * lose.
 */
const defaultRetryMs = 250;
/** Pause after `yield`: longer than another runtime needs to ask. */
const yieldMs = 3_000;

export class ElectedEngine implements ActorSystem, Inbox {
  readonly #options: ElectedEngineOptions;
  readonly #observers = new Set<(notice: CommitNotice) => void>();
  /** Undelivered messages, in the order of their arrival. */
  readonly #owed = new Set<Owed>();
  readonly #stop = new AbortController();
  /** Engine of this term, or of the next one. */
  #engine: Engine;
  /** Why the engine refuses requests; absent while it leads. */
  #refusal: StagecraftError | undefined = new StagecraftError('NOT_LEADER', 'no agent is known to lead yet: ask again');
  #hasStoodBy = false;
  /** Highest epoch of the lease that the store has named in the terms before. */
  #seenEpoch = 0;
  /** Reason of a `yield` until the term has ended; absent otherwise. */
  #yielded: StagecraftError | undefined;
  #endTerm: (reason: StagecraftError) => void = () => {};
  /** Ends the pause before the next request for the lease. */
  #hurry = new AbortController();
  #campaign: Promise<void> = Promise.resolve();
  #kinds: readonly ActorKind[] = [];

  constructor(options: ElectedEngineOptions) {
    this.#options = options;
    this.#engine = options.engine();
  }

  /** Hosts actors of these kinds in every term. Call once, before `start`. @see Engine.host */
  host(kinds: readonly ActorKind[]): this {
    this.#kinds = kinds;
    this.#engine.host(kinds);
    return this;
  }

  /** Why this runtime refuses requests, naming the leader; absent while it leads. */
  get refusal(): StagecraftError | undefined {
    return this.#refusal;
  }

  /**
   * As `refusal`; also why what this runtime remembers may be old: its lease has lapsed, as after SIGSTOP, and it has not got
   * it again. Undefined: no other runtime leads.
   */
  get uncertainty(): StagecraftError | undefined {
    return this.#refusal ?? (this.#engine.holdsLease ? undefined : lapsed);
  }

  /** Whether this runtime can't lead, as it is of an older version than what is stored. */
  get isTooOld(): boolean {
    const { cause } = this.#refusal ?? {};
    return cause instanceof StagecraftError && cause.code === 'STORE_TOO_NEW';
  }

  /** Engine of this term, or of the next one; for inspection only. */
  get engine(): Engine {
    return this.#engine;
  }

  /** Resolves once this runtime leads and has restored its actors, or knows that another one leads. */
  async start(): Promise<void> {
    const { never } = this.#options;
    if (never) this.#refusal = never;
    else await this.#elections();
  }

  #elections(): Promise<void> {
    return new Promise((decided) => {
      this.#campaign = this.#run(decided);
    });
  }

  /** Releases the lease for another runtime that was refused it, and stands by for a while. */
  yield(reason: StagecraftError): void {
    this.#yielded = reason;
    this.#endTerm(reason);
  }

  /** Asks for the lease at once: it was released. */
  hurry(): void {
    if (this.#refusal && !this.#yielded) this.#hurry.abort();
  }

  /** Ends the term, releases the lease, and competes no more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#hurry.abort();
    this.#options.troubles.abandon(this);
    // Waits for an election under way: a lease granted at this moment must be released too.
    if (this.#refusal) await this.#campaign;
    await Promise.all([this.#engine.stop(), this.#campaign]);
  }

  async ask(address: string, event: AnyEventObject, options?: AskOptions): Promise<unknown> {
    const engine = this.leader();
    try {
      return await engine.ask(address, event, options);
    } catch (error) {
      throw this.#isFenced(error) ? outcomeUnknown(address, error) : error;
    }
  }

  /** Reads from memory only while that can't be old, and else from the store. */
  read(address: string, signal?: AbortSignal): Promise<ActorView | undefined> {
    const { stored } = this.#options;
    return this.#ownOr(
      (engine) => engine.read(address, signal),
      () => stored.read(address, signal),
    );
  }

  readNow(address: string): { view: ActorView | undefined } | undefined {
    return this.uncertainty ? undefined : this.#engine.readNow(address);
  }

  /** @see read */
  page(range: Range): Promise<ActorPage> {
    const { stored } = this.#options;
    return this.#ownOr(
      (engine) => engine.page(range),
      () => stored.page(range),
    );
  }

  /** As `read`, also of an actor out of service. The store tells no effects and timers. @see Engine.inspect */
  inspect(address: string): Promise<ActorInspection | undefined> {
    return this.#ownOr(
      (engine) => engine.inspect(address),
      async (): Promise<ActorInspection | undefined> => {
        const view = await this.#options.stored.read(address);
        const version = this.#engine.versionOf(address) ?? '';
        return view && { ...view, version, effects: [], timers: [], unread: 0 };
      },
    );
  }

  /**
   * Asks the engine even if its answer may be old, as a wait needs the actor in memory. The lease may lapse during the read:
   * only then is the answer dropped.
   */
  async #ownOr<T>(own: (engine: Engine) => Promise<T>, stored: () => Promise<T>): Promise<T> {
    if (this.#refusal) return stored();
    const engine = this.#engine;
    try {
      const answer = await own(engine);
      if (engine === this.#engine && !this.uncertainty) return answer;
    } catch (error) {
      if (!this.#isOld(error)) throw error;
    }
    return stored();
  }

  /** @throws {StagecraftError} NOT_LEADER: no actor is in memory */
  peek(address: string): ActorView | undefined {
    return this.leader().peek(address);
  }

  /** @throws {StagecraftError} NOT_LEADER: no actor is in memory */
  views(prefix: string): Generator<[address: string, view: ActorView]> {
    return this.leader().views(prefix);
  }

  has(address: string): boolean {
    return !this.#refusal && this.#engine.has(address);
  }

  /** Observes the commits of all terms. */
  observe(observer: (notice: CommitNotice) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Follows a topic through all terms, whoever leads. */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow> {
    return this.#options.topics.follow(topic, from, signal);
  }

  /** Keeps the message while another runtime leads, and delivers it when this one does. */
  append(address: string, message: ActorMessage): Promise<void> {
    return new Promise((applied) => {
      const owed = { address, message, applied };
      this.#owed.add(owed);
      if (!this.#refusal) this.#deliver(owed);
    });
  }

  /** Trouble with the store, as seen by the engine or by the stored views. Undefined: none. */
  storeTrouble(forMs?: number): Error | undefined {
    return this.#engine.storeTrouble(forMs) ?? this.#options.stored.trouble(forMs);
  }

  /** Returns the engine of this term. @throws {StagecraftError} NOT_LEADER, naming the leader */
  leader(): Engine {
    if (this.#refusal) throw this.#refusal;
    return this.#engine;
  }

  async #run(decided: () => void): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const term = new AbortController();
      if (await this.#elect(term.signal)) {
        decided();
        await this.#endOfTerm();
      }
      term.abort();
      decided();
      if (signal.aborted) return;
      const { random, retryMs = () => defaultRetryMs } = this.#options;
      const pauseMs = this.#yielded ? yieldMs : retryMs() * (0.75 + random.next() / 2);
      await pause(clock, pauseMs, this.#hurry.signal);
      this.#yielded = undefined;
      if (!signal.aborted) this.#hurry = new AbortController();
    }
  }

  /** @returns whether a term has begun and its actors are restored */
  async #elect(ended: AbortSignal): Promise<boolean> {
    const engine = this.#engine;
    const { troubles, elected, prefixes = engine.prefixes } = this.#options;
    try {
      await engine.open(this.#seenEpoch);
    } catch (error) {
      this.#standBy(error);
      return false;
    }
    if (this.#stop.signal.aborted) return false;
    await this.#options.prepare?.();
    if (this.#stop.signal.aborted) return false;
    if (this.#yielded) {
      await this.#renounce(this.#yielded);
      return false;
    }
    engine.observe((notice) => {
      for (const observer of this.#observers) observer(notice);
    });
    elected({ epoch: engine.epoch, tookOver: this.#hasStoodBy, ended });
    // Later requests wait until redelivery is done.
    const restored = engine.restore(prefixes);
    this.#refusal = undefined;
    for (const owed of this.#owed) this.#deliver(owed);
    try {
      await restored;
      troubles.over(this);
      return true;
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const message = `this agent cannot lead now: ${messageOf(error)}`;
      troubles.failed(this, { subject: 'leading', message: `${message}; it tries again`, cause: error });
      await this.#resign(new StagecraftError('NOT_LEADER', message));
      return false;
    }
  }

  async #endOfTerm(): Promise<void> {
    const reason = await new Promise<StagecraftError | undefined>((resolve) => {
      const unsubscribe = onAbort(this.#stop.signal, () => resolve(undefined));
      const end = (lost: StagecraftError): void => {
        unsubscribe();
        resolve(lost);
      };
      this.#endTerm = end;
      void this.#engine.lost.then(end);
      // A yield may have come while the actors were restored.
      if (this.#yielded) end(this.#yielded);
    });
    this.#endTerm = () => {};
    if (!reason) return;
    const message = `${reason.message}: the new leader continues the requests made here; ask again which agent leads`;
    const why = reason === this.#yielded ? reason : new StagecraftError('NOT_LEADER', message, { cause: reason });
    this.#options.logger.warn({ code: why.code }, `this agent no longer leads: ${why.message}`);
    await this.#resign(why);
  }

  async #resign(reason: StagecraftError): Promise<void> {
    this.#refusal = reason;
    this.#options.resigned(reason);
    await this.#renounce(reason);
  }

  /** Releases the lease, and makes the engine of the next term. */
  async #renounce(reason: StagecraftError): Promise<void> {
    const engine = this.#engine;
    this.#refusal = reason;
    this.#hasStoodBy = true;
    this.#seenEpoch = engine.seenEpoch;
    // Late writes and calls of this engine do no harm: the store and the next leader expect them.
    await engine.stop().catch((error: unknown) => {
      this.#options.logger.warn({}, `a term did not end in order: ${messageOf(error)}`);
    });
    this.#engine = this.#options.engine().host(this.#kinds);
  }

  #standBy(error: unknown): void {
    const refusal = asRefusal(error);
    if (this.#refusal?.message !== refusal.message) this.#options.logger.info({ code: refusal.code }, refusal.message);
    if (refusal.code === 'NOT_LEADER') this.#options.troubles.abandon(this);
    this.#refusal = refusal;
    this.#hasStoodBy = true;
  }

  #deliver(owed: Owed): void {
    void this.#engine.append(owed.address, owed.message).then(() => {
      this.#owed.delete(owed);
      owed.applied();
    });
  }

  /** Tells whether another runtime took the lease before this one has noticed. */
  #isFenced(error: unknown): boolean {
    return error instanceof StagecraftError && error.code === 'FENCED' && !this.#stop.signal.aborted;
  }

  /** Tells whether an error tells of a state that another runtime may have changed. */
  #isOld(error: unknown): boolean {
    if (this.#isFenced(error)) return true;
    return error instanceof StagecraftError && error.code === 'ACTOR_QUARANTINED' && this.uncertainty !== undefined;
  }
}

const lapsed = new StagecraftError('NOT_LEADER', 'the lease of this agent has lapsed: it asks for it again');

/** Whatever the reason: this runtime does not lead, and others may be asked. */
const asRefusal = (error: unknown): StagecraftError =>
  error instanceof StagecraftError && error.code !== 'STORE_TOO_NEW'
    ? error
    : new StagecraftError('NOT_LEADER', messageOf(error), { cause: error });

const outcomeUnknown = (address: string, cause: unknown): StagecraftError =>
  new StagecraftError(
    'NOT_LEADER',
    `another agent leads now, and the outcome of this request is unknown: look at ${address}, or repeat the request there`,
    { address, outcome: 'unknown', cause },
  );
