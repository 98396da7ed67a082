/**
 * Group commit: what actors commit in one turn of the event loop goes to the store in one call.
 * A commit whose answer was lost is sent again for as long as it takes: the store recognises a repeat.
 */
import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import type { Logger } from '../logger.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { WriteWatch } from '../storage/write-watch.js';
import type { Commit, CommitResult, Store } from '../store.js';
import { Turns } from '../turns.js';
import type { CommitAnswer } from './actor-ports.js';

interface Submission {
  commit: Commit;
  answered(answer: CommitAnswer): void;
}

interface CommitterOptions {
  store: Store;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
  writes: Pick<WriteWatch, 'written' | 'failed'>;
}

/** Most journal entries in one call of the store: it has a time limit, and later calls wait for it. */
const mostAtOnce = 1_000;
const firstRetryMs = 50;
const lastRetryMs = 1_000;

/** Number of submissions from the first on that fit into one call; at least one. */
function fitting(submissions: readonly Submission[]): number {
  let entries = 0;
  const end = submissions.findIndex(({ commit: { journalBefore } }) => {
    entries += 1 + (journalBefore?.length ?? 0);
    return entries > mostAtOnce;
  });
  return end < 0 ? submissions.length : Math.max(end, 1);
}

export class Committer {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles: TroubleLog;
  readonly #writes: CommitterOptions['writes'];
  readonly #turns: Turns;
  #waiting: Submission[] = [];
  #inFlight = 0;
  #idle: (() => void)[] = [];
  readonly #stop = new AbortController();

  constructor({ store, clock, logger, troubles, writes }: CommitterOptions) {
    this.#writes = writes;
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#troubles = troubles;
    this.#turns = new Turns(clock);
  }

  /**
   * Writes a commit together with others.
   * @param answered called with the answer of the store; before that, once, with `unanswered` if the first call fails. It is called
   *   in the turn of the answer: actors go on in the order of their commits, which promises would change.
   */
  submit(commit: Commit, answered: (answer: CommitAnswer) => void): void {
    if (this.#waiting.push({ commit, answered }) === 1) this.#flushSoon();
  }

  /** Resolves when nothing is on its way to the store; from now on a commit without an answer is not sent again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    if (this.#waiting.length > 0 || this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #flushSoon(): void {
    const turn = this.#turns.next();
    if (turn) void turn.then(() => this.#flush());
    else queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = batch.splice(fitting(batch));
    void this.#write(batch, 1);
    if (this.#waiting.length > 0) this.#flushSoon();
  }

  async #write(batch: Submission[], attempt: number): Promise<void> {
    this.#inFlight += 1;
    let results: CommitResult[];
    try {
      results = await this.#store.commit(batch.map(({ commit }) => commit));
      const [first] = results;
      // An earlier attempt may have written the commit: a refusal of its repeat does not say that it did not.
      if (attempt > 1 && first?.status === 'refused') throw new Error(first.reason);
      if (results.length !== batch.length) throw new Error(`it answered ${results.length} of ${batch.length} commits`);
    } catch (error) {
      const message = `the store does not say whether commits were written, and is asked again: ${messageOf(error)}`;
      const failure = { subject: storeSubject, fields: { commits: batch.length }, message, cause: error };
      for (const submission of batch) this.#troubles.failed(submission, failure);
      this.#writes.failed();
      if (attempt === 1) for (const submission of batch) this.#answer(submission, { status: 'unanswered', error });
      void this.#repeat(batch, attempt);
      this.#done();
      return;
    }
    if (attempt > 1) for (const submission of batch) this.#troubles.over(submission);
    if (results.some(({ status }) => status === 'done')) this.#writes.written();
    else if (results.some(({ status }) => status === 'refused')) this.#writes.failed();
    for (const [index, result] of results.entries()) this.#answer(batch[index], result);
    this.#done();
  }

  /** Gives one submitter its answer. If that throws, the others of the batch get theirs all the same. */
  #answer(submission: Submission | undefined, answer: CommitAnswer): void {
    try {
      submission?.answered(answer);
    } catch (error) {
      this.#logger.error({ address: submission?.commit.address }, `what follows a commit failed: ${messageOf(error)}`);
    }
  }

  async #repeat(batch: Submission[], attempt: number): Promise<void> {
    await pause(this.#clock, Math.min(firstRetryMs * 2 ** (attempt - 1), lastRetryMs), this.#stop.signal);
    if (this.#stop.signal.aborted) {
      for (const submission of batch) this.#troubles.abandon(submission);
      return;
    }
    // Writes commits one by one: a commit that the store can't take does not stop the others.
    await Promise.all(batch.map((submission) => this.#write([submission], attempt + 1)));
  }

  #done(): void {
    this.#inFlight -= 1;
    if (this.#inFlight > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
