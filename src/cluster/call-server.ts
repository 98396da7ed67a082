/**
 * Makes calls to the plugins of this host for the agent that works on volumes. It checks again what that agent has checked, since
 * the plugin here may have changed; it resolves the secrets itself, and begins no call that is too old. The other side: call-client.ts
 */
import type { CallBounds } from '../calls/call-bounds.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import { otherDriver } from '../calls/plugin-refusals.js';
import { lockKey, type VolumeLocks } from '../calls/volume-locks.js';
import type { Clock } from '../engine/clock.js';
import { putWithinMs, type Wire } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import { resolveSecrets, type SecretsProvider } from '../secrets/secrets.js';
import type { MessageOutcome } from './message-counts.js';
import { type AgentCall, answerText, type Called, errorData } from './messages.js';

/** Method of a port to plugins that other agents may have called. */
export type CallMethod = (client: unknown, request: unknown, bounds: CallBounds) => Promise<unknown>;

export interface CallServerOptions {
  wire: Pick<Wire, 'post'>;
  clock: Clock;
  nodeId: string;
  access: Pick<PluginAccess, 'enterHere'>;
  locks: VolumeLocks;
  secrets: SecretsProvider;
  methods: ReadonlyMap<string, CallMethod>;
}

interface Known {
  from: string;
  stop: AbortController;
  /** The end of the call, kept for repeats; absent while it is under way. */
  called?: Called;
  /** Nobody asks for the end after this. */
  keptUntilMs: number;
}

const sweepMs = 10_000;
/** Calls of one agent under way, at most. */
const mostOfOne = 1_000;

export class CallServer {
  readonly #options: CallServerOptions;
  readonly #calls = new Map<string, Known>();
  #cancelSweep: (() => void) | undefined;
  #isClosed = false;

  constructor(options: CallServerOptions) {
    this.#options = options;
  }

  receive(call: AgentCall, ageMs: number): MessageOutcome {
    const known = this.#calls.get(call.id);
    if (known) {
      if (known.called) this.#post(known.from, known.called);
      return 'accepted';
    }
    const { clock } = this.#options;
    const declaredMs = clock.monotonicMs() - ageMs - call.ageMs;
    const isLate = (): boolean => clock.monotonicMs() - declaredMs > mostAgeMs;
    if (this.#isClosed) {
      this.#post(call.from, notMade(call, closed));
      return 'accepted';
    }
    if (isLate()) {
      this.#end(call, this.#know(call), notMade(call, late()));
      return 'late';
    }
    if (this.#underWay(call.from) >= mostOfOne) {
      this.#end(call, this.#know(call), notMade(call, crowded()));
      return 'flooding';
    }
    void this.#run(call, isLate);
    return 'accepted';
  }

  /** The agent that sent the call does not wait any more. @returns whether it is a call of this server */
  cancel(id: string): boolean {
    const known = this.#calls.get(id);
    known?.stop.abort(gone);
    return known !== undefined;
  }

