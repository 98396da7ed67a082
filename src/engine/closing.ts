/** Refusal of requests by a part of the runtime, once it was closed. */
import { StagecraftError } from '../errors.js';

export class Closing {
  readonly #end = new AbortController();
  #reason: StagecraftError | undefined;

  /** Reason why requests are refused; undefined: they are accepted. */
  get reason(): StagecraftError | undefined {
    return this.#reason;
  }

  /** Aborted with the reason. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** @throws {StagecraftError} the reason given to `close` */
  refuseIfClosed(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Refuses every later request. The first reason stays. @returns that reason */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): StagecraftError {
    this.#reason ??= reason;
    this.#end.abort(this.#reason);
    return this.#reason;
  }
}
