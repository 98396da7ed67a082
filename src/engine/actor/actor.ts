/**
 * One hosted actor: a mailbox, and for each mail one commit, then its consequences. Never two at a time.
 * Nothing that a mail leads to happens before its commit is done. What it leads to: step.ts.
 * The contract: docs/architecture.md#save-then-act
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { AnswerParams } from '../../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { ActorMessage } from '../delivery/inbox.js';
import type { ActorKind } from '../effects/effects.js';
import { certain } from '../effects/in-doubt-calls.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import { type Failed, type Outcome, patienceMs } from '../storage/store-patience.js';
import { storeUnavailable } from '../storage/store-trouble.js';
import type { StoredRecord } from '../store.js';
import type { ActorHost, ActorPorts } from './actor-ports.js';
import { type ActorRecord, dueInMs, emptyRecord, type JournalEntry } from './actor-record.js';
import { verdictOn } from './commit-conflict.js';
import { commitOf } from './commit-of.js';
import type { Change } from './engine-changes.js';
import { adopted, restored } from './from-record.js';
import { LiveWork } from './live-work.js';
import type { Mail, Request } from './message.js';
import type { Departed } from './passivated-actors.js';
import { type Author, PendingCommit } from './pending-commit.js';
import { type ActorPolicy, forgettable } from './policy.js';
import { type ActorDefinition, type ActorState, type StepResult, stepActor } from './step.js';

type Phase =
  | 'loading'
  | 'ready'
  | 'committing'
  /** Whether the store still has what it took. */
  | 'verifying'
  | 'quarantined'
  | 'stopped';

/** Most actors have nothing to hold of most kinds: they share this. */
const none: readonly never[] = Object.freeze([]);

export class Actor implements Author, ActorDefinition {
  readonly address: string;
  readonly site: ActorPorts;
  readonly #mail: Mail[] = [];
  /** What the engine has to do to it before it takes mail. */
  #changes: readonly Change[] = none;
  #phase: Phase = 'loading';
  /** Who waits until it is in service, or known not to come into it. */
  #expecting: (() => void)[] | undefined;
  #state: ActorState;
  /** Of the record as it was written last. */
  #commitId = '';
  #bytes = 0;
  /** Effects up to this seq were begun by an earlier runtime. */
  #restoredSeq = 0;
  /** Whether it is in service: the timers and effects of its state have been started. */
  #isLive = false;
  /** These; absent where there never was one. */
  #live: LiveWork | undefined;
  /** Deleted long ago: its journal is being forgotten. */
  #isFading = false;
  #writing: PendingCommit | undefined;
  /** The store doesn't stepActor what is to be written: for a while requests wait, then they are refused. */
  #stall: { cause: unknown; isLong: boolean } | undefined;
  /** The store may have lost what it took: to be compared before anything else. */
  #isSuspect = false;
  /** Who waits until it is known that the store has the present state. */
  #verified: readonly (() => void)[] = none;
  #stopReason: StagecraftError | undefined;

  constructor(address: string, site: ActorPorts) {
    this.address = address;
    this.site = site;
    this.#state = { seq: 0, snapshot: undefined, envelope: emptyRecord(site.machine) };
  }

  get kind(): ActorKind {
    return this.site.kind;
  }

  get machine(): HostedMachine {
    return this.site.machine;
  }

  get policy(): ActorPolicy {
    return this.site.policy;
  }

