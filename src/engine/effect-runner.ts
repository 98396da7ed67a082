/**
 * Runs the effects that committed snapshots ask for: starts them, bounds them, cancels them, and turns what comes of
 * them into plain data. Knows no store and no machine; what a result means is for the actor to say.
 */
import type { AnyEventObject } from 'xstate';
import { messageOf, StagecraftError } from '../errors.js';
import { type Clock, pause } from './clock.js';
import { asData } from './data.js';
import { defaultDeadlineMs, type Effect, type EffectCall } from './effects.js';
import type { LiveEffect } from './envelope.js';

export interface EffectStart {
  address: string;
  live: LiveEffect;
  effect: Effect | undefined;
  recovered: boolean;
  /** `ended` tells the effect's one result from what a loop sends on its way. */
  deliver(event: AnyEventObject, ended: boolean): void;
}

const nameOf = (address: string, { id, seq }: { id: string; seq: number }): string => `${address}#${id}#${seq}`;

/** Errors don't survive JSON: what a machine gets is `{ name, message, code, final }`. */
export function flattened(error: unknown): { name: string; message: string; code: string; final: boolean } {
  const { code, final }: { code?: unknown; final?: unknown } = error instanceof Object ? error : {};
  return {
    name: textOf(() => (error instanceof Error ? error.name : 'Error')),
    message: textOf(() => messageOf(error)),
    code: code === undefined ? 'EFFECT_FAILED' : textOf(() => code),
    final: final === true,
  };
}

/** Anything can be thrown, also what has no text. */
function textOf(part: () => unknown): string {
  try {
    return String(part());
  } catch {
    return 'unknown error';
  }
}

/** One for all: an error of its own for each, with its stack, would cost more than the step that left the state. */
const stateLeft = new StagecraftError('ABORTED', 'the state that asked for this effect was left');

export class EffectRunner {
  readonly #clock: Clock;
  readonly #running = new Map<string, AbortController>();
  /** Cancelled ones too, until they have come to an end. */
  readonly #runs = new Set<Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(request: EffectStart): void {
    const { address, live } = request;
    const controller = new AbortController();
    this.#running.set(nameOf(address, live), controller);
    const run = this.#run(request, controller).finally(() => this.#runs.delete(run));
    this.#runs.add(run);
  }

  /** @param reason what its signal says; default: ABORTED, its state was left */
  cancel(address: string, live: { id: string; seq: number }, reason?: StagecraftError): void {
    const name = nameOf(address, live);
    const controller = this.#running.get(name);
    this.#running.delete(name);
    controller?.abort(reason ?? stateLeft);
  }

  /** Resolves when all runs, cancelled by their actors, have come to an end, or have had their time. */
  async stop(graceMs: number): Promise<void> {
    const ended = new AbortController();
    void Promise.allSettled(this.#runs).then(() => ended.abort());
    await pause(this.#clock, graceMs, ended.signal);
  }

  async #run({ address, live, effect, recovered, deliver }: EffectStart, controller: AbortController): Promise<void> {
    const { id, seq, src } = live;
    const name = nameOf(address, live);
    const runs = (): boolean => this.#running.get(name) === controller;
    const end = (event: AnyEventObject): void => {
      if (!runs()) return;
      this.#running.delete(name);
      deliver({ ...event, actorId: id }, true);
    };
    const fail = (error: unknown): void => end({ type: `xstate.error.actor.${id}`, error: flattened(error) });
    if (!effect) return fail(new StagecraftError('NO_EFFECT', `nothing here runs the effect '${src}'`, { address }));

    const { signal } = controller;
    const send: EffectCall['send'] = (event) => runs() && deliver(asData(event), false);
    let cancelDeadline = (): void => {};
    try {
      const { input } = asData({ input: live.input });
      cancelDeadline = this.#deadline(effect, input, () => {
        fail(new StagecraftError('TIMEOUT', `${src} took too long; it may still go on`, { address }));
        controller.abort(new StagecraftError('TIMEOUT', `${src}: the deadline has passed`, { address }));
      });
      signal.addEventListener('abort', cancelDeadline);
      const output = await effect.run({ address, id, seq, input, signal, recovered, send });
      if (effect.deadlineMs === 'loop') this.#running.delete(name);
      else end(asData({ type: `xstate.done.actor.${id}`, output }));
    } catch (error) {
      fail(error);
    } finally {
      cancelDeadline();
    }
  }

  #deadline({ deadlineMs = defaultDeadlineMs }: Effect, input: unknown, passed: () => void): () => void {
    const limitMs = typeof deadlineMs === 'function' ? deadlineMs(input as never) : deadlineMs;
    return limitMs === 'loop' || limitMs === Number.POSITIVE_INFINITY ? () => {} : this.#clock.after(limitMs, passed);
  }
}
