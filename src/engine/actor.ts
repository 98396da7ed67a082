/**
 * One hosted actor: a mailbox, and for each mail one step, one commit, then its consequences. Never two at a time.
 * Nothing that a step asks for happens before its commit is done. The contract: docs/architecture.md#save-then-act
 */
import type { AnyEventObject, AnyMachineSnapshot, StateValue } from 'xstate';
import type { AnswerParams } from '../../machines/host.js';
import { messageOf, StagecraftError } from '../errors.js';
import { asData } from './data.js';
import type { ActorKind } from './effects.js';
import {
  type EntrySource,
  type Envelope,
  encode,
  encodeEnvelope,
  type JournalEntry,
  type LiveEffect,
  type LiveTimer,
  type Outbox,
} from './envelope.js';
import type { HostedMachine, Step } from './hosted-machine.js';
import type { ActorMessage } from './inbox.js';
import type { Commit, CommitResult, Encoded, StoredRecord } from './store.js';

/** What reaches an actor. */
export type Mail =
  | {
      kind: 'request';
      event: AnyEventObject;
      requestId?: string;
      resolve(value: unknown): void;
      reject(error: unknown): void;
    }
  | { kind: 'message'; message: ActorMessage; applied(): void }
  /** `ended`: the one result of the effect, not something that it sent on its way. */
  | { kind: 'effect'; id: string; seq: number; event: AnyEventObject; ended: boolean }
  | { kind: 'timer'; id: string; seq: number; event: AnyEventObject };

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
  stamp(): { at: number; random: number };
  /** Adds what only the engine knows and writes it; calls back once the outcome is known. */
  commit(commit: Omit<Commit, 'commitId' | 'epoch' | 'owner'>, outcome: CommitOutcome): void;
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

export interface CommitOutcome {
  settled(result: CommitResult): void;
  unavailable(error: unknown): void;
}

/** A step that was taken, but is not committed yet. */
interface Pending {
  mail: Mail;
  snapshot: AnyMachineSnapshot | undefined;
  envelope: Envelope;
  outbox: Outbox | undefined;
  answer: AnswerParams | undefined;
  entry: JournalEntry;
  /** All of it as text: what can't be written is a crash, before anything is. */
  written: { text: Encoded; journal: Encoded; outbox?: Encoded };
}

/** Repeated requests are answered from the record as long as this many others have not come since. */
const answersKept = 32;

export interface ActorOptions {
  address: string;
  kind: ActorKind;
  machine: HostedMachine;
  host: ActorHost;
}

export class Actor {
  readonly address: string;
  readonly #kind: ActorKind;
  readonly #machine: HostedMachine;
  readonly #host: ActorHost;
  #seq = 0;
  #snapshot: AnyMachineSnapshot | undefined;
  #envelope: Envelope;
  #mail: Mail[] = [];
  #state: 'loading' | 'ready' | 'committing' | 'stopped' = 'loading';
  #stopReason: StagecraftError | undefined;

  constructor({ address, kind, machine, host }: ActorOptions) {
    this.address = address;
    this.#kind = kind;
    this.#machine = machine;
    this.#host = host;
    this.#envelope = this.#emptyEnvelope({}, []);
  }

  get seq(): number {
    return this.#seq;
  }

  /** Whether it waits for its record. */
  get loading(): boolean {
    return this.#state === 'loading';
  }

  /** Whether it takes nothing any more. */
  get stopped(): boolean {
    return this.#state === 'stopped';
  }

  /** The committed snapshot; absent before it was begun and after it ended. */
  get snapshot(): AnyMachineSnapshot | undefined {
    return this.#snapshot;
  }

