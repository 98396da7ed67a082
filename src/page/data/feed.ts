/** Keeps the page in step with the agent: all actors once, then the live feed. After a break it begins anew. */
import { signal } from '@preact/signals';
import type { Overview } from '../../api/actor-routes.js';
import type { FeedLine, FeedMessage } from '../../inspector/feed-message.js';
import { ActorTable } from './actors.js';
import { ApiError, ask, openSocket } from './api.js';
import { onChangeElsewhere } from './elsewhere.js';
import { type LogRow, rowOf } from './log-rows.js';
import { Ring } from './ring.js';
import { token } from './token.js';

type Connection = 'loading' | 'live' | 'disconnected';

/** Records that the log keeps. */
const mostRecords = 50_000;
const mostLines = 500;
/** Time between two paints of what has changed, in milliseconds. */
const paintMs = 250;
const retryMs = 1_000;

export const actors = new ActorTable();
export const records = new Ring<LogRow>(mostRecords);
export const lines = new Ring<FeedLine>(mostLines);

/** Rises when something has changed, four times a second at most: what a view reads to be painted again. */
export const tick = signal(0);
export const connection = signal<Connection>('loading');
/** Why there is no connection, as a sentence. */
export const connectionTrouble = signal('');
/** When the agent was heard last, in milliseconds since the epoch. */
export const heardAt = signal(0);
/** Records that were dropped, as the page could not keep up; at least so many. */
export const dropped = signal(0);
export const nodeId = signal('');
/** Whether this agent works on volumes and nodes. */
export const leads = signal(true);
/** Records per second. */
export const rate = signal(0);

const touched = new EventTarget();

/** Calls back whenever the actor at this address has changed. @returns a function that ends it */
export function onChange(address: string, changed: () => void): () => void {
  touched.addEventListener(address, changed);
  return () => touched.removeEventListener(address, changed);
}

let isDirty = false;
let counted = 0;

export function startFeed(): void {
  void run();
  let before = performance.now();
  setInterval(() => {
    const now = performance.now();
    const next = Math.round((counted * 1_000) / (now - before));
    counted = 0;
    before = now;
    rate.value = Math.round(rate.value * 0.6 + next * 0.4);
    if (isDirty && document.visibilityState === 'visible') {
      isDirty = false;
      tick.value += 1;
    }
  }, paintMs);
}

async function run(): Promise<void> {
  for (;;) {
    await untilToken();
    try {
      await follow();
    } catch (error) {
      connectionTrouble.value =
        error instanceof ApiError ? error.message : 'The agent does not answer. What you see is as it was.';
    }
    if (connection.value !== 'loading' || connectionTrouble.value !== '') connection.value = 'disconnected';
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function untilToken(): Promise<void> {
  let end: () => void = () => {};
  await new Promise<void>((resolve) => {
    end = token.subscribe((own) => own !== undefined && resolve());
  });
  end();
}

/** Follows the feed until the connection ends. Listens first, so that nothing between the two is missed. */
async function follow(): Promise<void> {
  const socket = await openSocket('/v1/feed');
  const waiting: FeedMessage[] = [];
  let isFilling = true;
  /** Fetches all actors; what the feed tells meanwhile comes after them. */
  const fill = async (): Promise<void> => {
    isFilling = true;
    const overview = await ask<Overview>('/v1/overview');
    nodeId.value = overview.nodeId;
    leads.value = overview.leads;
    actors.fill(overview);
    isFilling = false;
    for (const message of waiting.splice(0)) take(message);
    for (const address of actors.address) touched.dispatchEvent(new Event(address));
    isDirty = true;
  };
  const ended = new Promise<void>((resolve) => {
    socket.onclose = () => resolve();
  });
  socket.onmessage = ({ data }) => {
    const message: FeedMessage = JSON.parse(data);
    if (isFilling) waiting.push(message);
    else take(message);
    // A change that was dropped may have been the last one of its actor.
    if (!isFilling && message.type === 'batch' && message.dropped > 0) fill().catch(() => socket.close());
  };
  const isOpen = await Promise.race([
    new Promise<boolean>((resolve) => {
      socket.onopen = () => resolve(true);
    }),
    ended.then(() => false),
  ]);
  const endElsewhere = onChangeElsewhere((isLeader) => {
    if (isLeader || !leads.value) fill().catch(() => socket.close());
  });
  void ended.then(endElsewhere);
  await fill();
  heardAt.value = Date.now();
  if (!isOpen) throw new ApiError('NOT_REACHABLE', 'The live feed can not be opened. What you see is as it was.');
  connectionTrouble.value = '';
  connection.value = 'live';
  tick.value += 1;
  await ended;
}

function take(message: FeedMessage): void {
  heardAt.value = Date.now();
  if (message.type !== 'batch') return;
  const { changed, gone, dropped: lost } = message;
  for (const summary of changed) {
    const place = actors.placeOf(summary.address);
    // The overview may be newer than the batches that came before it.
    if (place === undefined || (actors.seq[place] ?? 0) <= summary.seq) actors.change(summary);
  }
  for (const address of gone) actors.gone(address);
  const words = new Map(message.lines.map((line) => [line.seq, line]));
  records.add(message.records.map((record) => rowOf(record, words.get(record.seq))));
  lines.add(message.lines);
  counted += message.records.length;
  if (lost > 0) dropped.value += lost;
  isDirty = true;
  for (const { address } of changed) touched.dispatchEvent(new Event(address));
  for (const address of gone) touched.dispatchEvent(new Event(address));
}
