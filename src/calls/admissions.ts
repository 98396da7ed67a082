/**
 * Waits until a call to a plugin may be made, for a machine whose call had to wait (plugin-calls.ts). Makes no call. An
 * admitted call keeps its place while its machine commits that and asks for the call; otherwise another call could
 * always take the place. A wait holds no lock, so that it delays no other call.
 */
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { AdmissionCall, AdmissionOutcome, Wait } from '../../machines/kit/csi-types.js';
import { onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import { withDeadline } from '../engine/deadline.js';
import type { EffectCall } from '../engine/effects/effects.js';
import { StagecraftError } from '../errors.js';
import { callFailureOf } from './call-failure.js';
import type { Homes, PluginCall } from './homes.js';
import type { PluginAccess } from './plugin-access.js';
import type { AdmittedCall } from './plugin-port.js';
import { lockKey, type VolumeLocks } from './volume-locks.js';

/** Time for which an admitted call keeps its place; a commit takes less. */
export const ticketMs = 1_000;
/** Interval of checks whether the home of a volume can be called, beside changes of its plugin. */
const elsewhereLookMs = 30_000;
/** Interval of checks whether the recipient of an earlier call has ended. */
const recipientLookMs = 1_000;
/** Longest wait of a forced request for a plugin. */
export const forcedWaitMs = 10_000;

interface AdmissionsOptions {
  access: PluginAccess;
  clock: Clock;
  retry: BackoffPolicy;
  locks: VolumeLocks;
  homes?: Homes;
}

/** Reserved place of a call. */
interface Ticket {
  /** Locks that the ticket holds. */
  keys: readonly string[];
  /** Place among the calls in flight; absent if none is reserved yet. */
  admitted?: AdmittedCall;
}

interface Given extends Ticket {
  plugin: string;
  expire(): void;
  cancel(): void;
}

type AdmissionRun = EffectCall<AdmissionCall<PluginCall>>;

export class Admissions {
  readonly #options: AdmissionsOptions;
  /** Tickets by the address of the calling actor; an actor makes one call at a time. */
  readonly #tickets = new Map<string, Given>();

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  /** @param volumes as in Work */
  async wait(run: AdmissionRun, volumes: readonly string[]): Promise<AdmissionOutcome> {
    const { call, wait } = run.input;
    // A ticket kept from an earlier wait would block this one.
    this.#drop(run.address);
    try {
      if (wait.for === 'elsewhere' || wait.for === 'elsewhere-or-plugin') {
        await this.#untilHere(run);
      } else {
        await this.#untilClear(run);
        const keys = volumes.map((csiId) => lockKey(call.plugin, csiId));
        const ticket = await this.#place(run, keys);
        if (run.signal.aborted) this.#release(ticket);
        else this.#give(run.address, call.plugin, ticket);
      }
      run.signal.throwIfAborted();
      return { status: 'admitted' };
    } catch (error) {
      run.signal.throwIfAborted();
      return { status: 'not-sent', failure: callFailureOf(error), retry: this.#options.retry };
    }
  }

  /** Returns the ticket reserved for this call, or undefined. Drops a ticket for another call. */
  redeem(address: string, plugin: string, keys: readonly string[]): Ticket | undefined {
    const given = this.#tickets.get(address);
    if (given?.plugin !== plugin || given.keys.join() !== keys.join()) {
      this.#drop(address);
      return undefined;
    }
    this.#tickets.delete(address);
    given.cancel();
    return given;
  }

  #drop(address: string): void {
    const given = this.#tickets.get(address);
    this.#tickets.delete(address);
    given?.cancel();
    given?.expire();
  }

  #give(address: string, plugin: string, ticket: Ticket): void {
    const expire = (): void => this.#release(ticket);
    const cancel = this.#options.clock.after(ticketMs, () => {
      this.#tickets.delete(address);
      expire();
    });
    this.#tickets.set(address, { ...ticket, plugin, expire, cancel });
  }

  #release({ keys, admitted }: Ticket): void {
    admitted?.leave();
    this.#options.locks.leave(keys);
  }

  /** Waits while the agent of another node must make the call. Forced calls do not wait for that. */
  async #untilHere(run: AdmissionRun): Promise<void> {
    const { homes, access } = this.#options;
    if (!homes) return;
    const { call, wait } = run.input;
    const report = waitReporter(run);
    const isElsewhere = (): boolean => homes.isElsewhere(call, access.nodeFor(call));
    const mayBeTried = (): boolean => call.isForced || (wait.for !== 'elsewhere' && !access.isClosed(call));
    while (!run.signal.aborted && isElsewhere() && !mayBeTried()) {
      // If the store fails, the last reason stays. The home node may go down meanwhile, or come back.
      const reason = await homes.elsewhere(call).catch(() => undefined);
      run.signal.throwIfAborted();
      if (reason !== undefined) report({ reason, for: wait.for });
      await this.#changed(call.plugin, run.signal);
    }
  }

  /** Resolves once an instance of the plugin has changed; at the latest after a while, as nodes change too. */
  async #changed(plugin: string, signal: AbortSignal): Promise<void> {
    const { clock, access } = this.#options;
    const end = new AbortController();
    const ends = [access.watch(plugin, () => end.abort()), onAbort(signal, () => end.abort())];
    await pause(clock, elsewhereLookMs, end.signal);
    for (const stop of ends) stop();
  }

  async #untilClear(run: AdmissionRun): Promise<void> {
    const { clock } = this.#options;
    const { src, call } = run.input;
    const asked = { src, input: call };
    if (run.clearInMs(asked) <= 0) return;
    let isWorthAsking = await run.endDoubts(asked);
    // In-doubt calls of an earlier runtime get their whole time again.
    if (run.recovered && run.clearInMs(asked) > 0)
      waitReporter(run)(untilClear(run.clearInMs(asked), { clock, isWorthAsking }));
    for (let leftMs = run.clearInMs(asked); leftMs > 0 && !run.signal.aborted; leftMs = run.clearInMs(asked)) {
      await pause(clock, isWorthAsking ? Math.min(leftMs, recipientLookMs) : leftMs, run.signal);
      if (isWorthAsking) isWorthAsking = await run.endDoubts(asked);
    }
    run.signal.throwIfAborted();
  }

  #place(run: AdmissionRun, keys: readonly string[]): Promise<Ticket> {
    const { locks, access, clock } = this.#options;
    const { plugin, isForced } = run.input.call;
    const report = waitReporter(run);
    const busy = busyReason(plugin, keys);
    const late = () => new StagecraftError('PLUGIN_UNAVAILABLE', `${busy} for more than ${forcedWaitMs} ms`);
    const untilMs = clock.monotonicMs() + forcedWaitMs;
    const timeoutMs = isForced ? forcedWaitMs : undefined;
    return withDeadline({ clock, timeoutMs, late, ends: [run] }, async (limit) => {
      for (;;) {
        if (!locks.take(keys)) {
          report({ reason: busy, for: 'turn' });
          await locks.wait(keys, limit);
        }
        if (!access.isClosed(run.input.call)) return { keys };
        locks.leave(keys);
        const admitted = await access.enter(run.input.call, {
          signal: run,
          waitMs: isForced ? untilMs - clock.monotonicMs() : undefined,
          waits: (reason) => report({ reason, for: 'plugin' }),
        });
        if (locks.take(keys)) return { keys, admitted };
        admitted.leave();
      }
    });
  }
}

/** Reports to the machine when the reason of the wait has changed. After a restart, reports the first reason again. */
function waitReporter(run: AdmissionRun): (wait: Wait) => void {
  let reported = run.recovered ? undefined : run.input.wait.reason;
  return (wait) => {
    if (wait.reason !== reported) run.send({ type: 'wait.changed', ...wait });
    reported = wait.reason;
  };
}

/**
 * Describes the wait for calls that this call undoes.
 * @param isWorthAsking true if the recipients of those calls may end before their time
 */
export function untilClear(
  clearInMs: number,
  { clock, isWorthAsking }: { clock: Clock; isWorthAsking: boolean },
): Wait {
  const until = new Date(clock.now() + clearInMs).toISOString();
  const orBefore = isWorthAsking ? ', or until the process that it went to has ended' : '';
  const reason = 'an earlier call that this one undoes may still be under way at the plugin, until';
  return { reason: `${reason} ${until} at the latest${orBefore}`, for: 'clear' };
}

/** Describes a conflict on these locks. */
export function busyReason(plugin: string, keys: readonly string[]): string {
  const which = keys.length > 1 ? 'one of the volumes' : 'the volume';
  return `another call to plugin '${plugin}' about ${which} is under way`;
}
