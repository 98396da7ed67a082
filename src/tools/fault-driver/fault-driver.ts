/**
 * CSI driver that fails on command: the bundled driver in its own process, with a script between it and its socket.
 * Without a process: serve-faulty.ts. The steps of scripts: step.ts. For users: docs/fault-driver.md
 */
import { socketPathOf } from '../driver/socket.js';
import { monotonicMs } from './call.js';
import { CallBook, defaultPatienceMs, type WaitOptions } from './call-book.js';
import { Child } from './child.js';
import { Faults } from './faults.js';
import { checkPlainOptions, type PlainDriverOptions, processOptions } from './plain-options.js';
import type { ServeOptions } from './protocol.js';

export interface FaultDriverOptions extends PlainDriverOptions {
  /** Path of the socket: absolute, at most 107 bytes. */
  socketPath: string;
  /** Replaces the socket of a driver that still listens there. Default: such a start is refused. */
  takesOver?: boolean;
  /** Leaves its socket file behind when it is stopped. */
  leavesSocket?: boolean;
}

/**
 * Starts a driver; resolves when it answers calls. `stop` it also when a test fails: until then its process keeps the
 * caller's from ending by itself. It does not outlive that.
 * @throws TypeError naming each option that is missing, unknown, or not of its kind
 * @throws {StagecraftError} what keeps it from serving: see `startDriver`
 */
export async function faultDriver(options: FaultDriverOptions): Promise<FaultDriver> {
  checkPlainOptions(options, processOptions);
  const driver = new FaultDriver(options);
  await driver.start();
  return driver;
}

export class FaultDriver extends Faults {
  readonly socketPath: string;
  readonly #options: ServeOptions;
  readonly #book: CallBook;
  #child: Child | undefined;
  /** Resolves once a start in progress has its process. */
  #starting: Promise<Child> | undefined;

  constructor({ takesOver = false, leavesSocket = false, ...options }: FaultDriverOptions) {
    const book = new CallBook(options.nodeId);
    super(book);
    this.#book = book;
    this.socketPath = socketPathOf(options.socketPath);
    this.#options = { ...options, socketPath: this.socketPath, takesOver, leavesSocket };
  }

  /** Process id, while the process lives, frozen or not. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts the driver again after it died or was stopped, with the same data directory, script and record.
   * @throws TypeError: it runs or is being started
   */
  async start(): Promise<void> {
    if (this.#starting) throw new TypeError('the fault driver is being started already');
    if (this.pid !== undefined) throw new TypeError(`the fault driver runs already, with pid ${this.pid}`);
    this.#starting = this.#successor();
    const child = await this.#starting.finally(() => {
      this.#starting = undefined;
    });
    this.offered = await child.serve(this.#options);
  }

  /** Sends SIGKILL: the socket file stays behind. Resolves when the process is gone. */
  async kill(): Promise<void> {
    if (this.#starting) await this.#starting;
    await this.#child?.kill();
  }

  /** Sends SIGTERM: the driver removes its own socket and breaks its connections. Continues a frozen process first. */
  async stop(): Promise<void> {
    if (this.#starting) await this.#starting;
    if (this.pid !== undefined) await this.#child?.terminate();
    await this.#child?.exited;
    this.#book.close('the fault driver was stopped');
  }

  /**
   * Sends SIGSTOP. Resolves when the process stands still, or earlier if it is thawed or ends. Connections stay open,
   * and the kernel accepts new ones.
   */
  async freeze(): Promise<void> {
    await this.#running().freeze();
  }

  /**
   * Resolves when the process stands still, also because of the script.
   * @throws {StagecraftError} TIMEOUT; ABORTED: the process has ended
   */
  async waitForFreeze({ timeoutMs = defaultPatienceMs }: WaitOptions = {}): Promise<void> {
    await this.#running().waitForFreeze(timeoutMs);
  }

  /** Sends SIGCONT, and cancels a freeze in progress. */
  thaw(): void {
    this.#running().thaw();
  }

  /** Puts a new socket of the same process at the path; connections to the old one stay open. */
  async replaceSocket(): Promise<void> {
    await this.#running().replaceSocket();
  }

  #running(): Child {
    if (this.#child?.pid !== undefined) return this.#child;
    throw new TypeError('the fault driver does not run: start it first');
  }

  /** Starts the next process once the one before it is gone. */
  async #successor(): Promise<Child> {
    await this.#child?.exited;
    this.#child = this.#fork();
    return this.#child;
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
