/** Driver's process: the bundled driver behind a socket, with the script in between. Started by fault-driver.ts */
import { onAbort } from '../../abort.js';
import { type Driver, openDriver } from '../driver/driver.js';
import type { Director } from './call.js';
import { interposed } from './interposed.js';
import { link, type Port } from './link.js';
import { offersOf } from './offered.js';
import { driverOptionsOf } from './plain-options.js';
import type { DirectorAnswers, DriverAnswers, ServeOptions } from './protocol.js';
import { Sockets } from './sockets.js';
import { Underway } from './underway.js';

interface Served {
  driver: Driver;
  sockets: Sockets;
  underway: Underway;
  leavesSocket: boolean;
}

let served: Served | undefined;

const port: Port = {
  send: (message) => process.send?.(message, undefined, undefined, () => undefined), // a parent that is gone ends us
  onMessage: (receive) => process.on('message', receive),
};

const { ask } = link<DirectorAnswers>(port, {
  serve: async (options) => {
    served = await serve(options);
    return offersOf(served.driver.handlers);
  },
  replaceSocket: async () => served?.sockets.replace(),
} satisfies DriverAnswers);

const director: Director = {
  begin: (arrival) => ask('begin', arrival),
  gone: (left) => ask('gone', left),
  ended: (ended) => ask('ended', ended),
  released: (number) => ask('released', number),
  freeze: () => ask('freeze', undefined),
  die: (dying) => ask('die', dying),
};

const ending = new AbortController();
for (const reason of ['SIGTERM', 'disconnect']) process.once(reason, () => ending.abort());
onAbort(ending.signal, () => void stop());

async function serve({ socketPath, takesOver, leavesSocket, ...options }: ServeOptions): Promise<Served> {
  const driver = await openDriver(driverOptionsOf(options));
  try {
    const underway = new Underway();
    const watch = <T>(work: Promise<T>): Promise<T> => underway.watch(work);
    const sockets = new Sockets(socketPath, (connected) =>
      interposed(driver.handlers, director, { ...connected, watch, ending: ending.signal }),
    );
    await (takesOver ? sockets.replace() : sockets.open());
    return { driver, sockets, underway, leavesSocket };
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** Breaks all connections at once and lets work in flight end, so that no mount stays half made. */
async function stop(): Promise<void> {
  if (!served?.leavesSocket) served?.sockets.remove();
  served?.sockets.cut();
  await served?.underway.settled();
  served?.driver.close();
  process.exit(0);
}
