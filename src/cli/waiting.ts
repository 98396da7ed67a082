/** How the command line waits for what it asked for: it says what that waits for, and takes a Ctrl-C for the end of waiting only. */
import { setTimeout as pause } from 'node:timers/promises';
import { allocTrouble } from '../agent/describe-mounts.js';
import type { AllocReport } from '../agent/mount-api.js';
import { AgentError, askAgent } from './client.js';
import { oneLine } from './print.js';
import { type LookOptions, socketOf, soon } from './reach.js';
import { firstSignal } from './signals.js';

/** The first line, and how soon a change is seen. */
const firstMs = 3_000;
const everyMs = 1_000;

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

/** One for all that a command asks for, one after the other. */
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

/** A line on stderr whenever what it waits for is another thing than before. */
async function tellOf(look: Look, over: AbortSignal): Promise<void> {
  let told: string | undefined;
  try {
    for (let ms = firstMs; ; ms = everyMs) {
      await pause(ms, undefined, { signal: over, ref: false });
      const now = await look().catch(() => undefined);
      over.throwIfAborted();
      if (now === undefined || now === told) continue;
      told = now;
      process.stderr.write(`waiting: ${now}\n`);
    }
  } catch {
    // What was asked for is answered.
  }
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
    const why = place?.message ?? allocTrouble({ waits, ...(volumes && { volumes }), ...(error && { error }) });
    return oneLine(why === undefined ? now : `${now}: ${why}`);
  } catch {
    return undefined;
  }
}
