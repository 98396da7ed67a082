/**
 * Random calls of every kind, with reopens between them, compared with a simple model after each run. A failure
 * names its seed and the calls that led to it.
 */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Commit, CommitResult, Store } from '../../engine/store.js';
import { seededRandom } from '../../testing/seeded-random.js';
import { ModelStore } from './model-store.js';
import { allPages, type StoreSubject, type TestRunner } from './subject.js';

/** In the order of their UTF-8 bytes. */
const actors = ['a', 'a/b', 'é', '！', '😀'];
const owners = ['x', 'x', 'x', 'x', 'x', 'x', 'x', 'y'];
const latestWakeMs = 6;
/** Number of tests that share the seeds, so that none of them takes long. */
const parts = 10;

export function modelSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('model', () => {
    for (let part = 0; part < parts; part++) {
      const which = `part ${part + 1} of ${parts}`;
      it(`random calls of every kind, and reopens, are answered and leave what a simple model says, ${which}`, async () => {
        const seeds = subject.modelSeeds.filter((_, i) => i % parts === part);
        for (const seed of seeds) await new Comparison(subject, seed).run();
      });
    }
  });
}

/** One run. Its own prefix lets all runs share one store. */
class Comparison {
  readonly #subject: StoreSubject;
  readonly #seed: number;
  readonly #random: () => number;
  readonly #prefix: string;
  readonly #addresses: string[];
  readonly #topics: string[];
  readonly #model = new ModelStore();
  readonly #lastSent = new Map<string, Commit>();
  readonly #calls: string[] = [];
  #texts = 0;
  #reopens = 0;

  constructor(subject: StoreSubject, seed: number) {
    this.#subject = subject;
    this.#seed = seed;
    this.#random = seededRandom(seed).next;
    this.#prefix = `run-${seed}/`;
    this.#addresses = actors.map((actor) => this.#prefix + actor);
    this.#topics = ['t', 't/u'].map((topic) => this.#prefix + topic);
  }

