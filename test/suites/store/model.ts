/**
 * Random commits, settlements, trims and reopens against a model that is too simple to be wrong: it reads like
 * the port and shares no code with the stores.
 */

import { expect } from 'chai';
import fc from 'fast-check';
import type { Commit, CommitResult, JournalRow, OutboxRow, StoredRecord } from '../../../src/engine/store.js';
import { allPages, rangeOf, type Subject } from './subject.js';

/** In the order of their UTF-8 bytes. */
const actors = ['a', 'a/b', 'é', '！', '😀'];

interface Attempt {
  actor: number;
  /** How far its seq is off the mark. */
  drift: number;
  epoch: number;
  owner: string;
  /** Sends the actor's last commit again instead. */
  repeats: boolean;
  gone: boolean;
  wakeAtMs: number | null;
  owes: boolean;
}

type Step =
  | { kind: 'commit'; attempts: Attempt[] }
  | { kind: 'settle'; actor: number; seq: number }
  | { kind: 'trim'; actor: number; below: number }
  | { kind: 'reopen' };

class ModelStore {
  readonly records = new Map<string, StoredRecord>();
  readonly journals = new Map<string, JournalRow[]>();
  outbox: OutboxRow[] = [];

  commit(commit: Commit): CommitResult {
    const { address, commitId, expectedSeq, epoch, owner, text, gone = false, wakeAtMs } = commit;
    const record = this.records.get(address);
    const seq = expectedSeq + 1;
    if (record?.commitId === commitId && record.seq === seq) return { status: 'done' };
    if ((record?.seq ?? 0) !== expectedSeq || !isAllowed(record, commit)) return conflictWith(record);
    const wake = gone || wakeAtMs === undefined ? {} : { wakeAtMs };
    this.records.set(address, { address, seq, epoch, owner, commitId, gone, text, ...wake });
    this.journals.set(address, [...(this.journals.get(address) ?? []), { seq, text: commit.journal }]);
    if (commit.outbox !== undefined) this.outbox.push({ address, seq, text: commit.outbox });
    return { status: 'done' };
  }

  settle(address: string, seq: number): void {
    this.outbox = this.outbox.filter((row) => row.address !== address || row.seq !== seq);
  }

  trim(address: string, below: number): void {
    const rows = this.journals.get(address) ?? [];
    this.journals.set(
      address,
      rows.filter((row) => row.seq >= below),
    );
  }
}

function isAllowed(record: StoredRecord | undefined, commit: Commit): boolean {
  if (record === undefined || commit.epoch > record.epoch) return true;
  return commit.epoch === record.epoch && commit.owner === record.owner;
}

function conflictWith(record: StoredRecord | undefined): CommitResult {
  if (record === undefined) return { status: 'conflict' };
  const { seq, epoch, owner, commitId } = record;
  return { status: 'conflict', stored: { seq, epoch, owner, commitId } };
}

export function modelSection(subject: Subject): void {
  it('random commits, settlements, trims and reopens leave what a simple model leaves', async function () {
    this.timeout(60_000);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        run += 1;
        await new Comparison(subject, `run-${run}/`).play(steps);
      }),
      { numRuns: 40, seed: 20_250_117 },
    );
  });
}

/** One run, under a prefix of its own so that all runs share one store. */
class Comparison {
  readonly #subject: Subject;
  readonly #prefix: string;
  readonly #model = new ModelStore();
  readonly #lastSent = new Map<string, Commit>();
  #commits = 0;

  constructor(subject: Subject, prefix: string) {
    this.#subject = subject;
    this.#prefix = prefix;
  }

  async play(steps: Step[]): Promise<void> {
    for (const step of steps) await this.#take(step);
    await this.#compare();
    await this.#subject.reopen();
    await this.#compare();
  }

  async #take(step: Step): Promise<void> {
    if (step.kind === 'reopen') return this.#subject.reopen();
    if (step.kind === 'commit') return this.#commit(step.attempts);
    const address = this.#addressOf(step.actor);
    if (step.kind === 'settle') {
      this.#model.settle(address, step.seq);
      return this.#subject.store.settle([{ address, seq: step.seq }]);
    }
    this.#model.trim(address, step.below);
    return this.#subject.store.trimJournal(address, step.below);
  }

  async #commit(attempts: Attempt[]): Promise<void> {
    const commits: Commit[] = [];
    const expected: CommitResult[] = [];
    for (const attempt of attempts) {
      const commit = this.#commitOf(attempt);
      commits.push(commit);
      expected.push(this.#model.commit(commit));
    }
    expect(await this.#subject.store.commit(commits)).to.deep.equal(expected);
  }

  #commitOf({ actor, drift, epoch, owner, repeats, gone, wakeAtMs, owes }: Attempt): Commit {
    const address = this.#addressOf(actor);
    const last = this.#lastSent.get(address);
    if (repeats && last !== undefined) return last;
    this.#commits += 1;
    const id = `${this.#commits}`;
    const expectedSeq = Math.max(0, (this.#model.records.get(address)?.seq ?? 0) + drift);
    const commit: Commit = { address, commitId: id, expectedSeq, epoch, owner, text: `t${id}`, journal: `j${id}` };
    if (gone) commit.gone = true;
    if (wakeAtMs !== null) commit.wakeAtMs = wakeAtMs;
    if (owes) commit.outbox = `o${id}`;
    this.#lastSent.set(address, commit);
    return commit;
  }

  async #compare(): Promise<void> {
    const { store } = this.#subject;
    const addresses = actors.map((_, actor) => this.#addressOf(actor));
    const records = addresses.map((address) => this.#model.records.get(address));
    for (const [i, address] of addresses.entries()) {
      expect(await store.load(address)).to.deep.equal(records[i]);
      expect(await store.readJournal(address, 0, 1_000)).to.deep.equal(this.#model.journals.get(address) ?? []);
    }
    const live = records.filter((record) => record !== undefined && !record.gone);
    expect(await allPages((after) => store.list(rangeOf(this.#prefix, after)))).to.deep.equal(live);
    const owed = addresses.flatMap((address) => this.#model.outbox.filter((row) => row.address === address));
    expect(await allPages((after) => store.unsettled(rangeOf(this.#prefix, after)))).to.deep.equal(owed);
    const due = live
      .flatMap((record) =>
        record?.wakeAtMs === undefined ? [] : [{ address: record.address, wakeAtMs: record.wakeAtMs }],
      )
      .filter((row) => row.wakeAtMs <= 3)
      .sort((a, b) => a.wakeAtMs - b.wakeAtMs);
    expect(await store.due({ prefix: this.#prefix, untilMs: 3, limit: 100 })).to.deep.equal(due);
  }

  #addressOf(actor: number): string {
    return `${this.#prefix}${actors[actor] ?? ''}`;
  }
}

const actor = fc.nat({ max: actors.length - 1 });

const attempt: fc.Arbitrary<Attempt> = fc.record({
  actor,
  drift: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-2, -1, 1) }),
  epoch: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 3) }),
  owner: fc.oneof({ weight: 6, arbitrary: fc.constant('x') }, { weight: 1, arbitrary: fc.constant('y') }),
  repeats: fc.nat({ max: 4 }).map((n) => n === 0),
  gone: fc.nat({ max: 5 }).map((n) => n === 0),
  wakeAtMs: fc.option(fc.nat({ max: 5 })),
  owes: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('commit' as const),
      attempts: fc.array(attempt, { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), actor, seq: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('trim' as const), actor, below: fc.nat({ max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
);
