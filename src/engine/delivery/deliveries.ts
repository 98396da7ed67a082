/**
 * Delivers the outbox of each commit: messages to inboxes, broadcast events to topics; then settles the outbox. Unsettled
 * outboxes of the store are delivered again (Redelivery); receivers and topics skip repeats.
 */
import { messageOf } from '../../errors.js';
import { type CommitPlace, decodeOutbox, type Outbox } from '../actor/actor-record.js';
import { type Clock, pause } from '../clock.js';
import type { Logger } from '../logger.js';
import { asData } from '../machine/data.js';
import { pages } from '../storage/pages.js';
import { storeRetryMs, storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Encoded, OutboxRow, Store } from '../store.js';
import type { Topics } from '../topics/topics.js';
import type { Inbox } from './inbox.js';

interface DeliveriesOptions {
  store: Store;
  clock: Clock;
  logger: Logger;
  topics: Topics;
  inbox: Inbox;
}

interface Owing {
  seq: number;
  outbox: Outbox;
}

export class Deliveries {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #topics: Topics;
  readonly #inbox: Inbox;
  /** Undelivered outboxes by address, in the order of the commits. */
  readonly #owed = new Map<string, Owing[]>();
  /** Number of outboxes by address that a restart would deliver again. */
  readonly #unsettled = new Map<string, number>();
  #delivered: { address: string; seq: number }[] = [];
  #settling: Promise<void> | undefined;
  readonly #stop = new AbortController();

  constructor({ store, clock, logger, topics, inbox }: DeliveriesOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#topics = topics;
    this.#inbox = inbox;
  }

  /**
   * Call in the order of the commits of an address: receivers and topics keep that order.
   * @param texts of the events, if they are known
   */
  deliver(address: string, seq: number, outbox: Outbox, texts: readonly Encoded[] = []): void {
    const owing = { seq, outbox };
    this.#owe(address, owing);
    this.withhold(address);
    let left = outbox.messages.length + outbox.events.length;
    const delivered = (): void => {
      left -= 1;
      if (left > 0) return;
      this.#forget(address, owing);
      this.#settle({ address, seq });
    };
    outbox.messages.forEach(({ to, of, ...content }, at) => {
      const [first, index] = of ?? [seq, at];
      void this.#inbox.append(to, { from: { address, seq: first, index }, ...asData(content) }).then(delivered);
    });
    outbox.events.forEach(({ topic, event, of }, at) => {
      const [first, index] = of ?? [seq, at];
      const text = texts[at] ?? JSON.stringify(event);
      void this.#topics.append(topic, { source: address, seq: first, index, text }).then(delivered);
    });
  }

  /** Returns all undelivered messages and events of an actor, each with the place at which it was owed first. */
  owed(address: string): Outbox | undefined {
    const owed = this.#owed.get(address);
    if (!owed) return undefined;
    // The map counts an item once that was owed again since.
    const messages = new Map<string, Outbox['messages'][number]>();
    const events = new Map<string, Outbox['events'][number]>();
    for (const { seq, outbox } of owed) {
      for (const [at, message] of outbox.messages.entries()) {
        const of: CommitPlace = message.of ?? [seq, at];
        messages.set(of.join(), { ...message, of });
      }
      for (const [at, event] of outbox.events.entries()) {
        const of: CommitPlace = event.of ?? [seq, at];
        events.set(of.join(), { ...event, of });
      }
    }
    return { messages: [...messages.values()], events: [...events.values()] };
  }

  /** Whether a message of this actor may come once more, though it was applied. */
  mayRepeat(address: string): boolean {
    return this.#unsettled.has(address);
  }

  /** Counts an outbox of the actor as unsettled; call it for each one that can't be delivered now. */
  withhold(address: string): void {
    this.#unsettled.set(address, (this.#unsettled.get(address) ?? 0) + 1);
  }

  /** Delivers an outbox again that an earlier run left unsettled. */
  redeliver({ address, seq, text }: OutboxRow): void {
    this.deliver(address, seq, decodeOutbox(text));
  }

