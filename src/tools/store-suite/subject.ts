/** Shared by the sections of the store suite: the test runner, the store under test, and shortcuts for its calls. */

import assert from 'node:assert/strict';
import type { Commit, CommitResult, Range, Store, StorePage } from '../../engine/store.js';

/** The store that `make` gave for the test that runs now. */
export interface StoreSubject {
  readonly store: Store;
  readonly leaseTtlMs: number;
  readonly modelSeeds: readonly number[];
  reopen(): Promise<void>;
  elapse(ms: number): Promise<void>;
}

export const done: CommitResult = { status: 'done' };

/** A commit that is fine unless `more` makes it otherwise. */
export function plainCommit(address: string, expectedSeq: number, more: Partial<Commit> = {}): Commit {
  const seq = more.seq ?? expectedSeq + 1;
  const commitId = `${address}@${seq}`;
  return { address, expectedSeq, commitId, epoch: 1, owner: 'owner-a', text: `t${seq}`, journal: `j${seq}`, ...more };
}

/** The conflict with what commitOf('a', seq - 1) has written. */
export function conflictWithA(seq: number, more: { epoch?: number; owner?: string } = {}): CommitResult {
  return { status: 'conflict', stored: { seq, epoch: 1, owner: 'owner-a', commitId: `a@${seq}`, ...more } };
}

export async function commitOne({ store }: StoreSubject, commit: Commit): Promise<CommitResult | undefined> {
  const results = await store.commit([commit]);
  assert.equal(results.length, 1);
  return results[0];
}

/** Commits `count` times to an address that was never there. */
export async function commitTimes(
  { store }: StoreSubject,
  address: string,
  count: number,
  more?: Partial<Commit>,
): Promise<void> {
  const results = await store.commit(Array.from({ length: count }, (_, seq) => plainCommit(address, seq, more)));
  assert.deepEqual(results, Array(count).fill(done));
}

/** Every row of a listing, asked for in pages of `limit`; each but the last must be full. */
export async function allPages<T>(page: (range: Range) => Promise<StorePage<T>>, prefix = '', limit = 2): Promise<T[]> {
  const all: T[] = [];
  let next: string | undefined;
  do {
    const answer: StorePage<T> = await page(rangeOf(prefix, next, limit));
    if (answer.next !== undefined) assert.equal(answer.rows.length, limit, 'a page that is not the last is full');
    all.push(...answer.rows);
    next = answer.next;
  } while (next !== undefined);
  return all;
}

export function rangeOf(prefix: string, after: string | undefined, limit = 2): Range {
  return after === undefined ? { prefix, limit } : { prefix, after, limit };
}

/** Addresses of all that is listed. */
export async function listed({ store }: StoreSubject, prefix = ''): Promise<string[]> {
  return (await allPages((range) => store.list(range), prefix)).map(({ address }) => address);
}

/** `<address> <wakeAtMs>` of all that is due. */
export async function dueBy({ store }: StoreSubject, untilMs: number, prefix = ''): Promise<string[]> {
  const rows = await allPages((range) => store.due({ ...range, untilMs }), prefix);
  return rows.map(({ address, wakeAtMs }) => `${address} ${wakeAtMs}`);
}

/** `<address> <seq> <text>` of all that is owed. */
export async function owed({ store }: StoreSubject, prefix = ''): Promise<string[]> {
  const rows = await allPages((range) => store.unsettled(range), prefix);
  return rows.map(({ address, seq, text }) => `${address} ${seq} ${text}`);
}

export async function journalSeqs(
  { store }: StoreSubject,
  address: string,
  from = 0,
  limit = 10_000,
): Promise<number[]> {
  return (await store.readJournal(address, from, limit)).map(({ seq }) => seq);
}

export async function inboxIds({ store }: StoreSubject, address: string, after = 0): Promise<number[]> {
  return (await store.readInbox(address, after, 10_000)).map(({ id }) => id);
}

/** Holds where `actual` has all that `expected` has; it may have more. */
export function assertHas<T extends object>(actual: T | undefined, expected: Partial<T>): void {
  const found = Object.entries(actual ?? {}).filter(([key]) => key in expected);
  assert.deepEqual(Object.fromEntries(found), expected);
}

/** The error that `work` rejects with. */
export async function rejectionOf(work: Promise<unknown>): Promise<Error> {
  const reason: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (reason instanceof Error) return reason;
  throw new Error(`expected an Error, got ${String(reason)}`);
}

/** Texts that an encoding might bend. */
export const awkwardTexts = ['', '\n', 'a\nb', '\0', '{"a":"\\u0000"}', 'é', '😀 and ！', ' ', 'x'.repeat(300_000)];

/** Names that a key, a page token or a pattern might bend, in the order in which they are listed. */
export const awkwardNames = [
  ' ',
  '"quoted"',
  '%2F',
  '*',
  '-1/',
  '/',
  '//',
  '0',
  '1e3/a',
  '7/ a/b',
  ':a:',
  '[a-z]',
  '\\',
  'a?',
  'a{b}',
  'é',
  '！',
  '😀/',
];

/** Functions that the store suite needs from a test runner; all common runners have these four. */
export interface TestRunner {
  describe(title: string, body: () => void): unknown;
  it(title: string, body: () => Promise<void>): unknown;
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

/** @throws {TypeError} where the runner has no globals */
export function globalRunner(): TestRunner {
  const globals: object = globalThis;
  if (isRunner(globals)) return globals;
  throw new TypeError(
    'No global describe, it, beforeEach and afterEach: hand those of your test runner to storeSuite.',
  );
}

function isRunner(value: object): value is TestRunner {
  return ['describe', 'it', 'beforeEach', 'afterEach'].every((name) => typeof Reflect.get(value, name) === 'function');
}
