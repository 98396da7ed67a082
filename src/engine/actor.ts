/**
 * One hosted actor: a mailbox, and for each mail one commit, then its consequences. Never two at a time.
 * Nothing that a mail leads to happens before its commit is done. What it leads to: take.ts.
 * The contract: docs/architecture.md#save-then-act
 */
import type { AnyMachineSnapshot, StateValue } from 'xstate';
import type { AnswerParams } from '../../machines/host.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { ActorKind } from './effects.js';
import {
  type Envelope,
  emptyEnvelope,
  type JournalEntry,
  type LiveEffect,
  type LiveTimer,
  type Outbox,
} from './envelope.js';
import type { HostedMachine } from './hosted-machine.js';
import type { Mail, Request } from './mail.js';
import type { Commit, CommitResult, StoredRecord } from './store.js';
import { type ActorState, type Stamp, type Taken, take } from './take.js';

/** Told to observers after each commit. */
export interface CommitNotice {
  address: string;
  seq: number;
  machine: string;
  entry: JournalEntry;
  state: StateValue | undefined;
  context: object | undefined;
}

/** What an actor needs of the engine. */
export interface ActorHost {
  stamp(): Stamp;
  /** A name for one more commit, and the right to write it. */
  claim(): Pick<Commit, 'commitId' | 'epoch' | 'owner'>;
  /** Writes it, and tells the outcome once it is known. */
  commit(commit: Commit, outcome: CommitOutcome): void;
  startEffect(address: string, live: LiveEffect, recovered: boolean): void;
  /** @param reason why, where it is not that its state was left */
  cancelEffect(address: string, live: LiveEffect, reason?: StagecraftError): void;
  startTimer(address: string, timer: LiveTimer): void;
  cancelTimer(address: string, timer: LiveTimer): void;
  deliver(address: string, seq: number, outbox: Outbox): void;
  notify(notice: CommitNotice): void;
  /** The store holds something else than this actor knows: it takes nothing any more. */
  conflicted(address: string, result: CommitResult): void;
  /** Nothing is left to do for this address: it may be dropped from memory. */
  idle(address: string): void;
}

/** Who waits for a commit. */
export interface CommitOutcome {
  settled(result: CommitResult): void;
  /** The store gave no answer; the same commit will be repeated. Called once. */
  unavailable(error: unknown): void;
}

export interface ActorOptions {
  address: string;
  kind: ActorKind;
  machine: HostedMachine;
  host: ActorHost;
}

export class Actor implements CommitOutcome {
  readonly address: string;
  readonly #options: ActorOptions;
  readonly #host: ActorHost;
  readonly #mail: Mail[] = [];
  #phase: 'loading' | 'ready' | 'committing' | 'stopped' = 'loading';
  #state: ActorState;
  /** What is being committed. */
  #taken: Taken | undefined;
  #stopReason: StagecraftError | undefined;

  constructor(options: ActorOptions) {
    this.address = options.address;
    this.#options = options;
    this.#host = options.host;
    this.#state = { seq: 0, snapshot: undefined, envelope: emptyEnvelope(options.machine) };
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
    return this.#phase === 'stopped';
  }

  /** The committed snapshot; absent before it was begun and after it ended. */
  get snapshot(): AnyMachineSnapshot | undefined {
    return this.#state.snapshot;
  }

  /**
   * Takes up from what is stored; absent where nothing is. Call once; mail that came before is kept.
   * @throws Error if the snapshot fits no state of the machine; then nothing has changed
   */
  restore(record?: StoredRecord, envelope?: Envelope): void {
    if (record && envelope) {
      const { name, version } = this.#options.machine;
      // A tombstone may be of any version: who is made anew is of this one.
      const present = { ...envelope, machine: name, version };
      this.#state = { seq: record.seq, snapshot: this.#snapshotOf(envelope), envelope: present };
    }
    this.#phase = 'ready';
    const { timers, effects } = this.#state.envelope;
    for (const timer of timers) this.#host.startTimer(this.address, timer);
    for (const effect of effects) this.#host.startEffect(this.address, effect, true);
    this.#next();
  }

  /** Takes mail in order; what comes after `stop` is refused, and stays owed where its sender keeps it. */
  post(mail: Mail): void {
    if (this.stopped) {
      this.#refuse(mail);
      return;
    }
    this.#mail.push(mail);
    this.#next();
  }

