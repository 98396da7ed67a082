/**
 * The driver on a directory that several hosts share: each call takes the directory, reads what the drivers of other hosts
 * have done, does its work, and gives the directory back.
 */
import { type CsiHandlers, CsiStatus, type ServerCall } from '../../csi/server.js';
import { StagecraftError } from '../../errors.js';
import type { Driver, DriverOptions } from './driver.js';

type Work = (request: object, call: ServerCall) => object | Promise<object>;

/**
 * @param open takes the directory for one call
 * @throws {StagecraftError} INVALID_ARGUMENT: without `attach` nothing keeps two hosts from using a volume; as `open`
 */
export async function sharedDriver(
  options: DriverOptions,
  open: (options: DriverOptions) => Promise<Driver>,
): Promise<Driver> {
  if (!options.attach)
    throw new StagecraftError('INVALID_ARGUMENT', 'a shared data directory needs attach: ask for that too');
  const first = await open(options);
  await first.close();
  const queue = new Queue();
  const handlers = Object.keys(first.handlers).map((rpc) => {
    const work: Work = (request, call) =>
      queue.run(async () => {
        const driver = await open(options).catch((error: unknown) => {
          throw isLocked(error) ? new CsiStatus('ABORTED', `${error.message}, or ask again`) : error;
        });
        const handler = Object.entries(driver.handlers).find(([name]) => name === rpc)?.[1] as Work;
        try {
          return await handler(request, call);
        } finally {
          await driver.close();
        }
      });
    return [rpc, work];
  });
  return { handlers: Object.fromEntries(handlers) satisfies CsiHandlers, close: () => queue.idle() };
}

const isLocked = (error: unknown): error is StagecraftError =>
  error instanceof StagecraftError && error.code === 'DATA_DIR_LOCKED';

/** Calls of this process, one after the other. */
class Queue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async idle(): Promise<void> {
    await this.#last;
  }
}