  /**
   * Takes up from what is stored; absent where nothing is. Call once; mail that came before is kept.
   * @throws Error if the snapshot fits no state of the machine; then nothing has changed
   */
  restore(record?: StoredRecord, envelope?: Envelope): void {
    const { name, version } = this.#machine;
    if (envelope?.snapshot) {
      if (envelope.machine !== name || envelope.version !== version) {
        throw new Error(`it is of ${envelope.machine} ${envelope.version}, known is ${name} ${version}`);
      }
      this.#snapshot = this.#machine.restore(envelope.snapshot);
    }
    // A tombstone may be of any version: who is made anew is of this one.
    if (envelope) this.#envelope = { ...envelope, machine: name, version };
    this.#seq = record?.seq ?? 0;
    this.#state = 'ready';
    for (const timer of this.#envelope.timers) this.#host.startTimer(this.address, timer);
    for (const effect of this.#envelope.effects) this.#host.startEffect(this.address, effect, true);
    this.#next();
  }

  /** Takes mail in order; what comes after `stop` is refused, and stays owed where its sender keeps it. */
  post(mail: Mail): void {
    if (this.#state === 'stopped') {
      this.#refuse(mail);
      return;
    }
    this.#mail.push(mail);
    this.#next();
  }

  /** Takes nothing any more. */
  stop(reason: StagecraftError): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    this.#stopReason = reason;
    for (const timer of this.#envelope.timers) this.#host.cancelTimer(this.address, timer);
    for (const effect of this.#envelope.effects) this.#host.cancelEffect(this.address, effect, reason);
    for (const mail of this.#mail.splice(0)) this.#refuse(mail);
  }

  #refuse(mail: Mail): void {
    if (mail.kind === 'request') mail.reject(this.#stopReason);
  }

  #next(): void {
    while (this.#state === 'ready') {
      const mail = this.#mail.shift();
      if (!mail) {
        if (!this.#snapshot) this.#host.idle(this.address);
        return;
      }
      this.#take(mail);
    }
  }

  #take(mail: Mail): void {
    if (this.#isRepeat(mail)) return;
    const pending = this.#isStale(mail) ? this.#stale(mail) : this.#step(mail);
    if (pending) this.#commit(pending);
  }

  /** True where it was applied before; then its sender is told so. */
  #isRepeat(mail: Mail): boolean {
    if (mail.kind === 'request') {
      const recorded = this.#envelope.answers.find(([requestId]) => requestId === mail.requestId);
      if (recorded) this.#answer(mail, recorded[1] ?? undefined);
      return recorded !== undefined;
    }
    if (mail.kind !== 'message') return false;
    const { address, seq, index } = mail.message.from;
    const [lastSeq, lastIndex] = this.#envelope.received[address] ?? [0, 0];
    const repeated = seq < lastSeq || (seq === lastSeq && index <= lastIndex);
    if (repeated) mail.applied();
    return repeated;
  }

  /** Whether nobody waits for this any more; XState itself would take it. */
  #isStale(mail: Mail): boolean {
    switch (mail.kind) {
      case 'request':
        return false;
      case 'message':
        return mail.message.input !== undefined && this.#snapshot !== undefined; // begun already
      case 'effect':
        return !this.#envelope.effects.some(({ id, seq }) => id === mail.id && seq === mail.seq);
      case 'timer':
        return !this.#envelope.timers.some(({ id, seq }) => id === mail.id && seq === mail.seq);
    }
  }

  #stale(mail: Mail): Pending {
    return this.#unmoved(mail, this.#entry(mail, 'stale'));
  }

  /** The mail counts as taken, the machine stays as it was. */
  #unmoved(mail: Mail, entry: JournalEntry, answer?: AnswerParams): Pending {
    return asWritten({ mail, snapshot: this.#snapshot, envelope: this.#applied(mail, answer), answer, entry });
  }

  /** Absent where there is nobody to take it. */
  #step(mail: Mail): Pending | undefined {
    const entry = this.#entry(mail, 'event');
    try {
      if (!this.#snapshot && !entry.input) {
        const input = this.#kind.begin?.(this.address);
        if (!input) return this.#nobody(mail);
        entry.input = asData(input);
      }
      return this.#after(mail, applyEntry(this.#machine, this.#snapshot, entry), entry);
    } catch (error) {
      const failure = { code: 'ACTOR_CRASHED', message: messageOf(error), final: true };
      return this.#unmoved(mail, { ...entry, kind: 'crash', error: failure.message }, { error: failure });
    }
  }

  #nobody(mail: Mail): undefined {
    if (mail.kind === 'message') mail.applied();
    if (mail.kind === 'request') {
      mail.reject(
        new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${this.address}`, { address: this.address }),
      );
    }
  }

  #entry(mail: Mail, kind: JournalEntry['kind']): JournalEntry {
    const stamp = this.#host.stamp();
    const entry: JournalEntry = {
      seq: this.#seq + 1,
      at: stamp.at,
      kind,
      machine: this.#machine.name,
      version: this.#machine.version,
      source: sourceOf(mail),
    };
    const { event, input } = mail.kind === 'message' ? mail.message : { event: mail.event, input: undefined };
    if (input) entry.input = input;
    if (event) entry.event = { ...event, ...stamp };
    return entry;
  }

  #after(mail: Mail, step: Step, entry: JournalEntry): Pending {
    const { seq } = entry;
    const owes = step.messages.length + step.emitted.length > 0;
    const outbox = owes ? { messages: step.messages, events: this.#broadcasts(step, entry.at) } : undefined;
    const answer = step.answer && asData(step.answer);
    const applied = this.#applied(mail, answer);
    if (isGone(step.snapshot)) {
      const tombstone = this.#emptyEnvelope(applied.received, applied.answers);
      return asWritten({ mail, snapshot: undefined, envelope: tombstone, outbox, answer, entry });
    }
    const envelope: Envelope = {
      ...applied,
      snapshot: this.#machine.persist(step.snapshot),
      effects: this.#effectsAfter(mail, step, seq),
      timers: this.#timersAfter(mail, step, entry),
    };
    return asWritten({ mail, snapshot: step.snapshot, envelope, outbox, answer, entry });
  }

  #broadcasts({ emitted }: Step, at: number): Outbox['events'] {
    if (emitted.length === 0) return [];
    const topic = this.#kind.topic?.(this.address);
    if (!topic) throw new Error(`${this.#machine.name} emits '${emitted[0]?.type}', but its kind has no topic`);
    return emitted.map((event) => ({ topic, event: { ...event, at } }));
  }

  /** An effect lives as long as its state is active; entered anew, it is another one. */
  #effectsAfter(mail: Mail, step: Step, seq: number): LiveEffect[] {
    const before = this.#envelope.effects;
    if (before.length === 0 && step.started.length === 0) return before;
    const active = this.#machine.activeInvokes(step.snapshot);
    // Where a state was entered twice, the last entry counts.
    const started = new Map(
      step.started.filter(({ id }) => active.has(id)).map((effect) => [effect.id, { ...effect, seq }]),
    );
    const ended = mail.kind === 'effect' && mail.ended ? mail.id : undefined;
    const kept = before.filter(({ id }) => active.has(id) && id !== ended && !started.has(id));
    return [...kept, ...started.values()];
  }

  #timersAfter(mail: Mail, step: Step, { seq, at }: JournalEntry): LiveTimer[] {
    const before = this.#envelope.timers;
    if (before.length === 0 && step.timers.length === 0) return before;
    const timers = new Map(withoutFired(before, mail).map((timer) => [timer.id, timer]));
    for (const [index, change] of step.timers.entries()) {
      if ('cancelled' in change) timers.delete(change.id);
      else {
        const id = change.id ?? `${seq}.${index}`;
        timers.set(id, { id, seq, dueAtMs: at + change.delayMs, event: change.event });
      }
    }
    return [...timers.values()];
  }

  /** The present envelope, with what this mail leaves behind in any case. */
  #applied(mail: Mail, answer?: AnswerParams): Envelope {
    const envelope = { ...this.#envelope };
    if (mail.kind === 'timer') envelope.timers = withoutFired(envelope.timers, mail);
    if (mail.kind === 'message') {
      const { address, seq, index } = mail.message.from;
      envelope.received = { ...envelope.received, [address]: [seq, index] };
    }
    if (mail.kind === 'request' && mail.requestId) {
      envelope.answers = [...envelope.answers.slice(1 - answersKept), [mail.requestId, answer ?? null]];
    }
    return envelope;
  }

  #emptyEnvelope(received: Envelope['received'], answers: Envelope['answers']): Envelope {
    return { machine: this.#machine.name, version: this.#machine.version, effects: [], timers: [], received, answers };
  }

  #commit(pending: Pending): void {
    this.#state = 'committing';
    const { envelope, written, mail } = pending;
    const wakeAtMs = envelope.timers.reduce((earliest, { dueAtMs }) => Math.min(earliest, dueAtMs), Infinity);
    this.#host.commit(
      {
        address: this.address,
        expectedSeq: this.#seq,
        ...written,
        ...(pending.snapshot ? {} : { gone: true }),
        ...(wakeAtMs < Infinity ? { wakeAtMs } : {}),
      },
      {
        settled: (result) => {
          if (result.status === 'done') return this.#act(pending);
          this.#host.conflicted(this.address, result);
          this.#refuse(mail);
        },
        unavailable: (error) => {
          if (mail.kind === 'request') mail.reject(storeUnavailable(this.address, error));
        },
      },
    );
  }

  /** The commit is done: from here on all that the step asked for happens. */
  #act({ mail, snapshot, envelope, outbox, answer, entry }: Pending): void {
    const before = this.#envelope;
    this.#seq = entry.seq;
    this.#snapshot = snapshot;
    this.#envelope = envelope;
    // A stop that came meanwhile has cancelled what was live before; what is live now starts after a restore.
    if (this.#state !== 'stopped') {
      this.#state = 'ready';
      this.#actOnTimers(before.timers, envelope.timers);
      this.#actOnEffects(before.effects, envelope.effects);
    }
    if (outbox) this.#host.deliver(this.address, entry.seq, outbox);
    if (mail.kind === 'message') mail.applied();
    if (mail.kind === 'request') this.#answer(mail, answer);
    this.#host.notify({
      address: this.address,
      seq: entry.seq,
      machine: this.#machine.name,
      entry,
      state: snapshot?.value,
      context: snapshot?.context,
    });
    this.#next();
  }

  #answer(request: Extract<Mail, { kind: 'request' }>, answer: AnswerParams | undefined): void {
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