  async run(): Promise<void> {
    try {
      for (let left = 5 + this.#below(25); left > 0; left--) await this.#step();
      await this.#compare();
      await this.#reopen();
      await this.#compare();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const calls = this.#calls.join('\n');
      throw new Error(`The store and the model differ, seed ${this.#seed}:\n${reason}\nafter\n${calls}`, { cause });
    }
  }

  /** Makes mostly commits; the other kinds often enough to interact with them. */
  #step(): Promise<void> {
    return this.#oneOf([
      () => this.#commit(),
      () => this.#commit(),
      () => this.#commit(),
      () => this.#commit(),
      () => this.#settle(),
      () => this.#appendInbox(),
      () => this.#appendTopic(),
      () => this.#readTopic(),
      () => this.#trim(),
      () => this.#lease(),
      () => (this.#isOneIn(3) ? this.#reopen() : this.#compare()),
    ])();
  }

  async #commit(): Promise<void> {
    const commits: Commit[] = [];
    const expected: CommitResult[] = [];
    for (let left = 1 + this.#below(8); left > 0; left--) {
      const commit = this.#commitOf(this.#oneOf(this.#addresses));
      commits.push(commit);
      expected.push(this.#model.commit(commit));
    }
    await this.#same('commit', commits, expected, (store) => store.commit(commits));
  }

  /** Makes mostly accepted commits; else repeats, or commits with a wrong seq, epoch or owner. */
  #commitOf(address: string): Commit {
    const last = this.#lastSent.get(address);
    if (last !== undefined && this.#isOneIn(6)) return last;
    const text = this.#text();
    const storedSeq = this.#model.record(address)?.seq ?? 0;
    const expectedSeq = Math.max(0, storedSeq + (this.#isOneIn(8) ? this.#oneOf([-2, -1, 1]) : 0));
    const ahead = this.#isOneIn(4) ? 1 + this.#below(12) : 1;
    const earlier = this.#isOneIn(2) ? this.#below(ahead) : 0;
    const commit: Commit = {
      address,
      commitId: last !== undefined && this.#isOneIn(10) ? last.commitId : text,
      expectedSeq,
      epoch: this.#isOneIn(8) ? 2 + this.#below(2) : (this.#model.record(address)?.epoch ?? 1),
      owner: this.#oneOf(owners),
      text,
      journal: `j${text}`,
      ...(ahead > 1 && { seq: expectedSeq + ahead }),
      ...(earlier > 0 && { journalBefore: Array.from({ length: earlier }, (_, at) => `j${text}-${at}`) }),
      ...(this.#isOneIn(5) && { gone: true }),
      ...(this.#isOneIn(2) && { wakeAtMs: this.#below(latestWakeMs + 1) }),
      ...(this.#isOneIn(2) && { outbox: `o${text}` }),
      ...(this.#isOneIn(2) && { consumed: [1 + this.#below(6), 1 + this.#below(6)] }),
    };
    this.#lastSent.set(address, commit);
    return commit;
  }

  async #settle(): Promise<void> {
    const owed = this.#model.owed(this.#addresses).filter(() => this.#isOneIn(2));
    const rows = [...owed, { address: this.#oneOf(this.#addresses), seq: this.#below(9) }];
    this.#model.settle(rows);
    await this.#same('settle', rows, undefined, (store) => store.settle(rows));
  }

  async #appendInbox(): Promise<void> {
    const address = this.#oneOf(this.#addresses);
    const texts = Array.from({ length: this.#below(4) }, () => this.#text());
    const expected = this.#model.appendInbox(address, texts);
    await this.#same('appendInbox', [address, texts], expected, (store) => store.appendInbox(address, texts));
  }

  async #appendTopic(): Promise<void> {
    const topic = this.#oneOf(this.#topics);
    const entries = Array.from({ length: this.#below(5) }, () => ({
      source: this.#oneOf(actors),
      seq: 1 + this.#below(12),
      index: this.#below(3),
      text: this.#text(),
    }));
    const expected = this.#model.appendTopic(topic, entries);
    await this.#same('appendTopic', [topic, entries], expected, (store) => store.appendTopic(topic, entries));
  }

  async #readTopic(): Promise<void> {
    const topic = this.#oneOf(this.#topics);
    const [after, limit] = [this.#below(20), this.#below(5)];
    const expected = this.#model.topic(topic, after, limit);
    await this.#same('readTopic', [topic, after, limit], expected, (store) => store.readTopic(topic, after, limit));
  }

  async #trim(): Promise<void> {
    const [topic, upTo] = [this.#oneOf(this.#topics), this.#below(20)];
    this.#model.trimTopic(topic, upTo);
    await this.#same('trimTopic', [topic, upTo], undefined, (store) => store.trimTopic(topic, upTo));
    const [address, below] = [this.#oneOf(this.#addresses), this.#below(20)];
    this.#model.trimJournal(address, below);
    await this.#same('trimJournal', [address, below], undefined, (store) => store.trimJournal(address, below));
  }

  /** Uses a new name after each reopen, since only some stores end leases there. */
  async #lease(): Promise<void> {
    const name = `${this.#prefix}lease-${this.#reopens}`;
    const owner = this.#oneOf(['x', 'y']);
    const asked = { name, owner, ttlMs: 600_000, holder: `agent ${owner}`, above: this.#below(8) };
    const expected = this.#model.acquireLease(asked);
    await this.#same('acquireLease', asked, expected, (store) => store.acquireLease(asked));
    const epoch = 1 + this.#below(10);
    const lease =
      expected.status === 'granted' && this.#isOneIn(2) ? expected.lease : { name, owner, epoch, ttlMs: 600_000 };
    if (this.#isOneIn(2)) {
      const renewed = this.#model.renewLease(name, owner, lease.epoch);
      await this.#same('renewLease', lease, renewed, (store) => store.renewLease(lease));
    } else {
      this.#model.releaseLease(name, owner, lease.epoch);
      await this.#same('releaseLease', lease, undefined, (store) => store.releaseLease(lease));
    }
  }

  async #reopen(): Promise<void> {
    this.#calls.push('reopen');
    this.#reopens += 1;
    await this.#subject.reopen();
  }

  async #compare(): Promise<void> {
    for (const address of this.#addresses) {
      await this.#same('load', address, this.#model.record(address), (store) => store.load(address));
      await this.#same('inbox', address, this.#model.inbox(address), (store) => store.readInbox(address, 0, 1_000));
      await this.#same('journal', address, this.#model.journal(address), (store) =>
        store.readJournal(address, 0, 1_000),
      );
    }
    for (const topic of this.#topics) {
      await this.#same('topic', topic, this.#model.topic(topic, 0, 1_000), (store) => store.readTopic(topic, 0, 1_000));
    }
    await this.#compareListings();
  }

  async #compareListings(): Promise<void> {
    const [prefix, limit, untilMs] = [this.#prefix, 1 + this.#below(5), this.#below(latestWakeMs + 1)];
    const live = this.#addresses
      .map((address) => this.#model.record(address))
      .filter((record) => record?.gone === false);
    await this.#same('list', limit, live, (store) => allPages((range) => store.list(range), prefix, limit));
    const owed = this.#model.owed(this.#addresses);
    await this.#same('unsettled', limit, owed, (store) => allPages((range) => store.unsettled(range), prefix, limit));
    const due = this.#model.due(this.#addresses, untilMs);
    await this.#same('due', [untilMs, limit], due, (store) =>
      allPages((range) => store.due({ ...range, untilMs }), prefix, limit),
    );
  }

  async #same(
    name: string,
    given: unknown,
    expected: unknown,
    call: (store: Store) => Promise<unknown>,
  ): Promise<void> {
    const line = `${name} ${inspect(given, { depth: 4, breakLength: Number.POSITIVE_INFINITY })}`;
    this.#calls.push(line);
    assert.deepEqual(await call(this.#subject.store), expected);
  }

  #text(): string {
    this.#texts += 1;
    return `${this.#texts}`;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #isOneIn(count: number): boolean {
    return this.#below(count) === 0;
  }

  #oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.#below(choices.length)];
    if (chosen === undefined) throw new Error('nothing to choose from');
    return chosen;
  }
}
