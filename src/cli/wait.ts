/** Waits for the answer to a request, with progress on stderr. Ctrl-C ends the wait, not the request. */

import { setTimeout as pause } from 'node:timers/promises';
import { onAbort } from '../abort.js';
import { allocTrouble } from '../agent/describe-mounts.js';
import type { AllocReport } from '../api/node-routes.js';
import { AgentError } from '../client/agent-error.js';
import type { Client } from '../client/client.js';
import { firstLine } from '../host/terminal-text.js';
import { agentAt, type LookOptions, soon } from './connection.js';
import { progress, warn } from './output.js';
import { firstSignal } from './signals.js';

/** Time until the first line of progress, and between looks after that. */
const firstMs = 3_000;
const everyMs = 1_000;
/** Time until the same line is printed again, without a terminal. */
const againMs = 30_000;

/** Describes what the request waits for now; undefined if that is unknown. */
type Look = () => Promise<string | undefined>;

/** Resource to look at while a request waits. */
export interface Waited {
  look(agent: Client): Promise<Seen>;
  /** Volume or snapshot, in the names of calls about it. */
  subject?: 'Volume' | 'Snapshot' | 'VolumeGroupSnapshot' | undefined;
  /** Name in the lines of progress. */
  name: string;
  /** Node that a volume is published to, or unpublished from. */
  nodeId?: string;
}

interface Seen {
  state: string;
  deleting?: boolean;
  error?: { message: string };
  /** Reasons why an alloc waits, by volume. */
  waits?: Record<string, string>;
  volumes?: AllocReport['volumes'];
  publications?: Record<string, { state: string; message?: string }>;
}

/** Promise of the first signal, shared by all successive requests of a command. */
let interrupted: Promise<true> | undefined;

/**
 * Sends a request that may take long, and prints progress until the answer.
 * @throws AgentError INTERRUPTED: Ctrl-C, and the request goes on; others as askAgent
 */
export async function askAndWait<T>(
  ask: (agent: Client, signal: AbortSignal) => Promise<T>,
  waited: Waited,
  options: LookOptions,
): Promise<T> {
  const agent = await agentAt(options);
  const over = new AbortController();
  const asked = ask(agent, over.signal);
  interrupted ??= firstSignal().then(() => true);
  if (!options.json) void tellOf(() => stateOf(agent, waited), over.signal);
  try {
    if ((await Promise.race([asked.then(() => 'answered'), interrupted])) !== true) return await asked;
    const now = await stateOf(agent, waited);
    const how = now === undefined ? 'look at it again' : `it is ${now}`;
    throw new AgentError('INTERRUPTED', `stopped waiting; the request for ${waited.name} goes on: ${how}`);
  } finally {
    over.abort();
    asked.catch(() => {});
  }
}

/** Waits for an answer, and prints progress until then. */
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
 * Prints progress on stderr until the abort. A terminal has one line that counts seconds; other outputs get a line for
 * each change, and a repetition now and then.
 */
async function tellOf(look: Look, over: AbortSignal): Promise<void> {
  const beganMs = performance.now();
  let told: { now: string; atMs: number } | undefined;
  const tell = (now: string): void => {
    const atMs = performance.now();
    const elapsed = `waiting for ${Math.round((atMs - beganMs) / 1_000)} s: ${now}`;
    if (progress.isPossible) return void progress.show(elapsed);
    if (now === told?.now && atMs - told.atMs < againMs) return;
    warn(now === told?.now ? elapsed : `waiting: ${now}`);
    told = { now, atMs };
  };
  if (progress.isPossible) onAbort(over, progress.clear);
  try {
    for (let ms = firstMs; ; ms = everyMs) {
      await pause(ms, undefined, { signal: over, ref: false });
      const now = await look().catch(() => undefined);
      over.throwIfAborted();
      if (now !== undefined) tell(now);
    }
  } catch {
    // Aborted: the answer is there.
  }
}

/** Call that is in flight in each state, unless the agent gives another reason to wait. */
const calls: Record<string, string> = {
  'pending-create': 'Create',
  'pending-delete': 'Delete',
  'pending-publish': 'ControllerPublish',
  'pending-unpublish': 'ControllerUnpublish',
};

function callIn(subject: Waited['subject'], state: string): string | undefined {
  const call = calls[state];
  return call && subject && `${call}${subject} has not been answered yet`;
}

/** Describes state and trouble of the resource; undefined if the agent can't tell. */
async function stateOf(agent: Client, waited: Waited): Promise<string | undefined> {
  const [state, { leads, isLeaderSilent, reason }] = await Promise.all([
    stateAt(agent, waited),
    agent.agent.status(soon).catch(() => ({ leads: true, isLeaderSilent: undefined, reason: undefined })),
  ]);
  if (leads || reason === undefined) return state;
  if (isLeaderSilent) return [...(state === undefined ? [] : [state]), reason].join('; ');
  return state ?? reason;
}

async function stateAt(agent: Client, { look, subject, nodeId = '' }: Waited): Promise<string | undefined> {
  try {
    const { state, deleting, error, waits = {}, volumes, publications } = await look(agent);
    const place = publications?.[nodeId];
    const next = deleting && state !== 'pending-delete' ? ', to be deleted after that' : '';
    const now = place ? `${place.state} on node ${nodeId}` : `${state}${next}`;
    const trouble = place?.message ?? allocTrouble({ waits, ...(volumes && { volumes }), ...(error && { error }) });
    const why = trouble ?? callIn(subject, place?.state ?? state);
    return firstLine(why === undefined ? now : `${now}: ${why}`);
  } catch {
    return undefined;
  }
}
