/**
 * The WebSockets of viewers: the live feed, and the messages for Stately's inspector, in batches. A viewer that is slow loses
 * the oldest records and is told how many; one that reads nothing is dropped.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket, WebSocketServer } from 'ws';
import { registryAddress } from '../../machines/kit/addresses.js';
import type { FeedRecord } from '../engine/feed.js';
import { StagecraftError } from '../errors.js';
import { type Runtime, shown } from '../runtime/runtime.js';
import { pathAndQuery } from './access.js';
import { summaryOf } from './actor-answers.js';
import { type FeedMessage, linesOf } from './feed-message.js';
import { FeedViewer } from './feed-viewer.js';
import { StatelyMessages } from './stately-messages.js';

interface FeedSocketsOptions {
  version: string;
  /** Viewers at once. */
  most: number;
  onDropped(count: number): void;
}

/** The WebSockets of the live feed. */
export class FeedSockets {
  /** Made for the first viewer: without one the module is not loaded. */
  #server: WebSocketServer | undefined;
  #isClosed = false;
  readonly #runtime: Runtime;
  readonly #version: string;
  readonly #most: number;
  readonly #onDropped: (count: number) => void;

  constructor(runtime: Runtime, { version, most, onDropped }: FeedSocketsOptions) {
    this.#runtime = runtime;
    this.#onDropped = onDropped;
    this.#version = version;
    this.#most = most;
  }

  /** @throws {StagecraftError} NOT_FOUND for another path, TOO_MANY_VIEWERS */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { path, query } = pathAndQuery(request.url ?? '');
    const begin = this.#feeds[path];
    if (!begin) throw new StagecraftError('NOT_FOUND', `there is no WebSocket at ${path}`);
    const { WebSocketServer } = await import('ws');
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#server ??= new WebSocketServer({ noServer: true, maxPayload: 1_024 });
    if (this.#server.clients.size >= this.#most)
      throw new StagecraftError('TOO_MANY_VIEWERS', `${this.#most} viewers look already: close one of them`);
    this.#server.handleUpgrade(request, socket, head, (viewer: WebSocket) => {
      void begin(viewer, query);
    });
  }

  /** Feeds by path. */
  readonly #feeds: Record<string, (viewer: WebSocket, query: URLSearchParams) => Promise<void>> = {
    '/v1/feed': (viewer, query) =>
      feedSocket(viewer, { ...this.#common(query), runtime: this.#runtime, version: this.#version }),
    '/v1/stately': (viewer, query) =>
      statelySocket(viewer, { ...this.#common(query), runtime: this.#runtime, prefix: query.get('address') ?? '' }),
  };

  #common(query: URLSearchParams): Pick<FeedSocketOptions, 'onDropped' | 'wants'> {
    return { onDropped: this.#onDropped, wants: wantedBy(query) };
  }

  close(): void {
    this.#isClosed = true;
    for (const viewer of this.#server?.clients ?? []) viewer.close(1001, 'the agent ends');
    for (const viewer of this.#server?.clients ?? []) viewer.terminate();
    this.#server?.close();
  }
}

/** Filter of the query: `address=PREFIX`, `kind=a,b`. */
function wantedBy(query: URLSearchParams): (record: FeedRecord) => boolean {
  const prefix = query.get('address') ?? '';
  const kinds = query.get('kind')?.split(',');
  return ({ address, kind }) => address.startsWith(prefix) && (kinds === undefined || kinds.includes(kind));
}

/** Shortest time between two batches, in milliseconds. */
const batchMs = 33;

/** Policy violation, in RFC 6455. */
const policyCode = 1008;

interface FeedSocketOptions {
  runtime: Pick<Runtime, 'inspect' | 'nodeId'>;
  version: string;
  /** Called when the viewer has lost records. */
  onDropped(count: number): void;
  /** Which records the viewer wants. */
  wants(record: FeedRecord): boolean;
}

/** Feeds the socket until it closes. */
async function feedSocket(socket: WebSocket, { runtime, version, onDropped, wants }: FeedSocketOptions): Promise<void> {
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

interface StatelySocketOptions extends Pick<FeedSocketOptions, 'onDropped' | 'wants'> {
  runtime: Pick<Runtime, 'inspect' | 'actors' | 'nodeId'>;
  /** Beginning of the addresses that are told. */
  prefix: string;
}

/** Feeds the socket until it closes. What the viewer says is ignored: Stately's own pages greet. */
async function statelySocket(
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

/** While more than this waits to be sent, nothing is added. */
const patientBytes = 1 * 2 ** 20;
/** A viewer that takes nothing for so long is dropped. */
const silentMs = 30_000;
const pollMs = 100;
/** Resolves once what was sent has gone out, or almost. @returns false: the viewer took nothing, and is dropped */
async function whenDrained(socket: WebSocket): Promise<boolean> {
  let before = socket.bufferedAmount;
  for (let silent = 0; socket.bufferedAmount > patientBytes; silent += pollMs) {
    if (silent >= silentMs) {
      socket.close(policyCode, 'the viewer reads nothing');
      socket.terminate();
      return false;
    }
    await pause(pollMs);
    if (socket.bufferedAmount < before) silent = 0;
    before = socket.bufferedAmount;
  }
  return true;
}
