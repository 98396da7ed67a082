/**
 * Writes commits: those that all actors make in one turn of the event loop in one call of the store (Committer), and each
 * of one actor until its outcome is known (Write). What follows from the outcome: actor.ts
 */
import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import type { Logger } from '../logger.js';
import { type StoreOutcome, storeUnavailable } from '../storage/store-patience.js';
import { storeRetryMs, storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { WriteWatch } from '../storage/write-watch.js';
import type { Commit, CommitResult, Store } from '../store.js';
import { Turns } from '../turns.js';
import type { ActorHost, CommitAnswer } from './actor-ports.js';
import type { Message } from './message.js';
import { allSteps, type Steps } from './steps.js';

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

/**
 * Group commit. Sends a commit whose answer was lost again for as long as it takes: the store recognizes a repeat.
 */
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

/** Outcome of a write. */
export type WriteEnd =
  | { kind: 'written' }
  /** Refused by the store, which says that nothing was written; the callers have their refusals. */
  | { kind: 'refused' }
  /** The stored record is not the one that the commit builds on. */
  | { kind: 'conflict' }
  /** Another runtime holds the lease now. */
  | { kind: 'fenced'; epoch: number };

/** Actor to which the commit belongs. */
export interface Author {
  readonly address: string;
  /** True once the actor handles nothing more. */
  readonly stopped: boolean;
  /** Ends the suspicion that the store has lost confirmed writes. @returns whether there was such a suspicion */
  endDoubt(): boolean;
  /** Called when the store accepts nothing now; the write is sent again. */
  hold(cause: unknown): void;
}

/** A commit of an actor: sent again until its outcome is known. */
export class Write {
  readonly steps: Steps;
  readonly #author: Author;
  readonly #host: ActorHost;
  readonly #ended: (end: WriteEnd) => void;
  #commit: Commit;
  /** The commit may have been written. */
  #isInDoubt = false;
  /** The commit waits to be sent again. */
  #isWaiting = false;
  #isOver = false;

  /** @param ended called once, unless the write is withdrawn or this process ends first */
  constructor(
    author: Author,
    host: ActorHost,
    { steps, commit }: { steps: Steps; commit: Commit },
    ended: (end: WriteEnd) => void,
  ) {
    this.steps = steps;
    this.#author = author;
    this.#host = host;
    this.#commit = commit;
    this.#ended = ended;
  }

  get commitId(): string {
    return this.#commit.commitId;
  }

  /** Messages of the steps, oldest first. */
  get messages(): Message[] {
    return allSteps(this.steps).map(({ message }) => message);
  }

  send(): void {
    this.#host.commit(this.#commit, (answer) => this.#answered(answer));
  }

  /** Ends the write unless its commit is on the way to the store. @returns its messages if the write has ended */
  withdraw(): Message[] | undefined {
    if (!this.#isWaiting) return undefined;
    this.#isOver = true;
    return this.messages;
  }

  #answered(answer: CommitAnswer): void {
    if (this.#isOver) return;
    if (answer.status === 'done') this.#done();
    else if (answer.status === 'refused') this.#refused(answer.reason);
    else if (answer.status === 'fenced') this.#fenced(answer);
    else if (answer.status === 'unanswered') this.#unanswered(answer.error);
    else this.#end({ kind: 'conflict' });
  }

  #end(end: WriteEnd): void {
    this.#isOver = true;
    this.#ended(end);
  }

  #done(): void {
    if (this.#author.endDoubt()) {
      this.#isInDoubt = true;
      this.send(); // the answer to the repeat shows whether the store still has the commit
    } else {
      this.#end({ kind: 'written' });
    }
  }

  /** Tells the callers that the outcome is unknown. The committer sends the commit again. */
  #unanswered(error: unknown): void {
    this.#isInDoubt = true;
    this.#reject('unknown', error);
    this.#author.hold(error);
  }

  /**
   * Handles a refusal: rejects requests, and sends a commit without any again. Also sends a commit in doubt again: one that was sent
   * anew after a fence, or after the store lost writes. The committer repeats all others by itself.
   */
  #refused(reason: string): void {
    if (this.#isInDoubt) {
      this.#unanswered(reason);
      this.#sendLater();
    } else if (this.messages.some(({ kind }) => kind === 'request')) {
      this.#reject('refused', reason);
      this.#end({ kind: 'refused' });
    } else {
      this.#author.hold(reason);
      this.#sendLater();
    }
  }

  #reject(outcome: StoreOutcome, cause: unknown): void {
    for (const message of this.messages)
      if (message.kind === 'request') message.reject(storeUnavailable(this.#author.address, outcome, cause));
  }

  /** Sends the commit again if the newer epoch of the lease is our own by now. */
  #fenced({ epoch, owner }: { epoch: number; owner: string }): void {
    const isOurs = this.#host.claim().owner === owner;
    // While this runtime claims its lease again, only a later try can tell.
    if (!this.#author.stopped && (isOurs || !this.#host.holdsLease())) this.#sendLater();
    else this.#end({ kind: 'fenced', epoch });
  }

  /** Sends the commit again after a pause, under the epoch valid then. */
  #sendLater(): void {
    this.#isWaiting = true;
    this.#host.after(storeRetryMs, () => {
      if (this.#isOver) return;
      this.#isWaiting = false;
      this.#commit = { ...this.#commit, epoch: this.#host.claim().epoch };
      this.send();
    });
  }
}
