/**
 * Looks at one plugin instance for as long as it is registered, and tells its machine only what has changed:
 * an unchanged round is no event and no commit. Holds the instance's client. What looking means: dispenser.ts
 */
import { isDeepStrictEqual } from 'node:util';
import type { Fingerprint, FingerprintInput, PluginBasics } from '../../machines/plugin.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Effect, EffectCall } from '../engine/effects.js';
import { messageOf } from '../errors.js';
import type { Clients } from './clients.js';
import type { Dispenser, FingerprintRequest } from './dispenser.js';
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
  /** Told at the end of each round, changed or not. */
  checked(address: string, seen: { atMs: number; healthy: boolean }): void;
}

/** An unhealthy instance is looked at sooner, less and less so, until the interval is reached. */
const firstRetryMs = 500;

export function fingerprintLoop(options: FingerprintLoopOptions): Effect {
  return {
    deadlineMs: 'loop',
    async run(call: EffectCall<FingerprintInput>): Promise<void> {
      try {
        await rounds(options, call);
      } finally {
        options.clients.close(call.address);
      }
    },
  };
}

async function rounds(options: FingerprintLoopOptions, call: EffectCall<FingerprintInput>): Promise<void> {
  const { clock, intervalMs, clients, checked } = options;
  const { address, input, signal, send } = call;
  const { info } = input;
  const dispenser = clients.dispenser(info.type);
  const client = clients.get(address, info);
  let basic: PluginBasics | undefined;
  let last: Fingerprint | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const wake = new AbortController();
    const look = (): void => wake.abort();
    // From before the round on: what happens while it runs leads to another one.
    const unwatch = watchSocket(info.connection.socketPath, look);
    const unhook = dispenser.onDisconnect?.(client, look);
    const seen = await round(options, { dispenser, client, info, signal, ...(basic ? { basic } : {}) });
    if (!signal.aborted) {
      checked(address, { atMs: clock.now(), healthy: seen.healthy });
      if (!isDeepStrictEqual(seen, last)) send({ type: 'fingerprint.changed', fingerprint: seen });
      last = seen;
      basic = seen.basic;
      failures = seen.healthy ? 0 : failures + 1;
      const waitMs = seen.healthy ? intervalMs : Math.min(intervalMs, firstRetryMs * 2 ** Math.min(failures - 1, 20));
      await pause(clock, waitMs, AbortSignal.any([signal, wake.signal]));
    }
    unwatch();
    unhook?.();
  }
}

type Look = FingerprintRequest & { dispenser: Dispenser; client: unknown };

/** One look, bounded; whatever goes wrong with it is what it found. */
async function round(
  { clock, timeoutMs }: FingerprintLoopOptions,
  { dispenser, client, ...look }: Look,
): Promise<Fingerprint> {
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort());
  const signal = AbortSignal.any([look.signal, limit.signal]);
  const known = look.basic ? { basic: look.basic } : {};
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`no answer within ${timeoutMs} ms`)), { once: true });
    });
    return { ...known, ...(await Promise.race([dispenser.fingerprint(client, { ...look, signal }), aborted])) };
  } catch (error) {
    return { ...known, healthy: false, description: messageOf(error) };
  } finally {
    cancel();
  }
}
