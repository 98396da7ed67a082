/**
 * One hosted actor: handles its messages in order: commits the step that each leads to, and only then acts on it. Messages
 * that have waited for a commit share the next one: steps.ts. How a commit is written: committer.ts. The contract:
 * docs/architecture.md#save-then-act
 */
import type { AnyMachineSnapshot } from 'xstate';
import { messageOf, StagecraftError } from '../../errors.js';
import type { ActorWork } from '../actor-system.js';
import type { ActorMessage } from '../delivery/inbox.js';
import { type ActorKind, committedRefusal } from '../effects/effects.js';
import { certain } from '../effects/in-doubt-calls.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import { unreadable } from '../storage/pages.js';
import { type Failed, patienceMs, type StoreOutcome, storeUnavailable } from '../storage/store-patience.js';
import type { StoredRecord } from '../store.js';
import type { ActorHost, ActorPorts, CommitNotice } from './actor-ports.js';
import { type ActorRecord, dueInMs, emptyRecord, type JournalEntry, type Outbox } from './actor-record.js';
import { findingOn, laterEpoch } from './commit-conflict.js';
import { type Author, Write, type WriteEnd } from './committer.js';
import { adopted, restored } from './from-record.js';
import { LiveWork } from './live-work.js';
import { answer, isRepeated, Mailbox, type Message, neededMarks, type Request, refuse, unreadOf } from './message.js';
import type { Departed } from './passivation.js';
import { type ActorPolicy, forgettable } from './policy.js';
import { stepActor } from './step.js';
import type { ActorDefinition, ActorState, StepResult } from './step-result.js';
import { allSteps, commitOf, type Steps, stepsFrom } from './steps.js';

type Phase =
  /** Waits for its record. */
  | { name: 'loading' }
  | { name: 'ready' }
  | { name: 'committing'; write: Write }
  /** Asks the store whether it still has what was committed. */
  | { name: 'comparing' }
  /** Takes nothing more; quarantined: until it is released. `write` is on its way to the store still. */
  | { name: 'quarantined' | 'stopped'; reason: StagecraftError; write?: Write | undefined };

/** Shared by all actors: most are in one of these. */
const loading: Phase = { name: 'loading' };
const ready: Phase = { name: 'ready' };
const comparing: Phase = { name: 'comparing' };

export class Actor implements Author, ActorDefinition {
  readonly address: string;
  readonly site: ActorPorts;
  readonly #mailbox = new Mailbox();
  #phase: Phase = loading;
  #state: ActorState;
  /** Id of the last written commit. */
  #commitId = '';
  /** Length of the stored record. */
  #bytes = 0;
  /** Effects up to this seq were begun by an earlier runtime. */
  #restoredSeq = 0;
  /** Whether the actor is in service: the timers and effects of its state have been started. */
  #isLive = false;
  /** Started timers and effects; absent if there never was one. */
  #live: LiveWork | undefined;
  /** The journal of the deleted actor is being removed. */
  #isFading = false;
  /** The store does not take the commit: requests wait for a while, then they are refused. */
  #stall: { cause: unknown; isLong: boolean } | undefined;
  /** The store may have lost what it confirmed: that is looked into before the next message. */
  #isSuspect = false;
  /** Called once the actor is in service, or will not be. */
  #expecting: (() => void)[] | undefined;
  /** Called once the store is known to have the present state. */
  #verified: readonly (() => void)[] = [];