  /** Takes nothing any more. */
  stop(reason: StagecraftError): void {
    if (this.stopped) return;
    this.#phase = 'stopped';
    this.#stopReason = reason;
    const { timers, effects } = this.#state.envelope;
    for (const timer of timers) this.#host.cancelTimer(this.address, timer);
    for (const effect of effects) this.#host.cancelEffect(this.address, effect, reason);
    for (const mail of this.#mail.splice(0)) this.#refuse(mail);
  }

  settled(result: CommitResult): void {
    const taken = this.#taken;
    this.#taken = undefined;
    if (!taken) return;
    if (result.status === 'done') {
      this.#act(taken);
      return;
    }
    this.#host.conflicted(this.address, result);
    this.#refuse(taken.mail);
  }

  unavailable(error: unknown): void {
    const mail = this.#taken?.mail;
    if (mail?.kind === 'request') mail.reject(storeUnavailable(this.address, error));
  }

  #snapshotOf({ snapshot, version, machine }: Envelope): AnyMachineSnapshot | undefined {
    if (!snapshot) return undefined;
    const known = this.#options.machine;
    if (machine !== known.name || version !== known.version) {
      throw new Error(`it is of ${machine} ${version}, known is ${known.name} ${known.version}`);
    }
    return known.restore(snapshot);
  }

  #refuse(mail: Mail): void {
    if (mail.kind === 'request') mail.reject(this.#stopReason);
  }

  #next(): void {
    while (this.#phase === 'ready') {
      const mail = this.#mail.shift();
      if (!mail) {
        if (!this.snapshot) this.#host.idle(this.address);
        return;
      }
      if (this.#isRepeat(mail)) continue;
      const taken = take(this.#options, this.#state, mail, this.#host.stamp());
      if (taken) this.#commit(taken);
      else this.#nobody(mail);
    }
  }

  /** True where it was applied before; then its sender is told so. */
  #isRepeat(mail: Mail): boolean {
    const { answers, received } = this.#state.envelope;
    if (mail.kind === 'request') {
      const recorded = mail.requestId ? answers.find(([requestId]) => requestId === mail.requestId) : undefined;
      if (recorded) this.#answer(mail, recorded[1] ?? undefined);
      return recorded !== undefined;
    }
    if (mail.kind !== 'message') return false;
    const { address, seq, index } = mail.message.from;
    const [lastSeq, lastIndex] = received[address] ?? [0, 0];
    const repeated = seq < lastSeq || (seq === lastSeq && index <= lastIndex);
    if (repeated) mail.applied();
    return repeated;
  }

  #nobody(mail: Mail): void {
    if (mail.kind === 'message') mail.applied();
    if (mail.kind !== 'request') return;
    const { address } = this;
    mail.reject(new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}`, { address }));
  }

  #commit(taken: Taken): void {
    this.#phase = 'committing';
    this.#taken = taken;
    const { commitId, epoch, owner } = this.#host.claim();
    const { text, journal, outbox } = taken.written;
    const { address, seq: expectedSeq } = this;
    const commit: Commit = { address, commitId, expectedSeq, epoch, owner, text, journal };
    const { snapshot, envelope } = taken.next;
    if (!snapshot) commit.gone = true;
    if (outbox !== undefined) commit.outbox = outbox;
    if (envelope.timers.length > 0) commit.wakeAtMs = Math.min(...envelope.timers.map(({ dueAtMs }) => dueAtMs));
    this.#host.commit(commit, this);
  }

  /** The commit is done: from here on all that it asked for happens. */
  #act({ mail, entry, next, outbox, answer }: Taken): void {
    const before = this.#state.envelope;
    const { seq, snapshot, envelope } = next;
    this.#state = next;
    // A stop that came meanwhile has cancelled what was live before; what is live now starts after a restore.
    if (!this.stopped) {
      this.#phase = 'ready';
      this.#actOnTimers(before.timers, envelope.timers);
      this.#actOnEffects(before.effects, envelope.effects);
    }
    if (outbox) this.#host.deliver(this.address, seq, outbox);
    if (mail.kind === 'message') mail.applied();
    if (mail.kind === 'request') this.#answer(mail, answer);
    const machine = this.#options.machine.name;
    this.#host.notify({
      address: this.address,
      seq,
      machine,
      entry,
      state: snapshot?.value,
      context: snapshot?.context,
    });
    this.#next();
  }

  #answer(request: Request, answer: AnswerParams | undefined): void {
    if (answer && 'error' in answer) {
      request.reject(new StagecraftError(answer.error.code, answer.error.message, { address: this.address }));
    } else {
      request.resolve(answer?.value);
    }
  }

  #actOnTimers(before: LiveTimer[], after: LiveTimer[]): void {
    if (before === after) return;
    for (const timer of before) if (!after.includes(timer)) this.#host.cancelTimer(this.address, timer);
    for (const timer of after) if (!before.includes(timer)) this.#host.startTimer(this.address, timer);
  }

  #actOnEffects(before: LiveEffect[], after: LiveEffect[]): void {
    if (before === after) return;
    for (const effect of before) if (!after.includes(effect)) this.#host.cancelEffect(this.address, effect);
    for (const effect of after) if (!before.includes(effect)) this.#host.startEffect(this.address, effect, false);
  }
}

const storeUnavailable = (address: string, cause: unknown): StagecraftError =>
  new StagecraftError(
    'STORE_UNAVAILABLE',
    `the store gave no answer (${messageOf(cause)}); the change may have happened, and is tried until the store answers`,
    { address, outcome: 'unknown', cause },
  );