  /** Resolves once the delivered outboxes are settled, or settling was tried once more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#settling;
  }

  #owe(address: string, owing: Owing): void {
    const others = this.#owed.get(address);
    if (others) others.push(owing);
    else this.#owed.set(address, [owing]);
  }

  #forget(address: string, owing: Owing): void {
    const owed = this.#owed.get(address) ?? [];
    if (owed.length > 1) owed.splice(owed.indexOf(owing), 1);
    else this.#owed.delete(address);
  }

  #settle(row: { address: string; seq: number }): void {
    this.#delivered.push(row);
    this.#settling ??= this.#settleAll();
  }

  #settled(address: string): void {
    const left = (this.#unsettled.get(address) ?? 0) - 1;
    if (left > 0) this.#unsettled.set(address, left);
    else this.#unsettled.delete(address);
  }

  async #settleAll(): Promise<void> {
    await Promise.resolve(); // one write settles all deliveries of one turn
    while (this.#delivered.length > 0) {
      const rows = this.#delivered.splice(0);
      try {
        await this.#store.settle(rows);
        for (const { address } of rows) this.#settled(address);
      } catch (error) {
        this.#logger.debug(
          { rows: rows.length },
          `the store cannot settle delivered outboxes now: ${messageOf(error)}`,
        );
        // An unsettled outbox is only delivered again after a restart, and receivers skip the repeat.
        if (this.#stop.signal.aborted) break;
        this.#delivered.push(...rows);
        await pause(this.#clock, storeRetryMs, this.#stop.signal);
      }
    }
    this.#settling = undefined;
  }
}

const pageSize = 512;

interface RedeliveryOptions {
  store: Store;
  clock: Clock;
  troubles: TroubleLog;
  deliveries: Deliveries;
  /** Called when an actor's outbox cannot be read. */
  unreadable(address: string, reason: string): void;
  /** Aborted once deliveries end. */
  stopped: AbortSignal;
}

/** Delivers unsettled outboxes of the store again: at the start, at a release, and after the store has lost writes. */
export class Redelivery {
  readonly #options: RedeliveryOptions;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: RedeliveryOptions) {
    this.#options = options;
  }

  /** Resolves once no redelivery is under way. */
  get done(): Promise<unknown> {
    return this.#underWay;
  }

  /** @returns addresses with an outbox that cannot be read; nothing later of such an address is delivered */
  async deliverUnder(prefixes: string[]): Promise<Set<string>> {
    const delivered = this.#deliver(prefixes);
    this.#underWay = Promise.allSettled([this.#underWay, delivered]);
    return delivered;
  }

  /** @returns false if an outbox of the actor cannot be read */
  async deliverOf(address: string): Promise<boolean> {
    const unreadable = await this.#deliver([address], (owing) => owing === address);
    return !unreadable.has(address);
  }

  /** Redelivers the outboxes of an actor; retries until the store can list them. */
  async insistOn(address: string): Promise<void> {
    const { clock, troubles, stopped } = this.#options;
    const task = {};
    while (!stopped.aborted) {
      try {
        await this.deliverOf(address);
        troubles.over(task);
        return;
      } catch (error) {
        const message = `the store cannot list the outbox of an actor now: ${messageOf(error)}`;
        troubles.failed(task, { subject: storeSubject, fields: { address }, message, cause: error });
        await pause(clock, storeRetryMs, stopped);
      }
    }
    troubles.abandon(task);
  }

  /** Reads all outboxes before it delivers any: messages that a delivery sets off would overtake the rest. */
  async #deliver(prefixes: string[], concerns: (address: string) => boolean = () => true): Promise<Set<string>> {
    const { store, deliveries } = this.#options;
    const rows: OutboxRow[] = [];
    for (const prefix of prefixes) {
      for await (const row of pages((after) => store.unsettled({ prefix, limit: pageSize, ...after }))) {
        if (concerns(row.address)) rows.push(row);
      }
    }
    const unreadable = new Set<string>();
    for (const row of rows) {
      if (unreadable.has(row.address)) continue; // the receivers would take older messages for repeats
      try {
        deliveries.redeliver(row);
      } catch (error) {
        unreadable.add(row.address);
        deliveries.withhold(row.address);
        this.#options.unreadable(row.address, `its outbox of seq ${row.seq} cannot be read: ${messageOf(error)}`);
      }
    }
    return unreadable;
  }
}
