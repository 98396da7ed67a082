/**
 * An engine whose lease others may hold: of all runtimes on one store one leads, the others stand by, and one of these
 * takes over when the lease is given back or has lapsed. Each term has an engine of its own; who asks and watches has
 * this one door for all of them. Why so: docs/decisions/0010-one-engine-per-lease.md
 */
import type { AnyEventObject } from 'xstate';
import { onAbort } from '../../abort.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { CommitNotice } from '../actor/actor-ports.js';
import type { ActorSystem, ActorView, AskOptions } from '../actor-system.js';
import { type Clock, pause } from '../clock.js';
import type { ActorMessage, Inbox } from '../delivery/inbox.js';
import type { ActorKind } from '../effects/effects.js';
import type { Engine } from '../engine.js';
import type { Logger } from '../logger.js';
import type { Random } from '../random.js';
import type { StoredViews } from '../storage/stored-views.js';
import type { TroubleLog } from '../storage/trouble-log.js';
import type { Cursor, Range, StorePage } from '../store.js';
import type { FollowedRow } from '../topics/event-ids.js';
import type { TopicReader } from '../topics/topic-reader.js';
import type { Topics } from '../topics/topics.js';

export interface ElectedEngineOptions {
  /** For the next term, not opened. Its `open` throws NOT_LEADER, naming the leader, while somebody else leads. */
  engine(): Engine;
  /** Address prefixes of the actors that are restored when a term begins; default: those of all kinds. */
  prefixes?: string[];
  /** For whoever reads while somebody else leads. */
  stored: StoredViews;
  /** Of an engine that outlives all terms. */
  topics: Topics;
  clock: Clock;
  random: Pick<Random, 'next'>;
  logger: Logger;
  troubles: TroubleLog;
  /** A term has begun, before anything is done in it. `tookOver`: others, or nobody, led while this one was up. */
  elected(term: { epoch: number; tookOver: boolean }): void;
  /** A term is over, and not because of `stop`: what is awaited of it comes from somebody else. */
  resigned(reason: StagecraftError): void;
}

/** A message that is not known to be applied. */
interface Owed {
  address: string;
  message: ActorMessage;
  applied(): void;
}

/** How often the one that stands by asks for the lease, on average; one in step with another would ask in vain each time. */
const retryMs = 250;
/** After it has let another one lead: longer than that takes to ask. */
const yieldMs = 3_000;

export class ElectedEngine implements ActorSystem, Inbox {
  readonly #options: ElectedEngineOptions;
  readonly #observers = new Set<(notice: CommitNotice) => void>();
  /** In the order in which they came. */
  readonly #owed = new Set<Owed>();
  readonly #stop = new AbortController();
  /** Of this term, or of the next one. */
  #engine: Engine;
  /** Why nothing is asked of the engine; absent while it leads. */
  #refusal: StagecraftError | undefined = new StagecraftError('NOT_LEADER', 'it is not known yet who leads: ask again');
  #hasStoodBy = false;
  /** Why it lets another one lead; absent: it does not. */
  #yielded: StagecraftError | undefined;
  #endTerm: (reason: StagecraftError) => void = () => {};
  #campaign: Promise<void> = Promise.resolve();
  #kinds: readonly ActorKind[] = [];

  constructor(options: ElectedEngineOptions) {
    this.#options = options;
    this.#engine = options.engine();
  }

  /** Hosts actors of these kinds in every term. Call it once, before `start`. @see Engine.host */
  host(kinds: readonly ActorKind[]): this {
    this.#kinds = kinds;
    this.#engine.host(kinds);
    return this;
  }

  /** Why nothing is asked here, naming who leads; absent while this one does. */
  get refusal(): StagecraftError | undefined {
    return this.#refusal;
  }

  /** Of this term, or of the next one: to look with. */
  get engine(): Engine {
    return this.#engine;
  }

  /** Resolves when it leads and has brought back what there is, or knows that it doesn't lead now. */
  start(): Promise<void> {
    return new Promise((decided) => {
      this.#campaign = this.#run(decided);
    });
  }

  /** Gives the lease back, so that another one leads that was refused it; stands by for a while before it asks again. */
  yield(reason: StagecraftError): void {
    this.#yielded = reason;
    this.#endTerm(reason);
  }

