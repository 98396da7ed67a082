/** Signs of life of this agent in the roster, with its entry whenever that has changed. */
import { onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { Wire } from '../engine/store.js';
import { messageOf } from '../errors.js';
import { encodeEntry, type RosterEntry } from './roster-entry.js';

export interface PresenceOptions {
  wire: Pick<Wire, 'beat' | 'leave'>;
  nodeId: string;
  run: string;
  inbox: string;
  clock: Clock;
  logger: Logger;
  entry(): Omit<RosterEntry, 'inbox'>;
  /** Calls back when the entry may have changed. @returns a function that unsubscribes */
  watch(changed: () => void): () => void;
}

/** Agents with controller plugins are to be missed soon; the others, which may be many, cost little. */
const beatMs = { controllers: 2_000, none: 10_000 };
/** Beats that may fail until an agent counts as away. */
const missed = 3;
/** Changes within this time are one beat. */
const settleMs = 20;

export class Presence {
  readonly #options: PresenceOptions;
  readonly #stop = new AbortController();
  #wake = new AbortController();
  /** The entry that the roster has. */
  #written: string | undefined;
  #trouble: string | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Begins to beat. Resolves after the first beat, even if that failed. */
  async start(): Promise<void> {
    onAbort(
      this.#stop.signal,
      this.#options.watch(() => this.#wake.abort()),
    );
    await this.#beat();
    void this.#beats();
  }

  /** Leaves the roster. */
  async stop(): Promise<void> {
    const { wire, nodeId, run } = this.#options;
    this.#stop.abort();
    this.#wake.abort();
    // Without the store the entry expires.
    await wire.leave(nodeId, run).catch(() => {});
  }

  async #beats(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(clock, this.#beatMs, this.#wake.signal);
      if (this.#wake.signal.aborted) await pause(clock, settleMs, signal);
      this.#wake = new AbortController();
      if (!signal.aborted) await this.#beat();
    }
  }

  get #beatMs(): number {
    const plugins = Object.values(this.#options.entry().plugins);
    return plugins.some(({ types }) => types.includes('csi-controller')) ? beatMs.controllers : beatMs.none;
  }

  async #beat(): Promise<void> {
    const { wire, nodeId, run, inbox, logger } = this.#options;
    const beat = { nodeId, run, awayAfterMs: missed * this.#beatMs };
    try {
      const entry = encodeEntry({ ...this.#options.entry(), inbox });
      const isKnown = this.#written === entry && (await wire.beat(beat));
      if (!isKnown) await wire.beat({ ...beat, entry });
      this.#written = entry;
      this.#trouble = undefined;
    } catch (error) {
      const trouble = messageOf(error);
      if (this.#trouble !== trouble) logger.debug({}, `other agents can't be told of this one now: ${trouble}`);
      this.#trouble = trouble;
      this.#written = undefined;
    }
  }
}
