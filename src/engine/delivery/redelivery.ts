/** Delivers once more what the store says is owed: at the start, at a release, and where the store went back in time. */
import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { pages } from '../storage/pages.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { OutboxRow, Store } from '../store.js';
import type { Deliveries } from './deliveries.js';

const pageSize = 512;
const retryMs = 200;

export interface RedeliveryOptions {
  store: Store;
  clock: Clock;
  troubles: TroubleLog;
  deliveries: Deliveries;
  /** What an actor owes can't be read. */
  unreadable(address: string, reason: string): void;
  /** Aborted when nothing is delivered any more. */
  stopped: AbortSignal;
}

export class Redelivery {
  readonly #options: RedeliveryOptions;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: RedeliveryOptions) {
    this.#options = options;
  }

  /** Resolves where nothing that actors under these prefixes owed waits to be delivered. */
  get done(): Promise<unknown> {
    return this.#underWay;
  }

  /** @returns the addresses of those of which something can't be read: nothing after that is delivered */
  async deliverUnder(prefixes: string[]): Promise<Set<string>> {
    const delivered = this.#deliver(prefixes);
    this.#underWay = Promise.allSettled([this.#underWay, delivered]);
    return delivered;
  }

  /** @returns false where something that it owes can't be read */
  async deliverOf(address: string): Promise<boolean> {
    const unreadable = await this.#deliver([address], (owing) => owing === address);
    return !unreadable.has(address);
  }

  /** Tried until the store can say what it owes. */
  async insistOn(address: string): Promise<void> {
    const { clock, troubles, stopped } = this.#options;
    const task = {};
    while (!stopped.aborted) {
      try {
        await this.deliverOf(address);
        troubles.over(task);
        return;
      } catch (error) {
        const message = `the store can't say now what an actor owes: ${messageOf(error)}`;
        troubles.failed(task, { subject: storeSubject, fields: { address }, message });
        await pause(clock, retryMs, stopped);
      }
    }
    troubles.abandon(task);
  }

  /** All is read before anything is delivered: what that sets off would overtake the rest. */
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
      if (unreadable.has(row.address)) continue; // its receivers would take what it owed before for old
      try {
        deliveries.redeliver(row);
      } catch (error) {
        unreadable.add(row.address);
        this.#options.unreadable(row.address, `what it owes since seq ${row.seq} can't be read: ${messageOf(error)}`);
      }
    }
    return unreadable;
  }
}
