/**
 * Waits until a call to a plugin may be made, for a machine whose call could not be made at once (plugin-calls.ts). Makes no
 * call. A call that is admitted keeps its place for a moment, until its machine has committed that and asks for the call:
 * else another call could take it each time. Waiting holds nothing, so that a wait delays no other call.
 */
import type { BackoffPolicy } from '../../machines/kit/backoff.js';
import type { AdmissionCall, AdmissionOutcome, Wait } from '../../machines/kit/csi-types.js';
import { type Clock, pause } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import type { EffectCall } from '../engine/effects/effects.js';
import { StagecraftError } from '../errors.js';
import { failureOf } from './call-failure.js';
import type { Homes, PluginCall } from './homes.js';
import type { Admitted, PluginAccess } from './plugin-access.js';
import { lockKey, type VolumeLocks } from './volume-locks.js';

/** How long a call that is admitted keeps its place: a commit takes less. */
export const ticketMs = 1_000;
/** How often it is looked whether a call for another node may be made here. */
const elsewhereLookMs = 30_000;
/** How often it is looked whether the recipient of an earlier call has ended. */
const recipientLookMs = 1_000;
/** How long a forced request waits for a plugin. */
export const forcedWaitMs = 10_000;

export interface AdmissionsOptions {
  access: PluginAccess;
  clock: Clock;
  retry: BackoffPolicy;
  locks: VolumeLocks;
  homes?: Homes;
}

/** The place that a call has before it is made. */
export interface Ticket {
  /** All are held. */
  keys: readonly string[];
  /** Its place among the calls in flight. Absent: it has none yet. */
  admitted?: Admitted;
}

interface Given extends Ticket {
  plugin: string;
  expire(): void;
  cancel(): void;
}

type AdmissionRun = EffectCall<AdmissionCall<PluginCall>>;

export class Admissions {
  readonly #options: AdmissionsOptions;
  /** By the address of the actor that the call is of: an actor makes one at a time. */
  readonly #tickets = new Map<string, Given>();

  constructor(options: AdmissionsOptions) {
    this.#options = options;
  }

  /** @param volumes as in Work */
  async wait(run: AdmissionRun, volumes: readonly string[]): Promise<AdmissionOutcome> {
    const { call, wait } = run.input;
    // A place that was kept and not asked for would be in its way.
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
      return { status: 'not-sent', failure: failureOf(error), retry: this.#options.retry };
    }
  }

  /** The place that was kept for this call; undefined where none was. A place for another call is given up. */
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

  /** The agent of another node makes the call, once that one leads. A forced call is not made for that reason. */
  async #untilHere(run: AdmissionRun): Promise<void> {
    const { clock, homes, access } = this.#options;
    const { call, wait } = run.input;
    const tell = telling(run);
    const mayBeTried = (): boolean => call.isForced || (wait.for !== 'elsewhere' && !access.isClosed(call.plugin));
    while (!run.signal.aborted && homes?.isElsewhere(call) && !mayBeTried()) {
      // Without the store the last reason holds. The home may go down meanwhile, or come back.
      const reason = await homes.elsewhere(call).catch(() => undefined);
      run.signal.throwIfAborted();
      if (reason !== undefined) tell({ reason, for: wait.for });
      await pause(clock, elsewhereLookMs, run.signal);
    }
  }

  async #untilClear(run: AdmissionRun): Promise<void> {
    const { clock } = this.#options;
    const { src } = run.input;
    if (run.clearInMs(src) <= 0) return;
    let isWorthAsking = await run.endDoubts(src);
    // The calls of a runtime before this one are given their whole time once more.
    if (run.recovered && run.clearInMs(src) > 0) telling(run)(untilClear(run.clearInMs(src), { clock, isWorthAsking }));
    for (let leftMs = run.clearInMs(src); leftMs > 0 && !run.signal.aborted; leftMs = run.clearInMs(src)) {
      await pause(clock, isWorthAsking ? Math.min(leftMs, recipientLookMs) : leftMs, run.signal);
      if (isWorthAsking) isWorthAsking = await run.endDoubts(src);
    }
    run.signal.throwIfAborted();
  }

  #place(run: AdmissionRun, keys: readonly string[]): Promise<Ticket> {
    const { locks, access, clock } = this.#options;
    const { plugin, isForced } = run.input.call;
    const tell = telling(run);
    const busy = busyReason(plugin, keys);
    const late = () => new StagecraftError('PLUGIN_UNAVAILABLE', `${busy} for more than ${forcedWaitMs} ms`);
    const untilMs = clock.monotonicMs() + forcedWaitMs;
    const timeoutMs = isForced ? forcedWaitMs : undefined;
    return withDeadline({ clock, timeoutMs, late, ends: [abortedBy(run)] }, async (limit) => {
      for (;;) {
        if (!locks.take(keys)) {
          tell({ reason: busy, for: 'turn' });
          await locks.wait(keys, limit);
        }
        if (!access.isClosed(plugin)) return { keys };
        locks.leave(keys);
        const admitted = await access.enter(plugin, {
          signal: run,
          waitMs: isForced ? untilMs - clock.monotonicMs() : undefined,
          waits: (reason) => tell({ reason, for: 'plugin' }),
        });
        if (locks.take(keys)) return { keys, admitted };
        admitted.leave();
      }
    });
  }
}

/** Tells the machine what its call waits for, where that has changed. What a run before a restart has told is not known. */
function telling(run: AdmissionRun): (wait: Wait) => void {
  let told = run.recovered ? undefined : run.input.wait.reason;
  return (wait) => {
    if (wait.reason !== told) run.send({ type: 'wait.changed', ...wait });
    told = wait.reason;
  };
}

/** Why a call has to wait for what it undoes. @param isWorthAsking whether the recipients of that may end before their time */
export function untilClear(
  clearInMs: number,
  { clock, isWorthAsking }: { clock: Clock; isWorthAsking: boolean },
): Wait {
  const until = new Date(clock.now() + clearInMs).toISOString();
  const orBefore = isWorthAsking ? ', or until the process that it went to has ended' : '';
  const reason = 'an earlier call that this one undoes may still be under way at the plugin, until';
  return { reason: `${reason} ${until} at the latest${orBefore}`, for: 'clear' };
}

/** Why a call that needs these locks does not get them. */
export function busyReason(plugin: string, keys: readonly string[]): string {
  const which = keys.length > 1 ? 'one of the volumes' : 'the volume';
  return `another call to plugin '${plugin}' about ${which} is under way`;
}
