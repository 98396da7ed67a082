/** Takes requests of other agents, while this one works on volumes, and answers them. */
import type { Clock } from '../engine/clock.js';
import type { Wire } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import type { MessageOutcome } from './message-counts.js';
import { type AgentMessage, type AgentRequest, answerText, type Cancel, errorData } from './messages.js';

/** A method that other agents may call. It rejects as its local callers know it. */
export type Method = (
  args: unknown[],
  wait: { signal: AbortSignal; from: string; onWait(reason: string | null): void },
) => Promise<unknown>;

interface RequestServerOptions {
  wire: Pick<Wire, 'post'>;
  clock: Clock;
  methods: ReadonlyMap<string, Method>;
  /** Epoch of the term in which this agent works on volumes; undefined: it does not. */
  epoch(): number | undefined;
}

interface Received {
  from: string;
  epoch: number;
  receivedMs: number;
  wait: AbortController;
}

/** An answer, kept for repeats. */
interface Answered {
  text: string;
  bytes: number;
  answeredMs: number;
}

/** A caller that has not repeated its request for so long does not wait any more. */
const silentMs = 30_000;
/** Answers are kept for so long: a request is repeated sooner. */
const keptMs = 30_000;
/** Answers that are kept, in all: the oldest ones go first. */
const mostBytes = 32 * 2 ** 20;
/** An older request is not received: its sender may have given up, and may have asked for the opposite elsewhere. */
const oldestMs = 10_000;
const sweepMs = 10_000;
/** Requests of one agent under way, at most: further ones are not received until they are repeated. */
const mostOfOne = 1_000;

/** Errors that only say that another agent is to be asked. */
const moves = new Set(['NOT_LEADER', 'FENCED', 'RUNTIME_CLOSED']);

export class RequestServer {
  readonly #options: RequestServerOptions;
  /** Requests under way. */
  readonly #received = new Map<string, Received>();
  /** By sender, how many. */
  readonly #ofSender = new Map<string, number>();
  readonly #answered = new Map<string, Answered>();
  #bytes = 0;
  #cancelSweep: (() => void) | undefined;

  constructor(options: RequestServerOptions) {
    this.#options = options;
  }

  /** @param ageMs the message was sent no longer ago than this */
  receive(message: AgentRequest | Cancel, ageMs: number): MessageOutcome {
    if (message.type === 'request') return this.#accept(message, ageMs);
    this.#received.get(message.id)?.wait.abort(gone);
    this.#forget(message.id);
    return 'accepted';
  }

  /** Ends what was received in the term that is over: the next owner is asked. */
  termOver(): void {
    for (const [id, { from, wait }] of this.#received) {
      wait.abort(over);
      this.#forget(id);
      this.#post(from, { type: 'moved', id });
    }
  }

  /** Ends all waits: the next owner is asked. */
  close(): void {
    this.#cancelSweep?.();
    for (const { wait } of this.#received.values()) wait.abort(gone);
    this.#received.clear();
    this.#ofSender.clear();
  }

  #accept({ from, id, epoch, method, args }: AgentRequest, ageMs: number): MessageOutcome {
    const isLate = ageMs > oldestMs;
    if (isLate || this.#options.epoch() !== epoch) {
      this.#post(from, { type: 'moved', id });
      return isLate ? 'late' : 'accepted';
    }
    const known = this.#received.get(id);
    const answered = this.#answered.get(id);
    if (known) known.receivedMs = this.#options.clock.monotonicMs();
    if (answered) this.#postText(from, answered.text);
    if (known || answered) return 'accepted';
    const own = this.#ofSender.get(from) ?? 0;
    if (own >= mostOfOne) return 'flooding';
    const receivedMs = this.#options.clock.monotonicMs();
    const received: Received = { from, epoch, receivedMs, wait: new AbortController() };
    this.#received.set(id, received);
    this.#ofSender.set(from, own + 1);
    this.#cancelSweep ??= this.#options.clock.after(sweepMs, () => this.#sweep());
    void this.#answer(id, received, { method, args });
    return 'accepted';
  }

  async #answer(
    id: string,
    received: Received,
    { method, args }: Pick<AgentRequest, 'method' | 'args'>,
  ): Promise<void> {
    const { from, epoch, wait } = received;
    const outcome = await this.#outcome(method, args, {
      ...{ signal: wait.signal, from },
      onWait: (reason) => {
        if (!wait.signal.aborted) this.#post(from, { type: 'waits', id, reason });
      },
    });
    if (this.#received.get(id) !== received) return;
    this.#forget(id);
    // A process that was frozen meanwhile may have answered from what it remembers.
    const answer = this.#options.epoch() === epoch ? outcome : 'moved';
    if (answer === 'moved') this.#post(from, { type: 'moved', id });
    else this.#keep({ type: 'answer', id, ...answer }, from);
  }

  #keep(message: Extract<AgentMessage, { type: 'answer' }>, from: string): void {
    const text = answerText(message);
    const bytes = Buffer.byteLength(text);
    this.#answered.set(message.id, { text, bytes, answeredMs: this.#options.clock.monotonicMs() });
    this.#bytes += bytes;
    for (const [id, answered] of this.#answered) {
      if (this.#bytes <= mostBytes) break;
      this.#drop(id, answered);
    }
    this.#postText(from, text);
  }

  #drop(id: string, { bytes }: Answered): void {
    this.#answered.delete(id);
    this.#bytes -= bytes;
  }

  #forget(id: string): void {
    const received = this.#received.get(id);
    if (!received) return;
    this.#received.delete(id);
    const left = (this.#ofSender.get(received.from) ?? 0) - 1;
    if (left > 0) this.#ofSender.set(received.from, left);
    else this.#ofSender.delete(received.from);
  }

  async #outcome(
    name: string,
    args: unknown[],
    wait: Parameters<Method>[1],
  ): Promise<{ value: unknown } | { error: ReturnType<typeof errorData> } | 'moved'> {
    const method = this.#options.methods.get(name);
    if (!method) {
      const message = `the agent that works on volumes has no method '${name}': update it`;
      return { error: errorData(new StagecraftError('INVALID_ARGUMENT', message)) };
    }
    try {
      return { value: await method(args, wait) };
    } catch (error) {
      return error instanceof StagecraftError && moves.has(error.code) ? 'moved' : { error: errorData(error) };
    }
  }

  #sweep(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [id, { receivedMs, wait }] of this.#received) {
      if (nowMs - receivedMs <= silentMs) continue;
      wait.abort(gone);
      this.#forget(id);
    }
    for (const [id, answered] of this.#answered) {
      if (nowMs - answered.answeredMs <= keptMs) break;
      this.#drop(id, answered);
    }
    const isIdle = this.#received.size + this.#answered.size === 0;
    this.#cancelSweep = isIdle ? undefined : this.#options.clock.after(sweepMs, () => this.#sweep());
  }

  #post(to: string, message: AgentMessage): void {
    this.#postText(to, answerText(message));
  }

  /** A message that is lost here is asked for again. */
  #postText(to: string, text: string): void {
    this.#options.wire.post(to, text).catch(() => {});
  }
}

const gone = new StagecraftError('ABORTED', 'the agent that asked does not wait any more');
const over = new StagecraftError('NOT_LEADER', 'another agent works on volumes now');
