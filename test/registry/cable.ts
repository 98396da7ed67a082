/**
 * A store behind a cable that is cut at a certain write: for whoever holds this end, all is over from then on. It tells
 * when nothing is under way: a store of files or on a server answers when it likes, whatever the clock of a test says.
 */
import type { Commit, Store } from '../../src/engine/store.js';

export interface Cut {
  /** How many writes go through before. */
  afterWrites: number;
  /** Whether the write at which it is cut was still done; its answer is lost in any case. */
  done: boolean;
}

/** It is cut at the first write that has such a commit in it. */
export interface Moment {
  is(commit: Commit): boolean;
  done: boolean;
}

export class Cable implements Store {
  readonly #inner: Store;
  readonly #cut: Cut;
  #moment: Moment | undefined;
  #writes = 0;
  #isCut = false;
  #tellCut: () => void = () => {};
  /** Resolves when it is cut. */
  readonly whenCut = new Promise<void>((resolve) => {
    this.#tellCut = resolve;
  });

  #underWay = 0;

  /** @param cut default never */
  constructor(inner: Store, cut: Cut = { afterWrites: Number.POSITIVE_INFINITY, done: true }) {
    this.#inner = inner;
    this.#cut = cut;
  }

  cutAt(moment: Moment): void {
    this.#moment = moment;
  }

  cutNow(): void {
    this.#isCut = true;
    this.#tellCut();
  }

  /** Writes that went through, or were tried. */
  get writes(): number {
    return this.#writes;
  }

  /** Whether nobody waits for an answer. */
  get isQuiet(): boolean {
    return this.#underWay === 0;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** A process that dies gives nothing back: the next one finds the data as they are. */
  close: Store['close'] = async () => {
    if (!this.#isCut) await this.#inner.close();
  };
  open: Store['open'] = () => this.#inner.open();
  acquireLease: Store['acquireLease'] = (request) => this.#read(() => this.#inner.acquireLease(request));
  renewLease: Store['renewLease'] = (lease) => this.#read(() => this.#inner.renewLease(lease));
  releaseLease: Store['releaseLease'] = async (lease) => {
    if (!this.#isCut) await this.#inner.releaseLease(lease);
  };
  load: Store['load'] = (address) => this.#read(() => this.#inner.load(address));
  list: Store['list'] = (range) => this.#read(() => this.#inner.list(range));
  due: Store['due'] = (query) => this.#read(() => this.#inner.due(query));
  commit: Store['commit'] = (items) => this.#write(() => this.#inner.commit(items), this.#momentIn(items));
  unsettled: Store['unsettled'] = (range) => this.#read(() => this.#inner.unsettled(range));
  settle: Store['settle'] = (rows) => this.#write(() => this.#inner.settle(rows));
  appendInbox: Store['appendInbox'] = (address, texts) => this.#write(() => this.#inner.appendInbox(address, texts));
  readInbox: Store['readInbox'] = (address, after, limit) =>
    this.#read(() => this.#inner.readInbox(address, after, limit));
  appendTopic: Store['appendTopic'] = (topic, entries) => this.#write(() => this.#inner.appendTopic(topic, entries));
  readTopic: Store['readTopic'] = (topic, after, limit) => this.#read(() => this.#inner.readTopic(topic, after, limit));
  trimTopic: Store['trimTopic'] = (topic, upTo) => this.#write(() => this.#inner.trimTopic(topic, upTo));
  readJournal: Store['readJournal'] = (address, from, limit) =>
    this.#read(() => this.#inner.readJournal(address, from, limit));
  trimJournal: Store['trimJournal'] = (address, below) => this.#write(() => this.#inner.trimJournal(address, below));

  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#isCut) throw new Error('the store is out of reach');
    this.#underWay += 1;
    try {
      return await read();
    } finally {
      this.#underWay -= 1;
    }
  }

  #momentIn(items: readonly Commit[]): Moment | undefined {
    return items.some((commit) => this.#moment?.is(commit)) ? this.#moment : undefined;
  }

  async #write<T>(write: () => Promise<T>, moment?: Moment): Promise<T> {
    if (!this.#isCut && (moment !== undefined || this.#writes === this.#cut.afterWrites)) {
      this.#isCut = true;
      if ((moment ?? this.#cut).done) await write();
      this.#tellCut();
    }
    this.#writes += 1;
    return this.#read(write);
  }
}