  /** Ends all calls, and begins no more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const { stop } of this.#calls.values()) stop.abort(closed);
  }

  #underWay(from: string): number {
    let count = 0;
    for (const known of this.#calls.values()) if (known.from === from && !known.called) count += 1;
    return count;
  }

  /** Refused calls are known too: a repeat with a lower bound of its age must not be made. */
  #know({ id, from, timeoutMs }: AgentCall): Known {
    const { clock } = this.#options;
    const keptUntilMs = clock.monotonicMs() + startMs + timeoutMs;
    const known: Known = { from, stop: new AbortController(), keptUntilMs };
    this.#calls.set(id, known);
    this.#cancelSweep ??= clock.after(sweepMs, () => this.#sweep());
    return known;
  }

  #end({ from }: AgentCall, known: Known, called: Called): void {
    known.called = called;
    this.#post(from, called);
  }

  async #run(call: AgentCall, isLate: () => boolean): Promise<void> {
    const known = this.#know(call);
    const cancel = this.#options.clock.after(call.timeoutMs, () => known.stop.abort(timedOut(call)));
    const called = await this.#called(call, { isLate, signal: known.stop.signal });
    cancel();
    this.#end(call, known, called);
  }

  /** Never rejects. */
  async #called(call: AgentCall, { isLate, signal }: { isLate: () => boolean; signal: AbortSignal }): Promise<Called> {
    const { locks, access, methods } = this.#options;
    const { id, plugin, request } = call;
    const method = methods.get(call.method);
    if (!method) return notMade(call, new StagecraftError('INVALID_ARGUMENT', unknownMethod(call.method)));
    const keys = call.volumes.map((csiId) => lockKey(plugin, csiId));
    if (!locks.take(keys))
      return notMade(call, unavailable(`another call to plugin '${plugin}' about it is under way there`));
    try {
      const admitted = await access.enterHere(plugin, { signal, waitMs: mostAgeMs });
      if ('reason' in admitted) return notMade(call, unavailable(admitted.reason));
      let isMade = false;
      try {
        const refusal = this.#refusal(call, admitted.seen());
        if (refusal) return notMade(call, refusal);
        const secrets = await this.#secrets(call, signal);
        const client = await admitted.client();
        const since = this.#refusal(call, admitted.seen()) ?? (isLate() ? late() : undefined);
        if (since) return notMade(call, since);
        signal.throwIfAborted();
        isMade = true;
        const value = await method(client, request, { secrets, signal });
        admitted.leave({ grpcCode: 'OK' });
        return { type: 'called', id, isMade, value };
      } catch (error) {
        admitted.leave(error instanceof StagecraftError ? error : undefined);
        return { type: 'called', id, isMade, error: errorData(error) };
      } finally {
        admitted.leave();
      }
    } catch (error) {
      return notMade(call, error);
    } finally {
      locks.leave(keys);
    }
  }

  /** Returns why the plugin as it is here must not get the call. */
  #refusal(
    { plugin, home, driver }: AgentCall,
    seen: { driver?: string; scope?: string },
  ): StagecraftError | undefined {
    const other = otherDriver({ plugin, ...(driver !== undefined && { driver }) }, seen);
    if (other) return new StagecraftError('OTHER_DRIVER', other.message, { final: true });
    const { nodeId } = this.#options;
    if (seen.scope !== 'host' || home === nodeId) return undefined;
    return unavailable(`plugin '${plugin}' of node ${nodeId} knows only the volumes of that node`);
  }

  #secrets({ secrets: refs }: AgentCall, signal: AbortSignal): Promise<Record<string, string>> {
    const { secrets, clock } = this.#options;
    return resolveSecrets(secrets, refs, { clock, signal });
  }

  #sweep(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [id, { called, keptUntilMs }] of this.#calls) if (called && nowMs > keptUntilMs) this.#calls.delete(id);
    this.#cancelSweep = this.#calls.size > 0 ? this.#options.clock.after(sweepMs, () => this.#sweep()) : undefined;
  }

  /** The call is sent again if its end is lost. */
  #post(to: string, called: Called): void {
    this.#options.wire.post(to, answerText(called)).catch(() => {});
  }
}

const notMade = ({ id }: AgentCall, error: unknown): Called => ({
  type: 'called',
  id,
  isMade: false,
  error: errorData(error),
});

const unavailable = (why: string): StagecraftError =>
  new StagecraftError('PLUGIN_UNAVAILABLE', `the call was not made: ${why}`);
const late = (): StagecraftError => unavailable(`it arrived late, more than ${mostAgeMs / 1_000} s after it was sent`);
const crowded = (): StagecraftError => unavailable(`${mostOfOne} calls of the same agent are under way there`);
const unknownMethod = (method: string): string => `this agent makes no call '${method}': update it`;

const gone = new StagecraftError('ABORTED', 'the agent that asked for the call does not wait any more');
const closed = new StagecraftError('RUNTIME_CLOSED', 'the agent that made the call has ended', { outcome: 'unknown' });
const timedOut = ({ timeoutMs, method }: AgentCall): StagecraftError =>
  new StagecraftError('TIMEOUT', `${method}: no answer of the plugin within ${timeoutMs} ms`);

/**
 * Longest time from the declaration of a call (`EffectCall.sent`) to its beginning at the plugin, else it is not begun: so what
 * undoes it knows how long to wait. No clocks are compared: the sender tells the time before the message was posted, a post is
 * done within its limit or never, and the reader bounds the time since (docs/decisions/0023-any-agent-takes-requests.md).
 */
export const startMs = 8_000;
/** Longest time before the post and after the arrival, together. */
const mostAgeMs = startMs - putWithinMs;
