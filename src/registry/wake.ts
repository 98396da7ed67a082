/** One pause that ends early, by whichever of several causes comes first; all of them are let go of together. */
import { onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';

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
