/**
 * The live feed for one viewer over a WebSocket, in batches. A viewer that is slow loses the oldest records and is told how
 * many; one that reads nothing, or says anything, is dropped.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { FeedRecord } from '../engine/feed.js';
import type { Runtime } from '../runtime/runtime.js';
import { summaryOf } from './actor-answers.js';
import { linesOf } from './feed-lines.js';
import type { FeedMessage } from './feed-message.js';
import { FeedViewer } from './feed-viewer.js';
import { whenDrained } from './when-drained.js';

/** Shortest time between two batches, in milliseconds. */
const batchMs = 33;

/** Policy violation, in RFC 6455. */
const policyCode = 1008;

export interface FeedSocketOptions {
  runtime: Pick<Runtime, 'inspect' | 'nodeId'>;
  version: string;
  /** Called when the viewer has lost records. */
  onDropped(count: number): void;
  /** Which records the viewer wants. */
  wants(record: FeedRecord): boolean;
}

/** Feeds the socket until it closes. */
export async function feedSocket(
  socket: WebSocket,
  { runtime, version, onDropped, wants }: FeedSocketOptions,
): Promise<void> {
  const viewer = new FeedViewer(runtime, { wants });
  socket.on('close', () => viewer.close());
  socket.on('error', () => viewer.close());
  socket.on('message', () => {
    socket.close(policyCode, 'the feed takes no messages');
    viewer.close();
  });
  const say = (message: FeedMessage): void => socket.send(JSON.stringify(message));
  say({ type: 'hello', nodeId: runtime.nodeId, version, at: Date.now() });
  for (;;) {
    const batch = await viewer.read();
    if (!batch) return;
    const { records, dropped } = batch;
    if (dropped > 0) onDropped(dropped);
    say({ type: 'batch', ...batch, lines: linesOf(records), ...changesIn(records) });
    await pause(batchMs);
    if (!(await whenDrained(socket))) return viewer.close();
  }
}

type Batch = Extract<FeedMessage, { type: 'batch' }>;

/** Actors that the records have changed, as they were after the last of them; and those that are gone. */
function changesIn(records: readonly FeedRecord[]): Pick<Batch, 'changed' | 'gone'> {
  const last = new Map<string, Extract<FeedRecord, { kind: 'snapshot' }>>();
  for (const record of records) if (record.kind === 'snapshot') last.set(record.address, record);
  const changed: Batch['changed'] = [];
  const gone: string[] = [];
  for (const { address, state, context, commit, at } of last.values()) {
    if (state === undefined || !context) gone.push(address);
    else changed.push({ ...summaryOf(address, { seq: commit, state, context }), at });
  }
  return { changed, gone };
}
