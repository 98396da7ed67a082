/**
 * CSI driver that fails on command within the test's process: starts faster than fault-driver.ts, and accepts
 * handlers of the test. It cannot be killed or frozen.
 */
import type { RpcName } from '../../csi/answers.js';
import type { CsiHandlers } from '../../csi/server.js';
import { socketPathOf } from '../driver/socket.js';
import type { Director } from './call.js';
import { CallBook } from './call-book.js';
import { Faults } from './faults.js';
import { checkPlainOptions, type PlainDriverOptions, serveOptions } from './plain-options.js';
import { ServedDriver } from './served-driver.js';
import type { Step, Use } from './step.js';

export interface FaultyOptions extends PlainDriverOptions {
  /** Path of the socket: absolute, at most 107 bytes. */
  socketPath: string;
  /** Handlers in place of those of the bundled driver. */
  handlers?: CsiHandlers;
}

/**
 * Starts a driver; resolves when it answers calls. `stop` it also if the test fails.
 * @throws {StagecraftError} the reason why it cannot serve: see `startDriver`
 */
export async function serveFaulty(given: FaultyOptions): Promise<FaultyServer> {
  checkPlainOptions(given, serveOptions);
  const { socketPath, handlers, ...options } = given;
  const book = new CallBook(options.nodeId);
  const ending = new AbortController();
  const served = await ServedDriver.open(options, {
    socketPath: socketPathOf(socketPath),
    director: directorOf(book),
    ending: ending.signal,
    handlers,
  });
  return new FaultyServer(book, served, ending);
}

export class FaultyServer extends Faults {
  readonly #book: CallBook;
  readonly #served: ServedDriver;
  readonly #ending: AbortController;
  #stopped: Promise<void> | undefined;

  constructor(book: CallBook, served: ServedDriver, ending: AbortController) {
    super(book);
    this.offered = served.offered;
    this.#book = book;
    this.#served = served;
    this.#ending = ending;
  }

  /** @throws TypeError also for steps that need a separate process */
  override script<Rpc extends RpcName>(rpc: Rpc, step: Step<Rpc>, use?: Use<Rpc>): this {
    if (step.die || step.stop) throw new TypeError(`only a driver in a process of its own can ${needsProcess}`);
    return super.script(rpc, step, use);
  }

  /** Puts a new socket at the path; connections to the old one stay open. */
  async replaceSocket(): Promise<void> {
    await this.#served.sockets.replace();
  }

  /**
   * Removes the socket, breaks its connections, ends the waiting of calls, lets work in flight end, and unlocks the
   * data directory. A second call returns the promise of the first.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#ending.abort();
    await this.#served.sockets.close();
    await this.#served.close();
    this.#book.close('the faulty server was stopped');
  }
}

const needsProcess = `'die' or 'stop': use faultDriver`;

const directorOf = (book: CallBook): Director => ({
  begin: async (arrival) => book.begin(arrival),
  gone: async ({ number, atMs }) => book.gone(number, atMs),
  ended: async ({ number, end }) => book.ended(number, end),
  released: (number) => book.released(number),
  freeze: () => Promise.reject(new TypeError(needsProcess)),
  die: () => Promise.reject(new TypeError(needsProcess)),
});
