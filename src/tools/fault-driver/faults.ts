/** Interface between a test and a driver that fails on command, whichever process the driver is in. */
import type { RpcName } from '../../csi/answers.js';
import type { RecordedCall } from './call.js';
import type { CallBook, WaitOptions } from './call-book.js';
import { type JudgeOptions, type Offers, type Violation, violationsIn } from './judge/violations.js';
import type { Step, Use } from './step.js';

export abstract class Faults {
  /** Capabilities of the driver, once they are known. */
  protected offered: Offers = {};
  readonly #book: CallBook;

  constructor(book: CallBook) {
    this.#book = book;
  }

  /**
   * Sets a step for the next calls of this RPC, or for all; see {@link Use}. Counted steps are used in the order in
   * which they were set, and before steps without a count, of which the newest applies.
   * @throws TypeError: unknown RPC or invalid step, with the reason
   */
  script<Rpc extends RpcName>(rpc: Rpc, step: Step<Rpc>, use?: Use<Rpc>): this {
    this.#book.script(rpc, step, use);
    return this;
  }

  /** Removes all steps, of one RPC or of all. Calls that have met their step already are not affected. */
  clear(rpc?: RpcName): this {
    this.#book.clear(rpc);
    return this;
  }

  /** Number of calls that counted steps are left for; 0 once the script is played. */
  get stepsLeft(): number {
    return this.#book.stepsLeft;
  }

  /** All calls since the first start, in the order of arrival. */
  calls(): RecordedCall[] {
    return this.#book.calls();
  }

  /** Faults of the caller: see {@link violationsIn}. */
  violations(options?: JudgeOptions): Violation[] {
    return violationsIn(this.calls(), this.offered, options);
  }

  /**
   * Resolves when a call of this RPC has begun that no test has waited for yet.
   * @throws {StagecraftError} TIMEOUT; ABORTED: the driver was stopped
   */
  waitForCall(rpc: RpcName, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForCall(rpc, options);
  }

  /** Resolves when the call has ended, even if its caller has left. Errors as `waitForCall`. */
  waitForEnd(number: number, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForEnd(number, options);
  }

  /** Resolves when the caller of that call waits no longer: it left, its deadline passed, or it was answered. */
  waitForGone(number: number, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForGone(number, options);
  }

  /** Releases calls that hang because of the script: the one of this number, or all. */
  release(number?: number): void {
    this.#book.release(number);
  }
}
