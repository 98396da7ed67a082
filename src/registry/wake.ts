/** What ends one pause early, by whichever of several causes comes first; all of them are let go of together. */
export class Wake {
  readonly #controller = new AbortController();
  readonly #unhooks: (() => void)[] = [];
  readonly #call = (): void => this.#controller.abort();

  /** Aborted by the first cause. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** `hook` gets what to call, and answers what ends that. */
  on(hook: (call: () => void) => (() => void) | undefined): void {
    const unhook = hook(this.#call);
    if (unhook) this.#unhooks.push(unhook);
  }

  onAbort(signal: AbortSignal): void {
    this.on((call) => {
      signal.addEventListener('abort', call);
      return () => signal.removeEventListener('abort', call);
    });
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
