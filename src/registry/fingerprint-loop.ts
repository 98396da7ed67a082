/**
 * Looks at one plugin instance for as long as it is registered, and tells its machine only what has changed:
 * an unchanged round is no event and no commit. Holds the instance's client. What looking means: dispenser.ts
 */
import { isDeepStrictEqual } from 'node:util';
import type { Fingerprint, FingerprintInput, PluginBasics } from '../../machines/plugin/plugin.js';
import { onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Effect, EffectCall } from '../engine/effects/effects.js';
import type { Waiters } from '../engine/waiters.js';
import { messageOf } from '../errors.js';
import type { Change } from './change.js';
import type { Clients } from './clients.js';
import { fingerprintOf } from './dispenser.js';
import { bounded } from './limits.js';
import { watchSocket } from './socket-watch.js';

export interface FingerprintTimes {
  /** Between two rounds of a healthy instance, in milliseconds. */
  intervalMs: number;
  /** For one round. */
  timeoutMs: number;
}

export interface FingerprintLoopOptions extends FingerprintTimes {
  clients: Clients;
  clock: Clock;
  /** By the address of an instance, the loops that are to look at it at once when somebody asks. */
  asked: Waiters;
  /** Told at the end of each round, changed or not. */
  checked(address: string, seen: { atMs: number; healthy: boolean }): void;
}

type LoopCall = Pick<EffectCall<FingerprintInput>, 'address' | 'input' | 'signal' | 'send'> & {
  change: Change | undefined;
};

/** An unhealthy instance is looked at sooner, less and less so, until the interval is reached. */
const firstRetryMs = 500;
/** Between the beginnings of two rounds, whatever calls for one: a look may itself stir what is watched. */
const shortestGapMs = 100;
const failedInitially = 'failed initial fingerprint: ';

export function fingerprintLoop(options: FingerprintLoopOptions): Effect {
  return {
    deadlineMs: 'loop',
    async run(call: EffectCall<FingerprintInput>): Promise<void> {
      const { clients } = options;
      const { address, input, signal, send } = call;
      // At once, not when the round under way has ended: whoever comes after this loop connects anew.
      onAbort(signal, () => clients.close(address, input.info));
      while (!signal.aborted) {
        const change = clients.changeOf(input.info.type);
        // Another dispenser begins from the beginning, and nothing that the one before it finds counts any more.
        await rounds(options, { address, input, signal, send, change });
      }
    },
  };
}

async function rounds(options: FingerprintLoopOptions, call: LoopCall): Promise<void> {
  const { clock, intervalMs } = options;
  const { address, signal, send, change } = call;
  const isOver = (): boolean => signal.aborted || change?.isOver === true;
  let last: Fingerprint | undefined;
  let failures = 0;
  let wake: Wake | undefined;
  try {
    while (!isOver()) {
      const startedAtMs = clock.monotonicMs();
      // Behind a new connection there may be another driver: who it is, is asked again.
      const isWoken = wake?.isCalled ?? false;
      const basic = isWoken ? undefined : last?.basic;
      wake = wakeOf(options, call, wake);
      const seen = await round(options, call, { last, basic, wake });
      if (isOver()) return;
      options.checked(address, { atMs: clock.now(), healthy: seen.healthy });
      if (!isDeepStrictEqual(seen, last)) send({ type: 'fingerprint.changed', fingerprint: seen });
      last = seen;
      // What has just come back may need a moment more: it is not made to wait as long as what stays away.
      failures = seen.healthy || isWoken ? 0 : failures + 1;
      await wake.pause(clock, seen.healthy ? intervalMs : retryMs(failures, intervalMs));
      const earlyMs = startedAtMs + Math.min(shortestGapMs, intervalMs) - clock.monotonicMs();
      if (earlyMs > 0 && !isOver()) await pause(clock, earlyMs, signal);
    }
  } finally {
    wake?.release();
  }
}

/**
 * Called from before the round on: what happens while it runs leads to another one. The one before is let go of after
 * that, since a watch that nobody holds loses what it has not told yet.
 */
function wakeOf(
  { asked }: FingerprintLoopOptions,
  { address, input: { info }, signal, change }: LoopCall,
  before: Wake | undefined,
): Wake {
  const wake = new Wake();
  wake.onAbort(signal);
  wake.on((look) => change?.on(look));
  wake.on((look) => asked.add(address, look));
  wake.on((look) => watchSocket(info.connection.socketPath, look));
  before?.release();
  return wake;
}

const retryMs = (failures: number, intervalMs: number): number =>
  Math.min(intervalMs, failures === 0 ? shortestGapMs : firstRetryMs * 2 ** Math.min(failures - 1, 20));

/** One look; whatever goes wrong with it is what it found. */
async function round(
  options: FingerprintLoopOptions,
  { address, input: { info }, signal, change }: LoopCall,
  { last, basic, wake }: { last: Fingerprint | undefined; basic: PluginBasics | undefined; wake: Wake },
): Promise<Fingerprint> {
  const { clients, clock, timeoutMs } = options;
  const known = basic ? { basic } : {};
  const isInitial = !last || last.description.startsWith(failedInitially);
  try {
    const found = await bounded({ clock, timeoutMs, signal, change }, async (limit) => {
      const dispenser = clients.dispenser(info.type);
      const client = clients.get(address, info);
      wake.on((look) => dispenser.onDisconnect?.(client, look));
      return dispenser.fingerprint(client, { info, signal: limit, ...known });
    });
    const seen: Fingerprint = Object.assign({}, known, fingerprintOf(found));
    // A dispenser that is asked anew takes it for the first time; here it is known better.
    return isInitial ? seen : { ...seen, description: seen.description.replace(failedInitially, '') };
  } catch (error) {
    return { healthy: false, description: `${isInitial ? failedInitially : ''}${messageOf(error)}`, ...known };
  }
}

/** A pause that ends early by whichever of several causes comes first; all of them are let go of together. */
export class Wake {
  readonly #unhooks: (() => void)[] = [];
  #isCalled = false;
  /** Ends the pause that is under way. */
  #end = (): void => {};
  readonly #call = (): void => {
    this.#isCalled = true;
    this.#end();
  };

  /** Whether there was a cause. */
  get isCalled(): boolean {
    return this.#isCalled;
  }

  /** Resolves after the delay, or once there is a cause. */
  pause(clock: Clock, delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isCalled) return resolve();
      const cancel = clock.after(delayMs, resolve);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  /** `hook` gets what to call, and answers what ends that. */
  on(hook: (call: () => void) => (() => void) | undefined): void {
    const unhook = hook(this.#call);
    if (unhook) this.#unhooks.push(unhook);
  }

  onAbort(signal: AbortSignal): void {
    this.on((call) => onAbort(signal, call));
  }

  /** Whatever a hook has to say against it. */
  release(): void {
    for (const unhook of this.#unhooks.splice(0)) {
      try {
        unhook();
      } catch {
        // It hooked into a client that is being given up: there is nothing left to end.
      }
    }
  }
}
