/**
 * Writes a commit of an actor until the outcome is known: sends the same commit again for as long as that takes. What
 * follows from the outcome: actor.ts
 */
import type { StoreOutcome } from '../storage/store-patience.js';
import { storeUnavailable } from '../storage/store-trouble.js';
import type { Commit } from '../store.js';
import type { ActorHost, CommitAnswer } from './actor-ports.js';
import type { Message } from './message.js';
import { allSteps, type Steps } from './steps.js';

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

/** Pause before a refused commit is sent again. */
const retryMs = 200;

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
    this.#host.after(retryMs, () => {
      if (this.#isOver) return;
      this.#isWaiting = false;
      this.#commit = { ...this.#commit, epoch: this.#host.claim().epoch };
      this.send();
    });
  }
}