  constructor(address: string, site: ActorPorts) {
    this.address = address;
    this.site = site;
    this.#state = { seq: 0, snapshot: undefined, record: emptyRecord(site.machine) };
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

  /** Moment of the last commit; undefined: not known. */
  get at(): number | undefined {
    return this.#state.record.at;
  }

  /** Whether the actor waits for its record. */
  get loading(): boolean {
    return this.#phase.name === 'loading';
  }

  /** Whether the actor takes nothing any more. */
  get stopped(): boolean {
    return this.#phase.name === 'stopped' || this.#phase.name === 'quarantined';
  }

  /** Why the actor takes nothing until it is released. */
  get quarantine(): string | undefined {
    return this.#phase.name === 'quarantined' ? this.#phase.reason.message : undefined;
  }

  /** The committed snapshot; absent before the actor was begun and after it ended. */
  get snapshot(): AnyMachineSnapshot | undefined {
    return this.#state.snapshot;
  }

  /** Length of the stored record, in characters. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether only a message, a request or a timer can change the actor. */
  get isIdle(): boolean {
    return (
      this.#phase === ready && !this.#isSuspect && this.#mailbox.isEmpty && this.#state.record.effects.length === 0
    );
  }

  /** Messages that have come and are not applied yet, oldest first. */
  get unread(): ActorMessage[] {
    return unreadOf(this.#state.record, [...(this.#write?.messages ?? []), ...this.#mailbox.messages]);
  }

  /** Number of messages that wait for it. */
  get queued(): number {
    return this.#mailbox.messages.length;
  }

  /** Effects and timers that its state asks for. */
  get work(): ActorWork {
    const { effects, timers } = this.#state.record;
    return {
      effects: effects.map((effect) => {
        const sentAtMs = this.#live?.sentAtMs(effect);
        return sentAtMs === undefined ? effect : { ...effect, sentAtMs };
      }),
      timers,
    };
  }

  /** When the next timer is due, in milliseconds since the epoch; Infinity without timers. */
  wakeAtMs(nowMs: number): number {
    return nowMs + Math.min(...this.#state.record.timers.map((timer) => dueInMs(timer, nowMs)));
  }

  /** Data that this runtime keeps of the actor when it leaves memory. */
  get departed(): Departed {
    const { address, seq } = this;
    const departed = { address, seq, commitId: this.#commitId };
    return this.snapshot ? departed : { ...departed, tombstone: this.#state };
  }

  /**
   * Starts from the stored record, or anew without one. Call it once; messages that came before are kept.
   * @param released whether an actor that crashed too often is taken back into service
   * @throws Error if the snapshot fits no state of the machine; then nothing has changed
   */
  restore(stored?: StoredRecord, record?: ActorRecord, released = false): void {
    if (stored && record) {
      const { state, changes } = restored(this, stored.seq, { record, released });
      this.#state = state;
      this.#mailbox.changes = changes;
      this.#commitId = stored.commitId;
      this.#restoredSeq = stored.seq;
      this.#bytes = stored.text.length;
      const { name: machine, version } = this.machine;
      if (state.snapshot) this.#host.feed.actor(this.address, 'loaded', { machine, version });
      const { doubts } = state.record;
      if (doubts) this.#host.doubt(this.address, doubts);
      if (record.quarantined && !released) {
        this.enterQuarantine(record.quarantined.reason);
        return;
      }
    }
    this.#phase = ready;
    this.#stall = undefined;
    const { wakeAtMs = Number.POSITIVE_INFINITY, gone = false } = stored ?? {};
    if (stored && gone && !record?.quarantined && wakeAtMs <= this.#host.stamp().at) void this.#fade(stored.seq);
    if (this.#mailbox.changes.length === 0) this.#goLive();
    this.#next();
  }

  /** Starts from the tombstone of a deleted actor whose deletion the store has lost. */
  restoreDeleted(state: ActorState, commitId: string): void {
    this.#state = state;
    this.#commitId = commitId;
    this.#phase = ready;
    this.#isSuspect = true;
    this.#goLive();
    this.#next();
  }

  /** Queues a message. After `stop` requests are refused; what another actor sent stays in its outbox. */
  post(message: Message): void {
    if (this.#phase.name === 'stopped') refuse(message, this.#phase.reason);
    else if (this.#phase.name === 'quarantined') this.#keepMessage(message);
    else if (this.#stall?.isLong && message.kind === 'request') this.#refuseForNow(message);
    else {
      this.#mailbox.post(message);
      this.#next();
    }
  }

  /** Whether the actor is in service, or will not be. */
  get isReady(): boolean {
    return this.#isLive || this.stopped;
  }

  /** Resolves when `isReady` holds. */
  ready(): Promise<void> {
    if (this.isReady) return Promise.resolve();
    return new Promise((resolve) => {
      this.#expecting ??= [];
      this.#expecting.push(resolve);
    });
  }

  /** Drops a request whose caller waits no longer. @param failed makes the error, by whether the change may be written */
  drop(request: Request, failed: Failed): void {
    request.reject(failed(this.#mailbox.remove(request) ? this.#outcomeOf(request) : 'unknown'));
  }

  /** Called when the store can't say now what it holds of this actor: requests are not kept waiting. */
  unreachable(error: unknown): void {
    this.hold(error);
  }

  /** Takes nothing any more. */
  stop(reason: StagecraftError): void {
    if (this.#phase.name === 'stopped') return;
    this.#end('stopped', reason);
    for (const message of [...this.#mailbox.takeAll(), ...this.#withdraw()]) refuse(message, reason);
  }

  /** Takes nothing until it is released: messages wait for that, requests are refused. */
  enterQuarantine(why: string): void {
    if (this.stopped) return;
    const { address } = this;
    const message = `${address} is out of service: ${why}; 'stagecraft actor release' takes it back`;
    this.#end('quarantined', new StagecraftError('ACTOR_QUARANTINED', message, { address }));
    for (const message of this.#mailbox.takeAll()) this.#keepMessage(message);
    this.#host.quarantined(address, why);
  }

  /** Stops in favour of another actor at the same address. @returns its messages, for that one */
  giveUp(): Message[] {
    const unsent = this.#withdraw().filter(({ kind }) => kind !== 'engine');
    const messages = [...unsent, ...this.#mailbox.takeAll()];
    const { address } = this;
    this.stop(new StagecraftError('ABORTED', `${address} is loaded again from its record`, { address }));
    return messages;
  }

  /** Called when the store may have lost what it confirmed. Resolves when that is known, and mended where it can be. */
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

  hold(cause: unknown): void {
    if (this.#stall) return;
    const stall = { cause, isLong: false };
    this.#stall = stall;
    this.#host.after(patienceMs, () => {
      if (this.#stall !== stall) return;
      stall.isLong = true;
      for (const request of this.#mailbox.takeAll('request')) this.#refuseForNow(request);
    });
  }

  get #write(): Write | undefined {
    return 'write' in this.#phase ? this.#phase.write : undefined;
  }

  #withdraw(): Message[] {
    const messages = this.#write?.withdraw();
    if (messages) this.#forgetWrite();
    return messages ?? [];
  }

  /** The write is over. An actor that was stopped meanwhile stays so. */
  #forgetWrite(): void {
    this.#phase = 'reason' in this.#phase ? { ...this.#phase, write: undefined } : ready;
  }

  #end(name: 'stopped' | 'quarantined', reason: StagecraftError): void {
    this.#phase = { name, reason, write: this.#write };
    this.#resolveVerified();
    this.#resolveReady();
    const live = this.#live;
    this.#isLive = false;
    this.#live = undefined;
    live?.end(reason);
  }

  /** Keeps a message until the release, unless it was applied before. */
  #keepMessage(message: Message): void {
    if (message.kind !== 'message') refuse(message, 'reason' in this.#phase ? this.#phase.reason : undefined);
    else if (!this.#isRepeat(message)) this.#mailbox.post(message);
  }

  #refuseForNow(request: Request): void {
    request.reject(storeUnavailable(this.address, this.#outcomeOf(request), this.#stall?.cause));
  }

  /** Outcome of a waiting request: unknown if it repeats one whose commit may have been written. */
  #outcomeOf({ requestId }: Request): StoreOutcome {
    const inDoubt = requestId ? (this.#write?.messages ?? []) : [];
    const isRepeat = inDoubt.some((message) => message.kind === 'request' && message.requestId === requestId);
    return isRepeat ? 'unknown' : 'refused';
  }

  #next(): void {
    while (this.#phase === ready) {
      if (this.#isSuspect) {
        void this.#compare();
        return;
      }
      const message = this.#mailbox.next(this.seq);
      if (!message) {
        if (!this.#isFading) this.#host.rested(this);
        return;
      }
      if (this.#isRepeat(message) || this.#isRefused(message)) continue;
      const step = this.#step(message);
      if (step) this.#commit(step);
      else if (!this.stopped) this.#refuseAbsent(message);
    }
  }

  /** An error of the machine is a crash, which is a step. An error of a migration quarantines the actor. */
  #step(message: Message): StepResult | undefined {
    try {
      this.#endDoubts();
      const stamp = this.#host.stamp();
      this.#forgetMarks(message, stamp.at);
      return stepActor(this, this.#state, message, stamp);
    } catch (error) {
      this.#mailbox.putBack(message);
      this.enterQuarantine(messageOf(error));
      return undefined;
    }
  }

  /** Calls in doubt that are certain by now are left out of the next record. */
  #endDoubts(): void {
    const { record } = this.#state;
    if (!record.doubts) return;
    const isUnderWay = (doubt: string): boolean => this.#host.isUnderWay(this.address, doubt);
    this.#state = { ...this.#state, record: certain(record, isUnderWay) };
  }

  /** Leaves marks that nothing needs any more out of the next record: each new sender adds one. */
  #forgetMarks(message: Message, atMs: number): void {
    const { record } = this.#state;
    if (message.kind !== 'message' || message.sent.from.address in record.received) return;
    const { marksKeptMs: keptMs } = this.policy;
    const received = neededMarks(record.received, {
      atMs,
      keptMs,
      mayRepeat: (sender) => this.#host.mayRepeat(sender),
    });
    if (received !== record.received) this.#state = { ...this.#state, record: { ...record, received } };
  }

  /** Removes the journal of a deleted actor, then its reminder. */
  async #fade(seq: number): Promise<void> {
    this.#isFading = true;
    const isForgotten = await this.#host.forget(this.address, seq + 1);
    this.#isFading = false;
    if (isForgotten && this.seq === seq && !this.stopped)
      this.#mailbox.changes = [...this.#mailbox.changes, { kind: 'forgotten', seq }];
    this.#next();
  }

  /** Answers a message that was applied before. @returns whether it was */
  #isRepeat(message: Message): boolean {
    const { record } = this.#state;
    if (!isRepeated(record, message)) return false;
    if (message.kind === 'message') message.applied();
    if (message.kind === 'request') {
      const recorded = record.answers.find(([id]) => id === message.requestId);
      answer(message, this.address, recorded?.[1] ?? undefined);
    }
    return true;
  }

  /** Answers a request that the committed state refuses: there is nothing to write. @returns whether it does */
  #isRefused(message: Message): boolean {
    const { snapshot } = this.#state;
    // Once the lease has lapsed another runtime may have changed the actor: a commit shows that.
    if (message.kind !== 'request' || !snapshot || !this.#host.holdsLease()) return false;
    const error = committedRefusal(this.kind, snapshot, message.event);
    if (error) answer(message, this.address, { error });
    return error !== undefined;
  }

  #refuseAbsent(message: Message): void {
    const { address } = this;
    if (message.kind === 'message') message.applied();
    refuse(message, new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}`, { address }));
  }

  #commit(first: StepResult): void {
    const steps = stepsFrom(this, first, this.#mailbox, () => this.#host.stamp());
    const commit = commitOf(this, steps, this.#host.claim());
    const write: Write = new Write(this, this.#host, { steps, commit }, (end) => this.#ended(write, end));
    this.#phase = { name: 'committing', write };
    write.send();
  }

  #ended(write: Write, end: WriteEnd): void {
    this.#forgetWrite();
    if (end.kind === 'written' || end.kind === 'conflict') this.#stall = undefined;
    if (end.kind === 'written') {
      this.#commitId = write.commitId;
      this.#act(write.steps);
    } else if (end.kind === 'fenced') {
      if (!this.stopped) this.#host.fenced(this.address, end.epoch);
      for (const message of write.messages) refuse(message, 'reason' in this.#phase ? this.#phase.reason : undefined);
    } else if (end.kind === 'conflict') {
      this.#takeBack(write.messages);
      if (!this.stopped) void this.#compare({ hasConflicted: true });
    } else {
      this.#takeBack(write.messages.filter(({ kind }) => kind !== 'request'));
      // If the store has written the refused commit all the same, its effects must run.
      if (!this.stopped) void this.#compare({ refused: write });
    }
  }

  /** Makes messages whose commit was not written the next ones again. An actor out of service keeps only those of other actors. */
  #takeBack(messages: Message[]): void {
    const reason = 'reason' in this.#phase ? this.#phase.reason : undefined;
    for (const message of messages.toReversed())
      if (reason && message.kind !== 'message') refuse(message, reason);
      else this.#mailbox.putBack(message);
  }

  /** Acts on a commit that was written although the store has refused it. */
  #actAfterAll(refused: Write): void {
    for (const message of refused.messages) this.#mailbox.remove(message);
    this.#phase = ready;
    this.#commitId = refused.commitId;
    this.#act(refused.steps);
  }

  /** Does what the written steps asked for. What an earlier one began and a later one ended is not begun. */
  #act(steps: Steps): void {
    const { last, outbox } = steps;
    const all = allSteps(steps);
    const before = this.#state;
    const { seq, record } = last.next;
    this.#bytes = last.written.text.length;
    for (const step of all) {
      const previous = this.#state;
      this.#state = step.next;
      this.#showCommit(step.entry, previous, step.outbox);
    }
    // A stop that came meanwhile has ended timers and effects; a later restore starts them again.
    if (!this.stopped) {
      if (!this.#isSuspect) this.#resolveVerified();
      if (this.#isLive) this.#follow(before.record, record);
      else if (this.#mailbox.changes.length === 0) this.#goLive();
    }
    if (outbox) this.#host.deliver(this.address, seq, outbox.owed, outbox.events);
    for (const step of all) this.#handled(step);
    // Messages of the lost commits may be owed again, though they were delivered.
    if (last.entry.kind === 'rolled-back') void this.#host.redeliver(this.address);
    if (last.entry.kind === 'crash' && record.quarantined) this.enterQuarantine(record.quarantined.reason);
    this.#next();
  }

  /** Tells all who wait for a written step. */
  #handled({ message, entry, next, outbox, answer: given }: StepResult): void {
    if (message.kind === 'message') message.applied();
    if (message.kind === 'request') answer(message, this.address, given);
    this.#notify(entry, next, outbox?.events);
    const below = forgettable(next.seq, this.site.policy.journal);
    if (below) void this.#host.forget(this.address, below);
  }

  #notify(entry: JournalEntry, { seq, snapshot }: ActorState, events?: Outbox['events']): void {
    const { address } = this;
    const { value: state, context } = snapshot ?? {};
    const notice: CommitNotice = { address, seq, machine: this.site.machine.name, entry, state, context };
    if (events) notice.events = events;
    this.#host.notify(notice);
  }

  #showCommit(entry: JournalEntry, before: ActorState, outbox?: Outbox): void {
    const { feed } = this.#host;
    if (feed.isWatched) feed.committed(this, { entry, before, after: this.#state, outbox });
  }

  #goLive(): void {
    this.#isLive = true;
    this.#resolveReady();
    const { record } = this.#state;
    if (isBusy(record)) this.#liveWork().begin(record, this.#restoredSeq);
  }

  #follow(before: ActorRecord, after: ActorRecord): void {
    if (this.#live || isBusy(after)) this.#liveWork().change(before, after);
  }

  /** Made late: most actors have no timer and no effect most of the time, many never. */
  #liveWork(): LiveWork {
    this.#live ??= new LiveWork(this.address, this.#host);
    return this.#live;
  }

  /** Compares the committed state with the store. */
  async #compare(after: Doubt = {}): Promise<void> {
    this.#phase = comparing;
    // A suspicion from here on concerns later writes than this answer.
    this.#isSuspect = false;
    const stored = await this.#host.load(this.address, (error) => this.hold(error));
    this.#stall = undefined;
    if (this.#phase === comparing) this.#reconcile(stored, after);
  }

  #reconcile(stored: StoredRecord | undefined, { hasConflicted = false, refused }: Doubt): void {
    const { address, seq } = this;
    const [first, ...others] = this.#mailbox.changes;
    // A change that writes lost state again was refused for what is stored by now.
    const retried = first?.kind === 'rolled-back' ? first : undefined;
    if (retried) this.#mailbox.changes = others;
    const known = { seq, commitId: this.#commitId };
    const finding = findingOn(stored, known, this.#host.claim(), { hasConflicted, retriedSeq: retried?.storedSeq });
    switch (finding.kind) {
      case 'same':
        if (!this.#isSuspect) this.#resolveVerified();
        this.#goOn();
        break;
      case 'lost': {
        const { storedSeq } = finding;
        if (hasConflicted) this.#host.suspect(`it has lost what ${address} did after seq ${storedSeq}`);
        const change = { kind: 'rolled-back', storedSeq, owed: this.#host.owed(address) } as const;
        this.#mailbox.changes = [change, ...this.#mailbox.changes];
        this.#goOn();
        break;
      }
      case 'ahead':
        if (refused?.commitId === finding.record.commitId) this.#actAfterAll(refused);
        else void this.#adopt(finding.record);
        break;
      case 'fenced':
        void this.#judge(finding.epoch);
        break;
      case 'broken':
        this.enterQuarantine(finding.why);
        break;
    }
  }

  /**
   * Asks for the lease where the record has the epoch of another holder: a record of a later epoch than the lease itself, which
   * is ours, was written by nobody. It is damaged, and must not end the work of all others.
   */
  async #judge(epoch: number): Promise<void> {
    const isOurs = epoch > this.#host.epoch() && (await this.#host.confirmsLease());
    if (this.#phase !== comparing) return;
    if (isOurs && epoch > this.#host.epoch()) this.enterQuarantine(laterEpoch(epoch, this.#host.epoch()));
    else this.#host.fenced(this.address, epoch);
  }

  /** Goes on from a commit of ours that was written although the store said, or seemed to say, it was not. */
  async #adopt(stored: StoredRecord): Promise<void> {
    // Before anything that the actor sends from now on.
    await this.#host.redeliver(this.address);
    const entry = await this.#host.entry(this.address, stored.seq);
    if (this.#phase !== comparing) return;
    try {
      const before = this.#state;
      this.#state = adopted(this.site, stored);
      if (entry) this.#showCommit(entry, before);
      const { record } = this.#state;
      this.#commitId = stored.commitId;
      this.#bytes = stored.text.length;
      const due = this.#mailbox.changes.filter(({ kind }) => kind === 'released' && record.quarantined);
      this.#mailbox.changes = due;
      if (this.#isLive) this.#follow(before.record, record);
      else if (due.length === 0) this.#goLive();
      if (entry) this.#notify(entry, this.#state);
      if (record.quarantined && due.length === 0) this.enterQuarantine(record.quarantined.reason);
    } catch (error) {
      this.enterQuarantine(unreadable(error));
    }
    if (this.stopped) return;
    if (!this.#isSuspect) this.#resolveVerified();
    this.#goOn();
  }

  #goOn(): void {
    this.#phase = ready;
    this.#next();
  }

  #resolveReady(): void {
    for (const resolve of this.#expecting ?? []) resolve();
    this.#expecting = undefined;
  }

  #resolveVerified(): void {
    const verified = this.#verified;
    this.#verified = [];
    for (const resolve of verified) resolve();
  }
}

/** Reason to ask the store what it holds of the actor. */
interface Doubt {
  /** True: the store has refused a commit because of the record that it holds. */
  hasConflicted?: boolean;
  /** Write that the store has refused, maybe wrongly. */
  refused?: Write;
}

const isBusy = ({ timers, effects }: ActorRecord): boolean => timers.length + effects.length > 0;
