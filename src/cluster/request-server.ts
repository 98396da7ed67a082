/** Takes requests of other agents, while this one works on volumes, and answers them. */
import type { Clock } from '../engine/clock.js';
import type { Wire } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import type { MessageOutcome } from './message-counts.js';
import { type Cancel, errorData, type Message, type Request, textOf } from './messages.js';

/** A method that other agents may call. It rejects as its local callers know it. */
export type Method = (
  args: unknown[],
  wait: { signal: AbortSignal; from: string; onWait(reason: string | null): void },
) => Promise<unknown>;

export interface RequestServerOptions {
  wire: Pick<Wire, 'post'>;
  clock: Clock;
  methods: ReadonlyMap<string, Method>;
  /** Why this agent does not work on volumes; undefined: it does. */
  refusal(): StagecraftError | undefined;
}

interface Received {
  from: string;
  receivedMs: number;
  wait: AbortController;
  /** The answer, kept for repeats. */
  answer?: Message;
  answeredMs?: number;
}

/** A caller that has not repeated its request for so long does not wait any more. */
const silentMs = 30_000;
/** Answers are kept for so long. */
const keptMs = 60_000;
const sweepMs = 10_000;
/** Requests of one agent under way, at most: further ones are not received until they are repeated. */
const mostOfOne = 1_000;

/** Errors that only say that another agent is to be asked. */
const moves = new Set(['NOT_LEADER', 'FENCED', 'RUNTIME_CLOSED']);

export class RequestServer {
  readonly #options: RequestServerOptions;
  readonly #received = new Map<string, Received>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: RequestServerOptions) {
    this.#options = options;
  }

  receive(message: Request | Cancel): MessageOutcome {
    const { id } = message;
    if (message.type === 'request') return this.#accept(message);
    this.#received.get(id)?.wait.abort(gone);
    this.#received.delete(id);
    return 'accepted';
  }

  /** Ends all waits: the next owner is asked. */
  close(): void {
    this.#cancelSweep?.();
    for (const { wait } of this.#received.values()) wait.abort(gone);
    this.#received.clear();
  }

  #accept({ from, id, method, args }: Request): 'accepted' | 'flooding' {
    if (this.#options.refusal()) {
      this.#post(from, { type: 'moved', id });
      return 'accepted';
    }
    const known = this.#received.get(id);
    if (known) {
      known.receivedMs = this.#options.clock.monotonicMs();
      if (known.answer) this.#post(from, known.answer);
      return 'accepted';
    }
    const own = [...this.#received.values()].filter((one) => one.from === from && !one.answer).length;
    if (own >= mostOfOne) return 'flooding';
    const received: Received = { from, receivedMs: this.#options.clock.monotonicMs(), wait: new AbortController() };
    this.#received.set(id, received);
    this.#cancelSweep ??= this.#options.clock.after(sweepMs, () => this.#sweep());
    void this.#answer(id, received, { method, args });
    return 'accepted';
  }

  async #answer(id: string, received: Received, { method, args }: Pick<Request, 'method' | 'args'>): Promise<void> {
    const { from, wait } = received;
    const outcome = await this.#outcome(method, args, {
      ...{ signal: wait.signal, from },
      onWait: (reason) => {
        if (!wait.signal.aborted) this.#post(from, { type: 'waits', id, reason });
      },
    });
    if (this.#received.get(id) !== received) return;
    // A process that was frozen meanwhile may have answered from what it remembers.
    const answer = this.#options.refusal() ? 'moved' : outcome;
    const message: Message = answer === 'moved' ? { type: 'moved', id } : { type: 'answer', id, ...answer };
    if (answer === 'moved') this.#received.delete(id);
    else Object.assign(received, { answer: message, answeredMs: this.#options.clock.monotonicMs() });
    this.#post(from, message);
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
    for (const [id, { receivedMs, answeredMs, wait }] of this.#received) {
      if (answeredMs === undefined && nowMs - receivedMs > silentMs) wait.abort(gone);
      if (nowMs - (answeredMs ?? nowMs) > keptMs || wait.signal.aborted) this.#received.delete(id);
    }
    this.#cancelSweep = this.#received.size > 0 ? this.#options.clock.after(sweepMs, () => this.#sweep()) : undefined;
  }

  /** A message that is lost here is asked for again. */
  #post(to: string, message: Message): void {
    this.#options.wire.post(to, textOf(message)).catch(() => {});
  }
}

const gone = new StagecraftError('ABORTED', 'the agent that asked does not wait any more');
