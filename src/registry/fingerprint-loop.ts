/**
 * Looks at one plugin instance as long as it is registered, and sends its machine changes only: an unchanged round is
 * no event and no commit. Holds the client of the instance. What a look is: dispenser.ts
 */
import { isDeepStrictEqual } from 'node:util';
import type { Fingerprint, FingerprintInput, PluginBasics } from '../../machines/plugin/plugin.js';
import { type AbortSource, onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';
import type { Effect, EffectCall } from '../engine/effects/effects.js';
import type { Waiters } from '../engine/waiters.js';
import { messageOf } from '../errors.js';
import { type Clients, fingerprintBy } from './clients.js';
import { fingerprintOf } from './dispenser.js';
import type { Replacement } from './replacement.js';
import { watchSocket } from './socket-watch.js';

export interface FingerprintTimes {
  /** Milliseconds between two rounds of a healthy instance. */
  intervalMs: number;
  /** Limit of one round, milliseconds. */
  timeoutMs: number;
}

export interface FingerprintLoopOptions extends FingerprintTimes {
  clients: Clients;
  clock: Clock;
  /** Waiters by the address of an instance: loops that look at once when somebody asks. */
  asked: Waiters;
  /** Called at the end of each round, changed or not. */
  checked(address: string, seen: { atMs: number; healthy: boolean }): void;
}

type LoopCall = Pick<EffectCall<FingerprintInput>, 'address' | 'input' | 'signal' | 'send'> & {
  change: Replacement | undefined;
};

/** First pause of an unhealthy instance; it grows up to the interval. */
const firstRetryMs = 500;
/**
 * Least time between the beginnings of two rounds, whatever asks for them: a look may itself change what is watched.
 */
const shortestGapMs = 100;
const failedInitially = 'failed initial fingerprint: ';

export function fingerprintLoop(options: FingerprintLoopOptions): Effect {
  return {
    deadlineMs: 'loop',
    async run(call: EffectCall<FingerprintInput>): Promise<void> {
      const { clients } = options;
      const { address, input, signal, send } = call;
      // At once, not at the end of the round: a later loop connects anew.
      onAbort(signal, () => clients.close(address, input.info));
      while (!signal.aborted) {
        const change = clients.changeOf(input.info.type);
        // A new dispenser restarts the checks: findings of the one before do not count.
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
      // After a reconnect there may be another driver: its identity is asked again.
      const isWoken = wake?.isCalled ?? false;
      const basic = isWoken ? undefined : last?.basic;
      wake = wakeOf(options, call, wake);
      const seen = await round(options, call, { last, basic, wake });
      if (isOver()) return;
      options.checked(address, { atMs: clock.now(), healthy: seen.healthy });
      if (!isDeepStrictEqual(seen, last)) send({ type: 'fingerprint.changed', fingerprint: seen });
      last = seen;
      // A plugin that has just come back may need a moment: it does not wait as long as one that stays away.
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
 * Called before the round: a change during the round leads to another one. Releases the watches before after that, as
 * a watch that nobody holds loses what it has not reported.
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

/** One look. Any error is its finding. */
async function round(
  options: FingerprintLoopOptions,
  { address, input: { info }, signal, change }: LoopCall,
  { last, basic, wake }: { last: Fingerprint | undefined; basic: PluginBasics | undefined; wake: Wake },
): Promise<Fingerprint> {
  const { clients, clock, timeoutMs } = options;
  const known = basic ? { basic } : {};
  const isInitial = !last || last.description.startsWith(failedInitially);
  try {
    const changed: AbortSource | undefined = change && { onAbort: (end) => change.on(() => end(undefined)) };
    const found = await answerWithin({ clock, timeoutMs, ends: [signal, changed] }, async (limit) => {
      const dispenser = clients.dispenser(info.type);
      const client = clients.get(address, info);
      wake.on((look) => dispenser.onDisconnect?.(client, look));
      return fingerprintBy(dispenser, client, { info, signal: limit, ...known });
    });
    const seen: Fingerprint = Object.assign({}, known, fingerprintOf(found));
    // A replaced dispenser makes a first look; the registry knows better.
    return isInitial ? seen : { ...seen, description: seen.description.replace(failedInitially, '') };
  } catch (error) {
    return { healthy: false, description: `${isInitial ? failedInitially : ''}${messageOf(error)}`, ...known };
  }
}

/** A pause that ends early by the first of several causes; all of them are released together. */
export class Wake {
  readonly #unhooks: (() => void)[] = [];
  #isCalled = false;
  /** Ends the present pause. */
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

  /** Adds a cause of a check. `hook` gets the function to call when the cause occurs, and returns its unsubscribe function. */
  on(hook: (call: () => void) => (() => void) | undefined): void {
    const unhook = hook(this.#call);
    if (unhook) this.#unhooks.push(unhook);
  }

  onAbort(signal: AbortSignal): void {
    this.on((call) => onAbort(signal, call));
  }

  /** Releases all causes, whatever their hooks throw. */
  release(): void {
    for (const unhook of this.#unhooks.splice(0)) {
      try {
        unhook();
      } catch {
        // The client is being closed: there is nothing left to end.
      }
    }
  }
}
