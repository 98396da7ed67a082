/** Driver's process: the bundled driver behind a socket, with the script in between. Started by fault-driver.ts */
import { onAbort } from '../../abort.js';
import type { Director } from './call.js';
import { type DirectorAnswers, type DriverAnswers, link, type Port, type ServeOptions } from './protocol.js';
import { ServedDriver } from './served-driver.js';

let served: ServedDriver | undefined;
let leavesSocket = false;

const port: Port = {
  send: (message) => process.send?.(message, undefined, undefined, () => undefined), // a parent that is gone ends us
  onMessage: (receive) => process.on('message', receive),
};

const { ask } = link<DirectorAnswers>(port, {
  serve: async ({ socketPath, takesOver, leavesSocket: leaves, ...options }: ServeOptions) => {
    leavesSocket = leaves;
    served = await ServedDriver.open(options, { socketPath, takesOver, director, ending: ending.signal });
    return served.offered;
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

/** Breaks all connections at once, and lets work in flight end. */
async function stop(): Promise<void> {
  if (!leavesSocket) served?.sockets.remove();
  served?.sockets.cut();
  await served?.close();
  process.exit(0);
}
