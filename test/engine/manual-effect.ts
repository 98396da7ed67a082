/** Effect that ends on command of the test, and records its calls. */
import type { Effect, EffectCall } from '../../src/engine/effects/effects.js';

interface ManualCall extends EffectCall {
  finish(output?: unknown): void;
  fail(error: unknown): void;
}

export interface ManualEffect extends Effect {
  readonly calls: ManualCall[];
  readonly last: ManualCall;
}

/** @param deadlineMs as in Effect; default: none */
export function manualEffect(deadlineMs: number | 'loop' = Number.POSITIVE_INFINITY): ManualEffect {
  const calls: ManualCall[] = [];
  return {
    calls,
    deadlineMs,
    get last() {
      const call = calls.at(-1);
      if (!call) throw new Error('the effect was not called');
      return call;
    },
    run: (call) =>
      new Promise((finish, fail) => {
        const { signal } = call;
        calls.push({ ...call, signal, sent: () => call.sent(), mayGoOn: () => call.mayGoOn(), finish, fail });
      }),
  };
}
