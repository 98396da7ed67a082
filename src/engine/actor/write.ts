/**
 * One write of an actor's commit, until its outcome is known: the very same commit is sent again for as long as that takes.
 * What follows from the outcome: actor.ts
 */
import { storeUnavailable } from '../storage/store-trouble.js';
import type { Commit } from '../store.js';
import type { ActorHost, CommitAnswer } from './actor-ports.js';
import type { Mail } from './message.js';
import type { StepResult } from './step-result.js';

/** How a write ended. */
export type WriteEnd =
  | { kind: 'written' }
  /** Nothing was written, and nothing will be: its caller was told so. */
  | { kind: 'refused' }
  /** The store holds something else than the commit builds on. */
  | { kind: 'conflict' }
  /** Another runtime may write, and this one may not. */
  | { kind: 'fenced'; epoch: number };

/** The actor whose commit it is. */
export interface Author {
  readonly address: string;
  /** Whether the actor takes nothing any more. */
  readonly stopped: boolean;
  /** @returns whether the store was suspected to lose what it confirms; the suspicion is over then */
  endDoubt(): boolean;
  /** Called when the store takes nothing now: it is asked again. */
  hold(cause: unknown): void;
}

/** How soon a commit that the store refused is sent again. */
const retryMs = 200;

export class Write {
  readonly step: StepResult;
  readonly #author: Author;
  readonly #host: ActorHost;
  readonly #ended: (end: WriteEnd) => void;
  #commit: Commit;
  /** The commit may have been written. */
  #isInDoubt = false;
  /** The commit is not on its way to the store now, and will be sent again. */
  #isWaiting = false;
  #isOver = false;

  /** @param ended called once, unless the write is withdrawn or this process ends first */
  constructor(
    author: Author,
    host: ActorHost,
    { step, commit }: { step: StepResult; commit: Commit },
    ended: (end: WriteEnd) => void,
  ) {
    this.step = step;
    this.#author = author;
    this.#host = host;
    this.#commit = commit;
    this.#ended = ended;
  }

  get commitId(): string {
    return this.#commit.commitId;
  }

  send(): void {
    this.#host.commit(this.#commit, (answer) => this.#answered(answer));
  }

  /** Ends the write unless its commit is on the way to the store now. @returns its mail if it has ended */
  withdraw(): Mail | undefined {
    if (!this.#isWaiting) return undefined;
    this.#isOver = true;
    return this.step.mail;
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
      this.send(); // a repeat shows whether the store still has the commit
    } else {
      this.#end({ kind: 'written' });
    }
  }

  /** Tells the caller that the outcome is unknown. The committer sends the commit again. */
  #unanswered(error: unknown): void {
    const { mail } = this.step;
    this.#isInDoubt = true;
    if (mail.kind === 'request') mail.reject(storeUnavailable(this.#author.address, 'unknown', error));
    this.#author.hold(error);
  }

  /** Nothing was written: a caller is told so. Everything else is sent again, as is a commit that may have been written before. */
  #refused(reason: string): void {
    const { mail } = this.step;
    if (this.#isInDoubt) {
      this.#unanswered(reason);
      this.#sendLater();
    } else if (mail.kind !== 'request') {
      this.#author.hold(reason);
      this.#sendLater();
    } else {
      mail.reject(storeUnavailable(this.#author.address, 'refused', reason));
      this.#end({ kind: 'refused' });
    }
  }

  /** The lease has a newer epoch: if that is ours by now, the commit is sent again under it. */
  #fenced({ epoch, owner }: { epoch: number; owner: string }): void {
    const isOurs = this.#host.claim().owner === owner;
    // While the lease is being asked for again, a later try tells.
    if (!this.#author.stopped && (isOurs || !this.#host.holdsLease())) this.#sendLater();
    else this.#end({ kind: 'fenced', epoch });
  }

  /** Sends it again after a pause, under the lease as it is by then. */
  #sendLater(): void {
    this.#isWaiting = true;
    this.#host.after(retryMs, () => {
      if (this.#isOver) return;
      this.#isWaiting = false;
      this.#commit = { ...this.#commit, epoch: this.#host.claim().epoch };
      this.send();
    });
  }
}
