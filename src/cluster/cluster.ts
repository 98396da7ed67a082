/**
 * Lets this agent take requests that another one has to work on: sends them there, and works on those that others send.
 * Without a wire, on a store of one process, every request is local. Why: docs/decisions/0023-any-agent-takes-requests.md
 */
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { Wire } from '../engine/store.js';
import { messageOf, StagecraftError } from '../errors.js';
import { decode } from './messages.js';
import { ownWork, RequestClient, type RequestOptions, type Route } from './request-client.js';
import { type Method, RequestServer } from './request-server.js';

export interface ClusterOptions {
  wire: Wire | undefined;
  /** Inbox of this run of the agent: no other run has it. */
  inbox: string;
  clock: Clock;
  logger: Logger;
  route(): Promise<Route | undefined>;
  /** Why this agent does not work on volumes; undefined: it does. */
  refusal(): StagecraftError | undefined;
}

/** Time between two tries of a request that this agent had to give up. */
const againMs = 50;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #methods = new Map<string, Method>();
  readonly #stop = new AbortController();
  readonly #client: RequestClient | undefined;
  readonly #server: RequestServer | undefined;
  #closed: StagecraftError | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { wire } = options;
    if (!wire) return;
    this.#client = new RequestClient({ ...options, wire });
    this.#server = new RequestServer({ ...options, wire, methods: this.#methods });
  }

  /** Makes a method known to other agents. */
  serve(name: string, method: Method): void {
    this.#methods.set(name, method);
  }

  /** Begins to hear other agents. Without the store it tries again until that answers. */
  async start(): Promise<void> {
    const { wire, inbox, logger, clock } = this.#options;
    if (!wire) return;
    const { signal } = this.#stop;
    try {
      await wire.listen(inbox, (text) => this.#receive(text), signal);
    } catch (error) {
      logger.warn({}, `other agents can't be heard yet (${messageOf(error)}); this is tried again`);
      void pause(clock, 1_000, signal).then(() => (signal.aborted ? undefined : this.start()));
    }
  }

  /** Does a request here, or has it done by the agent that works on volumes. */
  async run<T>(name: string, args: unknown[], local: () => Promise<T>, wait: RequestOptions = {}): Promise<T> {
    const client = this.#client;
    if (!client) return local();
    for (;;) {
      if (!this.#options.refusal()) {
        try {
          return await local();
        } catch (error) {
          if (this.#closed || !isMoved(error)) throw error;
          await pause(this.#options.clock, againMs, wait.signal);
        }
      } else {
        if (this.#closed) throw this.#closed;
        const answer = await client.request(name, args, wait);
        // The answer of another agent is what the same method has returned there.
        if (answer !== ownWork) return answer as T;
      }
    }
  }

  /** Accepts nothing more. */
  refuse(reason: StagecraftError = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed = reason;
    this.#client?.close(reason);
  }

  stop(): void {
    this.#stop.abort();
    this.#server?.close();
  }

  #receive(text: string): void {
    const message = decode(text);
    if (!message) return void this.#options.logger.debug({}, 'a message of another agent can not be read: ignored');
    if (message.type === 'request' || message.type === 'cancel') this.#server?.receive(message);
    else this.#client?.receive(message);
  }
}

const isMoved = (error: unknown): boolean => error instanceof StagecraftError && error.code === 'NOT_LEADER';
