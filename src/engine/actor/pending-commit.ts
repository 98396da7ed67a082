/**
 * One commit of an actor, until its outcome is known: the very same commit is sent again for as long as that takes.
 * What follows from the outcome is for the actor: actor.ts
 */

import { storeUnavailable } from '../storage/store-trouble.js';
import type { Commit, CommitResult } from '../store.js';
import type { ActorHost, CommitOutcome } from './actor-ports.js';
import type { Mail } from './message.js';
import type { StepResult } from './step.js';

/** Whose commit it is. */
export interface Author {
  readonly address: string;
  /** Whether it takes nothing any more. */
  readonly stopped: boolean;
  /** @returns whether there was any doubt that the store keeps what it says is done */
  endDoubt(): boolean;
  /** The store takes nothing now, and is asked again. */
  hold(cause: unknown): void;
  written(writing: PendingCommit): void;
  /** Nothing was written, and nothing will be. */
  refused(): void;
  /** The store holds something else than the commit builds on. */
  conflicted(mail: Mail): void;
  /** Another runtime may write, and we may not. */
  fenced(mail: Mail, epoch: number): void;
}

/** How soon what the store refused is tried again. */
const retryMs = 200;

export class PendingCommit implements CommitOutcome {
  readonly taken: StepResult;
  readonly #author: Author;
  readonly #host: ActorHost;
  #commit: Commit;
  /** It may have been written. */
  #isInDoubt = false;
  /** It is not on its way to the store now, but will be tried again. */
  #isWaiting = false;
  #isOver = false;

  constructor(author: Author, host: ActorHost, { taken, commit }: { taken: StepResult; commit: Commit }) {
    this.#author = author;
    this.#host = host;
    this.taken = taken;
    this.#commit = commit;
  }

  get commitId(): string {
    return this.#commit.commitId;
  }

  send(): void {
    this.#host.commit(this.#commit, this);
  }

  settled(result: CommitResult): void {
    if (this.#isOver) return;
    if (result.status === 'done') {
      this.#done();
    } else if (result.status === 'refused') {
      this.#refused(result.reason);
    } else if (result.status === 'fenced') {
      this.#fenced(result);
    } else {
      this.#isOver = true;
      this.#author.conflicted(this.taken.mail);
    }
  }

  unavailable(error: unknown): void {
    if (this.#isOver) return;
    const { mail } = this.taken;
    this.#isInDoubt = true;
    if (mail.kind === 'request') mail.reject(storeUnavailable(this.#author.address, 'unknown', error));
    this.#author.hold(error);
  }

  /** Ends it where it is not on its way to the store now. @returns its mail */
  withdraw(): Mail | undefined {
    if (!this.#isWaiting) return undefined;
    this.#isOver = true;
    return this.taken.mail;
  }

  #done(): void {
    if (this.#author.endDoubt()) {
      this.#isInDoubt = true;
      this.send(); // a repeat tells
      return;
    }
    this.#isOver = true;
    this.#author.written(this);
  }

  /** Nothing was written: a caller is told so, everything else is tried again, as what may have been written before. */
  #refused(reason: string): void {
    const { mail } = this.taken;
    if (this.#isInDoubt) {
      this.unavailable(reason);
      this.#sendLater();
    } else if (mail.kind !== 'request') {
      this.#author.hold(reason);
      this.#sendLater();
    } else {
      this.#isOver = true;
      mail.reject(storeUnavailable(this.#author.address, 'refused', reason));
      this.#author.refused();
    }
  }

  /** The lease has a newer epoch: if that is ours by now, it is written under that one. */
  #fenced({ epoch, owner }: { epoch: number; owner: string }): void {
    const isOurs = this.#host.claim().owner === owner;
    if (!this.#author.stopped && (isOurs || !this.#host.holdsLease())) {
      this.#sendLater(); // where it is being asked for again, that tells
      return;
    }
    this.#isOver = true;
    this.#author.fenced(this.taken.mail, epoch);
  }

  /** Under the lease as it is by then. */
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
