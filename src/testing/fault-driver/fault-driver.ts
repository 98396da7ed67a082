/**
 * A CSI driver that fails on command: the bundled driver in a process of its own, with a script between it and its
 * socket. What steps there are: step.ts. The record of calls: call-book.ts. For users: docs/fault-driver.md
 */
import type { RpcName } from '../../csi/answers.js';
import type { DriverOptions } from '../../driver/driver.js';
import { socketPathOf } from '../../driver/socket.js';
import { monotonicMs, type RecordedCall } from './call.js';
import { CallBook, type WaitOptions } from './call-book.js';
import { Child } from './child.js';
import { type Violation, violationsIn } from './judge/violations.js';
import type { Offered, ServeOptions } from './protocol.js';
import type { Step, Use } from './step.js';

export interface FaultDriverOptions extends DriverOptions {
  /** Where it listens: absolute, at most 107 bytes. */
  socketPath: string;
  /** Takes the socket from whoever listens there, who lives on. Default: that is refused. */
  takesOver?: boolean;
  /** Leaves its socket file behind when it is told to stop. */
  leavesSocket?: boolean;
}

/**
 * Starts a driver; resolves when it answers calls. `stop` it also when a test fails: until then its process keeps the
 * caller's from ending by itself. It does not outlive that.
 * @throws {StagecraftError} what keeps it from serving: see `startDriver`
 */
export async function faultDriver(options: FaultDriverOptions): Promise<FaultDriver> {
  const driver = new FaultDriver(options);
  await driver.start();
  return driver;
}

export class FaultDriver {
  readonly socketPath: string;
  readonly #options: ServeOptions;
  readonly #book: CallBook;
  #child: Child | undefined;
  #offered: Offered | undefined;

  constructor({ takesOver = false, leavesSocket = false, ...options }: FaultDriverOptions) {
    this.socketPath = socketPathOf(options.socketPath);
    this.#options = { ...options, socketPath: this.socketPath, takesOver, leavesSocket };
    this.#book = new CallBook(options.nodeId);
  }

  /** Of the process that runs, frozen or not. */
  get pid(): number | undefined {
    return this.#child?.pid;
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
  violations(): Violation[] {
    return violationsIn(this.calls(), this.#offered);
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

  /** Lets calls go on that hang by the script: the one of this number, or all. */
  release(number?: number): void {
    this.#book.release(number);
  }

  /** Starts it again where it has died or was stopped, with the state of its data directory, its script and record. */
  async start(): Promise<void> {
    if (this.pid !== undefined) throw new TypeError(`the fault driver runs already, with pid ${this.pid}`);
    await this.#child?.exited;
    this.#child = this.#fork();
    this.#offered = await this.#child.serve(this.#options);
  }

  /** SIGKILL: its socket file stays behind. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  /** SIGTERM: it removes its socket, unless that is another's by now, and breaks its connections. Goes on if frozen. */
  async stop(): Promise<void> {
    if (this.pid !== undefined) await this.#child?.terminate();
    await this.#child?.exited;
    this.#book.close('the fault driver was stopped');
  }

  /** SIGSTOP: resolves when the process stands still. Connections stay open, and new ones are let in by the kernel. */
  async freeze(): Promise<void> {
    await this.#running().freeze();
  }

  /** Resolves when the process stands still, also by a step of the script. */
  async waitForFreeze(): Promise<void> {
    await this.#running().waitForFreeze();
  }

  /** SIGCONT: it goes on where it stood. */
  thaw(): void {
    this.#running().thaw();
  }

  /** Puts a new socket of the same process at the path; connections to the old one live on. */
  async replaceSocket(): Promise<void> {
    await this.#running().replaceSocket();
  }

  #running(): Child {
    if (this.#child?.pid !== undefined) return this.#child;
    throw new TypeError('the fault driver does not run: start it first');
  }

  #fork(): Child {
    const book = this.#book;
    return new Child({
      begin: async (arrival) => book.begin(arrival),
      gone: async ({ number, atMs }) => book.gone(number, atMs),
      ended: async ({ number, end }) => book.ended(number, end),
      released: (number) => book.released(number),
      dying: ({ number, work }) =>
        book.ended(number, { atMs: monotonicMs(), how: 'died', ...(work !== undefined && { work }) }),
      exited: () => book.died(monotonicMs()),
    });
  }
}
