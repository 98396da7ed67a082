/** Refusal of requests by a part of the runtime, once it was closed. */
import { StagecraftError } from '../errors.js';

export class Closing {
  #reason: StagecraftError | undefined;

  /** Reason why requests are refused; undefined: they are accepted. */
  get reason(): StagecraftError | undefined {
    return this.#reason;
  }

  /** @throws {StagecraftError} the reason given to `close` */
  refuseIfClosed(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Refuses every later request. The first reason stays. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#reason ??= reason;
  }
}
