/** Feeds Stately's inspector over a WebSocket: all actors as they are, then what happens to them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { registryAddress } from '../../machines/kit/addresses.js';
import { type Runtime, shown } from '../runtime/runtime.js';
import type { FeedSocketOptions } from './feed-socket.js';
import { FeedViewer } from './feed-viewer.js';
import { StatelyMessages } from './stately-messages.js';
import { whenDrained } from './when-drained.js';

interface StatelySocketOptions extends Pick<FeedSocketOptions, 'onDropped' | 'wants'> {
  runtime: Pick<Runtime, 'inspect' | 'actors' | 'nodeId'>;
  /** Beginning of the addresses that are told. */
  prefix: string;
}

const batchMs = 33;

/** Feeds the socket until it closes. What the viewer says is ignored: Stately's own pages greet. */
export async function statelySocket(
  socket: WebSocket,
  { runtime, prefix, wants, onDropped }: StatelySocketOptions,
): Promise<void> {
  // Listens first, so that nothing between the list and the feed is missed.
  const viewer = new FeedViewer(runtime, { wants });
  socket.on('close', () => viewer.close());
  socket.on('error', () => viewer.close());
  const messages = new StatelyMessages(registryAddress(runtime.nodeId));
  const say = (list: object[]): void => {
    for (const message of list) socket.send(JSON.stringify(message));
  };
  for await (const { rows } of runtime.actors.pages()) {
    for (const [address, { state, context }] of rows)
      if (address.startsWith(prefix)) say(messages.present(shown({ address, state, context }), Date.now()));
    if (!(await whenDrained(socket))) return viewer.close();
  }
  for (;;) {
    const batch = await viewer.read();
    if (!batch) return;
    if (batch.dropped > 0) onDropped(batch.dropped);
    say(batch.records.flatMap((record) => messages.of(record)));
    await pause(batchMs);
    if (!(await whenDrained(socket))) return viewer.close();
  }
}
