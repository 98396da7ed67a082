/** Delivers unsettled outboxes of the store again: at the start, at a release, and after the store has lost writes. */
import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { pages } from '../storage/pages.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { OutboxRow, Store } from '../store.js';
import type { Deliveries } from './deliveries.js';

const pageSize = 512;
const retryMs = 200;

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
        await pause(clock, retryMs, stopped);
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
