/**
 * Calls to plugins on other hosts, made by the agents there. A call is sent again under its id until it is answered: the agent
 * there knows the calls that it has begun, and begins none that is too old. The other side: call-server.ts
 */
import { type Abortable, onAbort } from '../abort.js';
import type { FarBounds } from '../calls/call-bounds.js';
import type { Clock } from '../engine/clock.js';
import type { Wire } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import { startMs } from './call-server.js';
import type { MessageOutcome } from './message-counts.js';
import { type AgentMessage, type Called, encodeMessage, longestBytes, remoteError } from './messages.js';

interface CallClientOptions {
  wire: Pick<Wire, 'post'>;
  clock: Clock;
  /** Inbox of this agent. */
  inbox: string;
  /** Number of the next message that this agent sends. */
  nextSend(): number;
}

/** The agent that has the plugin. */
export interface Callee {
  nodeId: string;
  inbox: string;
}

interface FarCall {
  plugin: string;
  method: string;
  request: unknown;
  bounds: FarBounds & { signal: Abortable };
  /** Limit of the call at the plugin. */
  timeoutMs: number;
}

interface Pending {
  callee: Callee;
  /** Whether a message may have arrived, or may arrive yet. */
  mayArrive: boolean;
  end(outcome: { value: unknown } | { error: unknown }): void;
}

/** Pauses between repeats of a call without an answer: the first is lost within the time that it has to begin. */
const firstRepeatMs = 1_500;
const repeatMs = 5_000;

export class CallClient {
  readonly #options: CallClientOptions;
  readonly #pending = new Map<string, Pending>();
  #calls = 0;

  constructor(options: CallClientOptions) {
    this.#options = options;
  }

  /**
   * Has a call made. Declare it (`sent`) just before.
   * @throws {StagecraftError} the error of the plugin; with outcome `refused`: the call was not made, and will not be; with
   *   outcome `unknown`: it may be under way for as long as `startMs` and its limit allow
   */
  call(callee: Callee, { plugin, method, request, bounds, timeoutMs }: FarCall): Promise<unknown> {
    const { clock, inbox, nextSend } = this.#options;
    this.#calls += 1;
    const id = `${inbox}:c${this.#calls}`;
    const declaredMs = clock.monotonicMs();
    const { secrets, volumes, home, driver } = bounds;
    const message = (): AgentMessage => ({
      ...{ type: 'call', from: inbox, send: nextSend(), id, plugin, method, request, secrets, timeoutMs },
      ...{
        ageMs: clock.monotonicMs() - declaredMs,
        volumes: [...volumes],
        ...(home !== undefined && { home }),
        ...(driver !== undefined && { driver }),
      },
    });
    if (Buffer.byteLength(encodeMessage(message())) > longestBytes)
      return Promise.reject(notMade(`the request has more than ${longestBytes} bytes: no other agent can be asked`));
    return new Promise((resolve, reject) => {
      const ends: (() => void)[] = [];
      const pending: Pending = {
        callee,
        mayArrive: false,
        end: (outcome) => {
          if (!this.#pending.delete(id)) return;
          for (const end of ends) end();
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      };
      this.#pending.set(id, pending);
      let cancelRepeat: () => void = () => {};
      const send = async (againMs: number): Promise<void> => {
        cancelRepeat = clock.after(againMs, () => void send(repeatMs));
        await this.#send(pending, encodeMessage(message()));
      };
      ends.push(() => cancelRepeat());
      const late = (): void => {
        const why = `agent ${callee.nodeId} gave no answer in the time that the call had`;
        pending.end({ error: new StagecraftError('CALL_FAILED', `${why}: it may have been made`) });
      };
      ends.push(clock.after(startMs + timeoutMs, late));
      ends.push(
        onAbort(bounds.signal, (reason) => {
          const cancel: AgentMessage = { type: 'cancel', from: inbox, send: nextSend(), id };
          void this.#options.wire.post(callee.inbox, encodeMessage(cancel)).catch(() => {});
          pending.end({ error: reason });
        }),
      );
      if (this.#pending.has(id)) void send(firstRepeatMs);
    });
  }

  receive({ id, isMade, value, error }: Called): MessageOutcome {
    const pending = this.#pending.get(id);
    if (!pending) return 'late';
    if (!error) pending.end({ value });
    else pending.end({ error: isMade ? remoteError(error) : remoteError({ ...error, outcome: 'refused' }) });
    return 'accepted';
  }

  /** Ends the calls of an agent that has gone, or is away: what became of them is not known. */
  lost(isLost: (callee: Callee) => string | undefined): void {
    for (const { callee, mayArrive, end } of [...this.#pending.values()]) {
      const why = isLost(callee);
      if (why !== undefined) end({ error: mayArrive ? unknown(why) : notMade(why) });
    }
  }

  close(reason: StagecraftError): void {
    for (const { end } of [...this.#pending.values()]) end({ error: reason });
  }

  async #send(pending: Pending, text: string): Promise<void> {
    const { callee, mayArrive, end } = pending;
    pending.mayArrive = true;
    try {
      if (await this.#options.wire.post(callee.inbox, text)) return;
      const why = `the agent of node ${callee.nodeId} has ended`;
      end({ error: mayArrive ? unknown(why) : notMade(why) });
    } catch {
      // It may have arrived. It is sent again, or its time passes.
    }
  }
}

const notMade = (why: string): StagecraftError =>
  new StagecraftError('PLUGIN_UNAVAILABLE', `the call was not made: ${why}`, { outcome: 'refused' });

const unknown = (why: string): StagecraftError =>
  new StagecraftError('CALL_FAILED', `${why}: whether its call was made is not known`, { outcome: 'unknown' });