const asWritten = (step: Omit<Pending, 'written' | 'outbox'> & { outbox?: Outbox | undefined }): Pending => ({
  ...step,
  outbox: step.outbox,
  written: {
    text: encodeEnvelope(step.envelope),
    journal: encode(step.entry),
    ...(step.outbox ? { outbox: encode(step.outbox) } : {}),
  },
});

/** A timer fires once, whatever its event leads to. */
const withoutFired = (timers: LiveTimer[], mail: Mail): LiveTimer[] =>
  mail.kind === 'timer' ? timers.filter(({ id, seq }) => id !== mail.id || seq !== mail.seq) : timers;

/** Whether an actor in this snapshot is deleted: its machine has ended, or is in a state tagged `absent`. */
export const isGone = (snapshot: AnyMachineSnapshot): boolean =>
  snapshot.status === 'done' || snapshot.hasTag('absent');

/** One journalled input, applied: the same function in life and in replay. Throws what the machine throws. */
export function applyEntry(
  machine: HostedMachine,
  snapshot: AnyMachineSnapshot | undefined,
  entry: JournalEntry,
): Step {
  const begun = entry.input ? machine.begin(entry.input) : undefined;
  const present = begun?.snapshot ?? snapshot;
  if (!present) throw new Error(`the entry ${entry.seq} finds no actor`);
  if (!entry.event) return begun ?? machine.step(present, { type: 'xstate.none' });
  const step = machine.step(present, entry.event);
  if (!begun) return step;
  return {
    ...step,
    started: [...begun.started, ...step.started],
    timers: [...begun.timers, ...step.timers],
    messages: [...begun.messages, ...step.messages],
    emitted: [...begun.emitted, ...step.emitted],
  };
}

function sourceOf(mail: Mail): EntrySource {
  switch (mail.kind) {
    case 'request':
      return mail.requestId ? { kind: 'request', requestId: mail.requestId } : { kind: 'request' };
    case 'message':
      return { kind: 'message', ...mail.message.from };
    default:
      return { kind: mail.kind, id: mail.id, seq: mail.seq };
  }
}

const storeUnavailable = (address: string, cause: unknown): StagecraftError =>
  new StagecraftError(
    'STORE_UNAVAILABLE',
    `the store gave no answer (${messageOf(cause)}); the change may have happened, and is tried until the store answers`,
    { address, outcome: 'unknown', cause },
  );