  get #host(): ActorHost {
    return this.site.host;
  }

  get seq(): number {
    return this.#state.seq;
  }

  /** Whether it waits for its record. */
  get loading(): boolean {
    return this.#phase === 'loading';
  }

  /** Whether it takes nothing any more. */
  get stopped(): boolean {
    return this.#phase === 'stopped' || this.#phase === 'quarantined';
  }

  /** Why it takes nothing until it is released. */
  get quarantine(): string | undefined {
    return this.#phase === 'quarantined' ? this.#stopReason?.message : undefined;
  }

  /** The committed snapshot; absent before it was begun and after it ended. */
  get snapshot(): AnyMachineSnapshot | undefined {
    return this.#state.snapshot;
  }

  /** What its record takes, as text. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether nothing but a message or a timer can move it. */
  get isIdle(): boolean {
    return (
      this.#phase === 'ready' &&
      !this.#isSuspect &&
      this.#mail.length + this.#changes.length + this.#state.envelope.effects.length === 0
    );
  }

  /** Messages that have come and are not applied yet, oldest first. */
  get unread(): ActorMessage[] {
    if (!this.#writing && this.#mail.length === 0) return [];
    const unread = new Map<string, ActorMessage>();
    for (const mail of [this.#writing?.taken.mail, ...this.#mail]) {
      if (mail?.kind !== 'message' || this.#wasApplied(mail.message)) continue;
      const { address, seq, index } = mail.message.from;
      unread.set([seq, index, address].join(), mail.message); // one that was delivered twice counts once
    }
    return [...unread.values()];
  }

  /** When its next timer is due, in milliseconds since the epoch; Infinity: it has none. */
  wakeAtMs(nowMs: number): number {
    return nowMs + Math.min(...this.#state.envelope.timers.map((timer) => dueInMs(timer, nowMs)));
  }

  /**
   * Takes up from what is stored; absent where nothing is. Call once; mail that came before is kept.
   * @param released whether one that crashed too often is taken back into service
   * @throws Error if the snapshot fits no state of the machine; then nothing has changed
   */
  restore(record?: StoredRecord, envelope?: ActorRecord, released = false): void {
    if (record && envelope) {
      const { state, changes } = restored(this, record, { envelope, released });
      this.#state = state;
      this.#changes = changes;
      this.#commitId = record.commitId;
      this.#restoredSeq = record.seq;
      this.#bytes = record.text.length;
      const { doubts } = state.envelope;
      if (doubts) this.#host.doubt(this.address, doubts);
      if (envelope.quarantined && !released) {
        this.enterQuarantine(envelope.quarantined.reason);
        return;
      }
    }
    this.#phase = 'ready';
    this.#stall = undefined;
    if (
      record?.gone &&
      !envelope?.quarantined &&
      (record.wakeAtMs ?? Number.POSITIVE_INFINITY) <= this.#host.stamp().at
    )
      void this.#fade(record.seq);
    if (this.#changes.length === 0) this.#goLive();
    this.#next();
  }

  /** Takes up one that was deleted, and of which the store has lost that. */
  restoreDeleted(state: ActorState, commitId: string): void {
    this.#state = state;
    this.#commitId = commitId;
    this.#phase = 'ready';
    this.#isSuspect = true;
    this.#goLive();
    this.#next();
  }

  /** What is to be known of it when it is out of memory. */
  get departed(): Departed {
    const { address, seq } = this;
    const departed = { address, seq, commitId: this.#commitId };
    return this.snapshot ? departed : { ...departed, tombstone: this.#state };
  }

  /** Takes mail in order; what comes after `stop` is refused, and stays owed where its sender keeps it. */
  post(mail: Mail): void {
    if (this.#phase === 'stopped') {
      this.#refuse(mail);
    } else if (this.#phase === 'quarantined') {
      this.#keepMessage(mail);
    } else if (this.#stall?.isLong && mail.kind === 'request') {
      this.#refuseForNow(mail);
    } else {
      this.#mail.push(mail);
      this.#next();
    }
  }

  /** Whether it is in service, or known not to come into it. */
  get isReady(): boolean {
    return this.#isLive || this.stopped;
  }

  /** Resolves when it is. */
  ready(): Promise<void> {
    if (this.isReady) return Promise.resolve();
    return new Promise((resolve) => {
      this.#expecting ??= [];
      this.#expecting.push(resolve);
    });
  }

  /** Drops a request that nobody waits for any more. @param failed makes the error, by whether the change may be written */
  drop(request: Request, failed: Failed): void {
    const at = this.#mail.indexOf(request);
    if (at >= 0) this.#mail.splice(at, 1);
    request.reject(failed(at >= 0 ? this.#outcomeOf(request) : 'unknown'));
  }

  /** The store can't say now what it holds of this actor: requests are not kept waiting. */
  unreachable(error: unknown): void {
    this.hold(error);
  }

  /** Takes nothing any more. */
  stop(reason: StagecraftError): void {
    if (this.#phase === 'stopped') return;
    this.#end('stopped', reason);
    for (const mail of this.#mail.splice(0)) this.#refuse(mail);
    const unsent = this.#withdraw();
    if (unsent) this.#refuse(unsent);
  }

  /** Takes nothing until it is released; messages wait for that, requests are refused. */
  enterQuarantine(reason: string): void {
    if (this.stopped) return;
    const { address } = this;
    const message = `${address} is out of service: ${reason}; 'stagecraft actor release' takes it back`;
    this.#end('quarantined', new StagecraftError('ACTOR_QUARANTINED', message, { address }));
    for (const mail of this.#mail.splice(0)) this.#keepMessage(mail);
    this.#host.quarantined(address, reason);
  }

  /** Gives up its mail for another one that takes its place. */
  giveUp(): Mail[] {
    const unsent = this.#withdraw();
    const mail = [...(unsent && unsent.kind !== 'engine' ? [unsent] : []), ...this.#mail.splice(0)];
    const { address } = this;
    this.stop(new StagecraftError('ABORTED', `${address} is taken up again from its record`, { address }));
    return mail;
  }

  /** The store may have lost what it took: resolves when that is known, and made good where it can be. */
  verify(): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.#isSuspect = true;
    return new Promise((resolve) => {
      this.#verified = [...this.#verified, resolve];
      this.#next();
    });
  }

  endDoubt(): boolean {
    const isSuspect = this.#isSuspect;
    this.#isSuspect = false;
    return isSuspect;
  }

  written({ taken, commitId }: PendingCommit): void {
    this.#settled();
    this.#commitId = commitId;
    this.#act(taken);
  }

  refused(): void {
    this.#writing = undefined;
    if (this.stopped) return;
    this.#phase = 'ready';
    // Should the store have written it all the same, then what it asked for must be done.
    this.#isSuspect = true;
    this.#next();
  }

  conflicted(mail: Mail): void {
    this.#settled();
    this.#putBack(mail);
    if (this.stopped) for (const each of this.#mail.splice(0)) this.#refuse(each);
    else void this.#compare(true);
  }

  fenced(mail: Mail, epoch: number): void {
    this.#writing = undefined;
    if (!this.stopped) this.#host.fenced(this.address, epoch);
    this.#refuse(mail);
  }

  hold(cause: unknown): void {
    if (this.#stall) return;
    const stall = { cause, isLong: false };
    this.#stall = stall;
    this.#host.after(patienceMs, () => {
      if (this.#stall !== stall) return;
      stall.isLong = true;
      const mail = this.#mail.splice(0);
      for (const each of mail) {
        if (each.kind === 'request') this.#refuseForNow(each);
        else this.#mail.push(each);
      }
    });
  }

  #settled(): void {
    this.#stall = undefined;
    this.#writing = undefined;
  }

  #withdraw(): Mail | undefined {
    const mail = this.#writing?.withdraw();
    if (mail) this.#writing = undefined;
    return mail;
  }

  #end(phase: 'stopped' | 'quarantined', reason: StagecraftError): void {
    this.#phase = phase;
    this.#stopReason = reason;
    this.#tellVerified();
    this.#tellReady();
    const live = this.#live;
    this.#isLive = false;
    this.#live = undefined;
    live?.end(reason);
  }

  /** Messages wait for the release, but for those that were applied before. */
  #keepMessage(mail: Mail): void {
    if (mail.kind !== 'message') this.#refuse(mail);
    else if (!this.#isRepeat(mail)) this.#mail.push(mail);
  }

  #refuse(mail: Mail): void {
    if (mail.kind === 'request') mail.reject(this.#stopReason);
  }

  #refuseForNow(request: Request): void {
    request.reject(storeUnavailable(this.address, this.#outcomeOf(request), this.#stall?.cause));
  }

  /** Of a request that waits: a repeat of what may have been written is not known to have changed nothing. */
  #outcomeOf({ requestId }: Request): Outcome {
    const inDoubt = this.#writing?.taken.mail;
    const isRepeat = inDoubt?.kind === 'request' && inDoubt.requestId && inDoubt.requestId === requestId;
    return isRepeat ? 'unknown' : 'refused';
  }

  #next(): void {
    while (this.#phase === 'ready') {
      if (this.#isSuspect) {
        void this.#compare();
        return;
      }
      const mail = this.#nextMail();
      if (!mail) {
        if (!this.#isFading) this.#host.rested(this);
        return;
      }
      if (this.#isRepeat(mail)) continue;
      const taken = this.#stepActor(mail);
      if (taken) this.#commit(taken);
      else if (!this.stopped) this.#nobody(mail);
    }
  }

  /** What the machine throws is a crash; what a migration throws keeps the actor out of service. */
  #stepActor(mail: Mail): StepResult | undefined {
    try {
      this.#endDoubts();
      return stepActor(this, this.#state, mail, this.#host.stamp());
    } catch (error) {
      this.#putBack(mail);
      this.enterQuarantine(messageOf(error));
      return undefined;
    }
  }

  /** What is certain by now is written no more. */
  #endDoubts(): void {
    const { envelope } = this.#state;
    if (!envelope.doubts) return;
    const isUnderWay = (src: string): boolean => this.#host.isUnderWay(this.address, src);
    this.#state = { ...this.#state, envelope: certain(envelope, isUnderWay) };
  }

  /** Its journal goes first, then what reminds of it. */
  async #fade(seq: number): Promise<void> {
    this.#isFading = true;
    const isForgotten = await this.#host.forget(this.address, seq + 1);
    this.#isFading = false;
    if (isForgotten && this.seq === seq && !this.stopped)
      this.#changes = [...this.#changes, { kind: 'forgotten', seq }];
    this.#next();
  }

  #nextMail(): Mail | undefined {
    if (this.#changes.length === 0) return this.#mail.shift();
    const [change, ...others] = this.#changes;
    this.#changes = others;
    // It was made anew meanwhile.
    if (change?.kind === 'forgotten' && change.seq !== this.seq) return this.#nextMail();
    return change ? { kind: 'engine', change } : this.#mail.shift();
  }

  /** True where it was applied before; then its sender is told so. */
  #isRepeat(mail: Mail): boolean {
    const { answers } = this.#state.envelope;
    if (mail.kind === 'request') {
      const recorded = mail.requestId ? answers.find(([requestId]) => requestId === mail.requestId) : undefined;
      if (recorded) this.#answer(mail, recorded[1] ?? undefined);
      return recorded !== undefined;
    }
    if (mail.kind !== 'message') return false;
    const repeated = this.#wasApplied(mail.message);
    if (repeated) mail.applied();
    return repeated;
  }

  #wasApplied({ from: { address, seq, index } }: ActorMessage): boolean {
    const [lastSeq, lastIndex] = this.#state.envelope.received[address] ?? [0, 0];
    return seq < lastSeq || (seq === lastSeq && index <= lastIndex);
  }

  #nobody(mail: Mail): void {
    if (mail.kind === 'message') mail.applied();
    if (mail.kind !== 'request') return;
    const { address } = this;
    mail.reject(new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}`, { address }));
  }

  #commit(taken: StepResult): void {
    this.#phase = 'committing';
    const commit = commitOf(this, taken, this.#host.claim());
    this.#writing = new PendingCommit(this, this.#host, { taken, commit });
    this.#writing.send();
  }

  /** The commit is done: from here on all that it asked for happens. */
  #act({ mail, entry, next, outbox, answer, written }: StepResult): void {
    const before = this.#state.envelope;
    const { seq, envelope } = next;
    this.#bytes = written.text.length;
    this.#state = next;
    // A stop that came meanwhile has cancelled what was live before; what is live now starts after a restore.
    if (!this.stopped) {
      this.#phase = 'ready';
      if (!this.#isSuspect) this.#tellVerified();
      if (this.#isLive) this.#follow(before, envelope);
      else if (this.#changes.length === 0) this.#goLive();
    }
    if (outbox) this.#host.deliver(this.address, seq, outbox);
    if (mail.kind === 'message') mail.applied();
    if (mail.kind === 'request') this.#answer(mail, answer);
    // What the store went back to may be owed as well, though it was delivered.
    if (entry.kind === 'rolled-back') void this.#host.redeliver(this.address);
    this.#notify(entry);
    const below = forgettable(seq, this.site.policy.journal);
    if (below) void this.#host.forget(this.address, below);
    if (entry.kind === 'crash' && envelope.quarantined) this.enterQuarantine(envelope.quarantined.reason);
    this.#next();
  }

  #notify(entry: JournalEntry): void {
    const { address, seq, snapshot } = this;
    const { value: state, context } = snapshot ?? {};
    this.#host.notify({ address, seq, machine: this.site.machine.name, entry, state, context });
  }

  #answer(request: Request, answer: AnswerParams | undefined): void {
    if (answer && 'error' in answer) {
      request.reject(new StagecraftError(answer.error.code, answer.error.message, { address: this.address }));
    } else {
      request.resolve(answer?.value);
    }
  }

  #goLive(): void {
    this.#isLive = true;
    this.#tellReady();
    const { envelope } = this.#state;
    if (isBusy(envelope)) this.#liveWork().begin(envelope, this.#restoredSeq);
  }

  #follow(before: ActorRecord, after: ActorRecord): void {
    if (this.#live || isBusy(after)) this.#liveWork().change(before, after);
  }

  /** Most actors have no timer and no effect most of the time, many never. */
  #liveWork(): LiveWork {
    this.#live ??= new LiveWork(this.address, this.#host);
    return this.#live;
  }

  #putBack(mail: Mail): void {
    if (mail.kind === 'engine') this.#changes = [mail.change, ...this.#changes];
    else this.#mail.unshift(mail);
  }

  /** @param hasConflicted whether the store has refused a commit for what it holds */
  async #compare(hasConflicted = false): Promise<void> {
    this.#phase = 'verifying';
    // What is suspected from here on may not be in the answer.
    this.#isSuspect = false;
    const stored = await this.#host.load(this.address, (error) => this.hold(error));
    this.#stall = undefined;
    if (this.#phase === 'verifying') this.#reconcile(stored, hasConflicted);
  }

  #reconcile(stored: StoredRecord | undefined, hasConflicted: boolean): void {
    const { address, seq } = this;
    const storedSeq = stored?.seq ?? 0;
    const [lost] = this.#changes;
    // What was to be written again was refused for what is stored by now.
    const wasLost = lost?.kind === 'rolled-back' ? lost : undefined;
    if (wasLost) this.#changes = this.#changes.slice(1);
    const verdict = verdictOn(stored, { seq, commitId: this.#commitId }, this.#host.claim());
    if (verdict === 'fenced') {
      this.#host.fenced(address, stored?.epoch ?? 0);
    } else if (verdict === 'same' && (!hasConflicted || wasLost)) {
      if (!this.#isSuspect) this.#tellVerified();
      this.#goOn();
    } else if (verdict === 'behind' && !(hasConflicted && wasLost?.storedSeq === storedSeq)) {
      if (hasConflicted) this.#host.suspect(`it has lost what ${address} did after seq ${storedSeq}`);
      this.#changes = [{ kind: 'rolled-back', storedSeq, owed: this.#host.owed(address) }, ...this.#changes];
      this.#goOn();
    } else if (verdict === 'ahead' && stored) {
      void this.#adopt(stored);
    } else if (verdict === 'foreign' || verdict === 'same') {
      this.enterQuarantine(`the store holds seq ${storedSeq} of it, not ours after ${seq}`);
    } else {
      this.enterQuarantine('the store has a record of it that it can neither read nor replace');
    }
  }

  /** Goes on from a commit of ours that the store said, or seemed to say, was not written. */
  async #adopt(record: StoredRecord): Promise<void> {
    // Before anything that it sends from now on.
    await this.#host.redeliver(this.address);
    const entry = await this.#host.entry(this.address, record.seq);
    if (this.#phase !== 'verifying') return;
    try {
      const before = this.#state.envelope;
      this.#state = adopted(this.site, record);
      const { envelope } = this.#state;
      this.#commitId = record.commitId;
      this.#bytes = record.text.length;
      const due = this.#changes.filter(({ kind }) => kind === 'released' && envelope.quarantined);
      this.#changes = due;
      if (this.#isLive) this.#follow(before, envelope);
      else if (due.length === 0) this.#goLive();
      if (entry) this.#notify(entry);
      if (envelope.quarantined && due.length === 0) this.enterQuarantine(envelope.quarantined.reason);
    } catch (error) {
      this.enterQuarantine(`its record can't be read: ${messageOf(error)}`);
    }
    if (this.stopped) return;
    if (!this.#isSuspect) this.#tellVerified();
    this.#goOn();
  }

  #goOn(): void {
    this.#phase = 'ready';
    this.#next();
  }

  #tellReady(): void {
    for (const tell of this.#expecting ?? []) tell();
    this.#expecting = undefined;
  }

  #tellVerified(): void {
    const verified = this.#verified;
    this.#verified = none;
    for (const tell of verified) tell();
  }
}

const isBusy = ({ timers, effects }: ActorRecord): boolean => timers.length + effects.length > 0;