  /** Ends the term, gives the lease back, and stands for no other. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#options.troubles.abandon(this);
    // A lease that is granted this very moment is to be given back too.
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

  async read(address: string, signal?: AbortSignal): Promise<ActorView | undefined> {
    if (this.#refusal) return this.#options.stored.read(address, signal);
    try {
      return await this.#engine.read(address, signal);
    } catch (error) {
      if (this.#isFenced(error)) return this.#options.stored.read(address, signal);
      throw error;
    }
  }

  async page(range: Range): Promise<StorePage<[address: string, view: ActorView]>> {
    if (this.#refusal) return this.#options.stored.page(range);
    return this.#engine.page(range).catch((error: unknown) => {
      if (this.#isFenced(error)) return this.#options.stored.page(range);
      throw error;
    });
  }

  /** @throws StagecraftError NOT_LEADER: nothing is in memory */
  peek(address: string): ActorView | undefined {
    return this.leader().peek(address);
  }

  /** @throws StagecraftError NOT_LEADER: nothing is in memory */
  views(prefix: string): Generator<[address: string, view: ActorView]> {
    return this.leader().views(prefix);
  }

  has(address: string): boolean {
    return !this.#refusal && this.#engine.has(address);
  }

  /** Of all terms. */
  observe(observer: (notice: CommitNotice) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** Goes on whoever leads. */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow> {
    return this.#options.topics.follow(topic, from, signal);
  }

  /** Where somebody else leads it stays owed, and is delivered when this one does. */
  append(address: string, message: ActorMessage): Promise<void> {
    return new Promise((applied) => {
      const owed = { address, message, applied };
      this.#owed.add(owed);
      if (!this.#refusal) this.#deliver(owed);
    });
  }

  /** Trouble with the store, as seen by the engine, or else by the stored views. Absent: none. */
  storeTrouble(forMs?: number): Error | undefined {
    return this.#engine.storeTrouble(forMs) ?? this.#options.stored.trouble(forMs);
  }

  /** The engine of this term. @throws StagecraftError NOT_LEADER, naming who leads */
  leader(): Engine {
    if (this.#refusal) throw this.#refusal;
    return this.#engine;
  }

  async #run(decided: () => void): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (await this.#elect()) {
        decided();
        await this.#endOfTerm();
      }
      decided();
      const pauseMs = this.#yielded ? yieldMs : retryMs * (0.75 + this.#options.random.next() / 2);
      this.#yielded = undefined;
      if (!signal.aborted) await pause(clock, pauseMs, signal);
    }
  }

  /** Whether a term has begun, and what there is was brought back. */
  async #elect(): Promise<boolean> {
    const engine = this.#engine;
    const { troubles, elected, prefixes = engine.prefixes } = this.#options;
    try {
      await engine.open();
    } catch (error) {
      this.#standBy(error);
      return false;
    }
    if (this.#stop.signal.aborted) return false;
    if (this.#yielded) {
      await this.#renounce(this.#yielded);
      return false;
    }
    engine.observe((notice) => {
      for (const observer of this.#observers) observer(notice);
    });
    elected({ epoch: engine.epoch, tookOver: this.#hasStoodBy });
    // What is asked from here on waits until what was owed before is delivered.
    const restored = engine.restore(prefixes);
    this.#refusal = undefined;
    for (const owed of this.#owed) this.#deliver(owed);
    try {
      await restored;
      troubles.over(this);
      return true;
    } catch (error) {
      if (this.#stop.signal.aborted) return false;
      const message = `this agent can't lead now: ${messageOf(error)}`;
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
      // Asked for while what there is was brought back.
      if (this.#yielded) end(this.#yielded);
    });
    this.#endTerm = () => {};
    if (!reason) return;
    const message = `${reason.message}: it leads now, and goes on with what was asked for here; ask again who it is`;
    const why = reason === this.#yielded ? reason : new StagecraftError('NOT_LEADER', message, { cause: reason });
    this.#options.logger.warn({ code: why.code }, `this agent leads no more: ${why.message}`);
    await this.#resign(why);
  }

  async #resign(reason: StagecraftError): Promise<void> {
    this.#refusal = reason;
    this.#options.resigned(reason);
    await this.#renounce(reason);
  }

  /** Gives the lease back; the next term has an engine of its own. */
  async #renounce(reason: StagecraftError): Promise<void> {
    const engine = this.#engine;
    this.#refusal = reason;
    this.#hasStoodBy = true;
    // Whatever it still writes, or its calls still do, the store and the next leader are prepared for.
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

  /** Somebody else has the lease since, which is not told yet. */
  #isFenced(error: unknown): boolean {
    return error instanceof StagecraftError && error.code === 'FENCED' && !this.#stop.signal.aborted;
  }
}

const asRefusal = (error: unknown): StagecraftError =>
  error instanceof StagecraftError ? error : new StagecraftError('NOT_LEADER', messageOf(error), { cause: error });

const outcomeUnknown = (address: string, cause: unknown): StagecraftError =>
  new StagecraftError(
    'NOT_LEADER',
    `another agent leads since: whether this was taken is not known; look at ${address}, or ask that agent for it again`,
    { address, outcome: 'unknown', cause },
  );
