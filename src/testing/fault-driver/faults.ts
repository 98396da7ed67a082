/** What a test says to a driver that fails on command, and asks of it, whatever process that is in. */
import type { RpcName } from '../../csi/answers.js';
import type { RecordedCall } from './call.js';
import type { CallBook, WaitOptions } from './call-book.js';
import { type JudgeOptions, type Offers, type Violation, violationsIn } from './judge/violations.js';
import type { Step, Use } from './step.js';

export abstract class Faults {
  /** What the driver offers by itself, once it is known. */
  protected offered: Offers = {};
  readonly #book: CallBook;

  constructor(book: CallBook) {
    this.#book = book;
  }

  /**
   * Sets what the next call of this RPC meets, or the next few, or all; see {@link Use}. Counted steps are used up in the
   * order in which they were set, and before any that is for always, of which the newest counts.
   * @throws TypeError: no such RPC, or a step that is none, in its words
   */
  script<Rpc extends RpcName>(rpc: Rpc, step: Step<Rpc>, use?: Use<Rpc>): this {
    this.#book.script(rpc, step, use);
    return this;
  }

  /** Takes back all steps, of one RPC or of all. Calls that have met theirs already go on as they were told. */
  clear(rpc?: RpcName): this {
    this.#book.clear(rpc);
    return this;
  }

  /** How many more calls there are steps for, those for always not counted: 0 where the script was played to its end. */
  get stepsLeft(): number {
    return this.#book.stepsLeft;
  }

  /** All calls from the first start on, in the order in which they came. */
  calls(): RecordedCall[] {
    return this.#book.calls();
  }

  /** What was wrong with the calls: see {@link violationsIn}. */
  violations(options?: JudgeOptions): Violation[] {
    return violationsIn(this.calls(), this.offered, options);
  }

  /**
   * Resolves when a call of this RPC has begun that was not waited for before.
   * @throws {StagecraftError} TIMEOUT; ABORTED: the driver was stopped
   */
  waitForCall(rpc: RpcName, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForCall(rpc, options);
  }

  /** Resolves when that call has ended, also where its caller has not waited; else as `waitForCall`. */
  waitForEnd(number: number, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForEnd(number, options);
  }

  /** Resolves when the caller of that call waits no longer: it has gone, or its deadline passed, or it was answered. */
  waitForGone(number: number, options?: WaitOptions): Promise<RecordedCall> {
    return this.#book.waitForGone(number, options);
  }

  /** Lets calls that have begun go on where the script has them hang: the one of this number, or all. */
  release(number?: number): void {
    this.#book.release(number);
  }
}
