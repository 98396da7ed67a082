/** How the command line waits for what it asked for: it says what that waits for, and takes a Ctrl-C for the end of waiting only. */
import { setTimeout as pause } from 'node:timers/promises';
import { onAbort } from '../abort.js';
import { allocTrouble } from '../agent/describe-mounts.js';
import type { AllocReport } from '../agent/mount-api.js';
import { AgentError, askAgent } from './client.js';
import { type LookOptions, socketOf, soon } from './connection.js';
import { oneLine } from './print.js';
import { firstSignal } from './signals.js';

/** The first line, and how soon a change is seen. */
const firstMs = 3_000;
const everyMs = 1_000;
/** Without a terminal, how often the same is said again. */
const againMs = 30_000;

/** What it waits for now, in words; undefined where it can't be seen. */
export type Look = () => Promise<string | undefined>;

/** What is looked at meanwhile. */
export interface Waited {
  path: string;
  /** As it is called in the lines. */
  name: string;
  /** The node that it is on its way to, or from. */
  nodeId?: string;
}

interface Seen {
  state: string;
  deleting?: boolean;
  error?: { message: string };
  /** Of an alloc: what its volumes wait for. */
  waits?: Record<string, string>;
  volumes?: AllocReport['volumes'];
  publications?: Record<string, { state: string; message?: string }>;
}

/** Promise of the first signal, shared by all successive requests of a command. */
let interrupted: Promise<true> | undefined;

/**
 * Asks for something that may take long.
 * @throws AgentError INTERRUPTED: the request stands; else as askAgent
 */
export async function askAndWait(
  request: { path: string; body: object },
  waited: Waited,
  options: LookOptions,
): Promise<unknown> {
  const socketPath = socketOf(options);
  const { path, body } = request;
  const over = new AbortController();
  const asked = askAgent(socketPath, 'POST', path, { body, signal: over.signal });
  interrupted ??= firstSignal().then(() => true);
  if (!options.json) void tellOf(() => stateOf(socketPath, waited), over.signal);
  try {
    if ((await Promise.race([asked, interrupted])) !== true) return await asked;
    const now = await stateOf(socketPath, waited);
    const how = now === undefined ? 'look at it again' : `it is ${now}`;
    throw new AgentError('INTERRUPTED', `not waited for any more; the request for ${waited.name} stands: ${how}`);
  } finally {
    over.abort();
    asked.catch(() => {});
  }
}

/** Waits for an answer, and says meanwhile what that waits for. */
export async function tellingOf<T>(asked: Promise<T>, now: Look, { json }: LookOptions): Promise<T> {
  const over = new AbortController();
  if (!json) void tellOf(now, over.signal);
  try {
    return await asked;
  } finally {
    over.abort();
  }
}

/**
 * On stderr: in a terminal one line that counts the seconds; else a line whenever what it waits for is another thing than
 * before, and now and then while it is the same.
 */
async function tellOf(look: Look, over: AbortSignal): Promise<void> {
  const beganMs = performance.now();
  const { isTTY, columns } = process.stderr;
  let told: { now: string; atMs: number } | undefined;
  const tell = (now: string): void => {
    const atMs = performance.now();
    const elapsed = `waiting for ${Math.round((atMs - beganMs) / 1_000)} s: ${now}`;
    if (isTTY) return void process.stderr.write(`${clearLine}${cut(elapsed, columns)}`);
    if (now === told?.now && atMs - told.atMs < againMs) return;
    process.stderr.write(`${now === told?.now ? elapsed : `waiting: ${now}`}\n`);
    told = { now, atMs };
  };
  // Whatever is said next begins a line of its own.
  if (isTTY) onAbort(over, () => process.stderr.write(clearLine));
  try {
    for (let ms = firstMs; ; ms = everyMs) {
      await pause(ms, undefined, { signal: over, ref: false });
      const now = await look().catch(() => undefined);
      over.throwIfAborted();
      if (now !== undefined) tell(now);
    }
  } catch {
    // What was asked for is answered.
  }
}

const clearLine = '\r\u001b[K';

/** In the last column a terminal may begin a new line. */
const cut = (line: string, columns: number): string =>
  line.length < columns ? line : `${line.slice(0, Math.max(columns - 2, 1))}…`;

/** The call that is in flight in a state, where nothing is known to be in its way. */
const calls: Record<string, string> = {
  'pending-create': 'Create',
  'pending-delete': 'Delete',
  'pending-publish': 'ControllerPublish',
  'pending-unpublish': 'ControllerUnpublish',
};

function callIn(path: string, state: string): string | undefined {
  const call = calls[state];
  if (call === undefined) return undefined;
  const [, sort = ''] = /^\/v1\/([\w-]+)\//.exec(path) ?? [];
  const subject = { volumes: 'Volume', snapshots: 'Snapshot', 'group-snapshots': 'VolumeGroupSnapshot' }[sort];
  return subject && `${call}${subject} has not been answered yet`;
}

/** Undefined where it can't be seen. */
async function stateOf(socketPath: string, { path, nodeId = '' }: Waited): Promise<string | undefined> {
  try {
    const {
      state,
      deleting,
      error,
      waits = {},
      volumes,
      publications,
    } = (await askAgent(socketPath, 'GET', path, soon)) as Seen;
    const place = publications?.[nodeId];
    const next = deleting && state !== 'pending-delete' ? ', to be deleted after that' : '';
    const now = place ? `${place.state} on node ${nodeId}` : `${state}${next}`;
    const trouble = place?.message ?? allocTrouble({ waits, ...(volumes && { volumes }), ...(error && { error }) });
    const why = trouble ?? callIn(path, place?.state ?? state);
    return oneLine(why === undefined ? now : `${now}: ${why}`);
  } catch {
    return undefined;
  }
}
