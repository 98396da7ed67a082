/** Port behind which an engine serves its actors. Implementation: actor-host.ts */
import type { StateValue } from 'xstate';
import type { StagecraftError } from '../../errors.js';
import type { Run } from '../effects/effect-runner.js';
import type { Feed } from '../feed.js';
import type { Commit, CommitResult, Encoded, StoredRecord } from '../store.js';
import type { Timer } from '../timer-heap.js';
import type { InDoubtCalls, JournalEntry, LiveEffect, LiveTimer, Outbox } from './actor-record.js';
import type { ActorDefinition, Stamp } from './step-result.js';

/** Sent to observers for each step, after its commit. */
export interface CommitNotice {
  address: string;
  seq: number;
  machine: string;
  entry: JournalEntry;
  state: StateValue | undefined;
  context: object | undefined;
  /** Broadcasts of the step. Absent: none, or not known, as the step was read from the store. */
  events?: Outbox['events'];
}

/** Services that an actor needs of its engine. */
export interface ActorHost {
  readonly feed: Feed;
  stamp(): Stamp;
  /** Id for one more commit, and the right to write it. */
  claim(): WriteToken;
  /** Whether the lease is known to be ours now. */
  holdsLease(): boolean;
  /** Epoch of the lease. */
  epoch(): number;
  /** Asks the store whether the lease is ours; resolves once it answers. */
  confirmsLease(): Promise<boolean>;
  /** Takes the lease, which is ours, at a higher epoch than this one. @throws {Error} if the store does not grant it */
  raiseLease(above: number): Promise<void>;
  /** Writes a commit. @param answered @see Committer.submit */
  commit(commit: Commit, answered: (answer: CommitAnswer) => void): void;
  /** Loads the stored record, repeated until the store answers. `failed` is called for each failure. */
  load(address: string, failed: (error: unknown) => void): Promise<StoredRecord | undefined>;
  after(delayMs: number, callback: () => void): void;
  /** Remembers calls that an earlier runtime may have left under way. */
  doubt(address: string, doubts: InDoubtCalls): void;
  /** Whether such a call, or a cancelled one, may still be under way. */
  isUnderWay(address: string, doubt: string): boolean;
  startEffect(address: string, live: LiveEffect, recovered: boolean): Run;
  /** @param reason given if the state was not simply left */
  cancelEffect(run: Run, reason?: StagecraftError): void;
  startTimer(address: string, timer: LiveTimer): Timer;
  cancelTimer(timer: Timer): void;
  /** @param events texts of the events, if they are known */
  deliver(address: string, seq: number, outbox: Outbox, events?: readonly Encoded[]): void;
  /** Messages and broadcasts that are not delivered yet. */
  owed(address: string): Outbox | undefined;
  /** Whether a message of this sender that was applied may come once more. */
  mayRepeat(sender: string): boolean;
  /** The journal entry of this seq, if it can be read. */
  entry(address: string, seq: number): Promise<JournalEntry | undefined>;
  /** Drops its journal entries below this seq; false where the store can't now. */
  forget(address: string, below: number): Promise<boolean>;
  notify(notice: CommitNotice): void;
  /** Another runtime has written what is ours. */
  fenced(address: string, epoch: number): void;
  /** The store seems to have lost writes, of others too. */
  suspect(reason: string): void;
  /** Delivers what the store says that this actor owes; tried until the store answers. */
  redeliver(address: string): Promise<void>;
  /** Called when an actor accepts nothing until it is released. */
  quarantined(address: string, reason: string): void;
  /** Called when the actor has nothing to do now. */
  rested(actor: { address: string }): void;
}

export type WriteToken = Required<Pick<Commit, 'commitId' | 'lease' | 'epoch' | 'owner'>>;

/** Answer of the store to a commit. `unanswered`: none yet; the same commit is sent again. */
export type CommitAnswer = CommitResult | { status: 'unanswered'; error: unknown };

/** Shared by all actors of one kind. */
export type ActorPorts = Omit<ActorDefinition, 'address'> & { host: ActorHost };
