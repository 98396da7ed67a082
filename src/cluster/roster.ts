/**
 * The agents on one store, as their signs of life tell: their inboxes, their plugins, and since when one is silent. Followed only
 * by the agent that works on volumes; others read it once, when somebody asks. And those of this agent. The entries: roster-entry.ts
 */
import { onAbort } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { RosterChanges, Wire } from '../engine/store.js';
import { messageOf } from '../errors.js';
import { decodeRosterEntry, encodeEntry, type RosterEntry } from './roster-entry.js';

export interface Member extends RosterEntry {
  nodeId: string;
  run: string;
  /** Moment of its last sign of life, milliseconds since the epoch. Absent: it is not away. */
  silentSinceMs?: number;
}

interface RosterOptions {
  wire: Pick<Wire, 'roster'>;
  clock: Clock;
  logger: Logger;
}

/** Time between two reads of the agent that works on volumes. */
const readMs = 1_000;

export class Roster {
  readonly #options: RosterOptions;
  readonly #listeners = new Set<(plugins: ReadonlySet<string>) => void>();
  #members = new Map<string, Member>();
  #version = 0;
  #following: AbortController | undefined;

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  get members(): ReadonlyMap<string, Member> {
    return this.#members;
  }

  /** Calls back with the plugins whose instances have changed. @returns a function that unsubscribes */
  onChange(listener: (plugins: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads the roster now, then again and again until `unfollow`. Resolves after the first read, even if that failed. */
  async follow(): Promise<void> {
    this.#following?.abort();
    const following = new AbortController();
    this.#following = following;
    await this.#tryToRead();
    void this.#read(following.signal);
  }

  unfollow(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  /** Reads the roster now. @throws {Error} the store is away */
  async read(): Promise<ReadonlyMap<string, Member>> {
    const changes = await this.#options.wire.roster(this.#version);
    const plugins = this.#apply(changes);
    if (plugins.size > 0) for (const listener of [...this.#listeners]) listener(plugins);
    return this.#members;
  }

  async #read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#options.clock, readMs, signal);
      if (!signal.aborted) await this.#tryToRead();
    }
  }

  async #tryToRead(): Promise<void> {
    try {
      await this.read();
    } catch (error) {
      this.#options.logger.debug({}, `other agents are not known now: ${messageOf(error)}`);
    }
  }

  /** @returns plugins whose instances have changed */
  #apply({ version, isComplete, changed, away }: RosterChanges): Set<string> {
    const before = this.#members;
    const members = isComplete ? new Map<string, Member>() : new Map(before);
    const touched = new Set(isComplete ? before.keys() : []);
    for (const { nodeId, run, entry } of changed) {
      const known = entry === undefined ? undefined : decodeRosterEntry(entry);
      if (known) members.set(nodeId, { ...known, nodeId, run });
      else members.delete(nodeId);
      touched.add(nodeId);
    }
    for (const [nodeId, member] of members) {
      const silentMs = away.get(nodeId);
      if ((silentMs === undefined) === (member.silentSinceMs === undefined)) continue;
      const { silentSinceMs: _, ...rest } = member;
      const silentSinceMs = silentMs === undefined ? undefined : this.#options.clock.now() - silentMs;
      members.set(nodeId, silentSinceMs === undefined ? rest : { ...rest, silentSinceMs });
      touched.add(nodeId);
    }
    this.#version = version;
    this.#members = members;
    const plugins = [...touched].flatMap((nodeId) => [before.get(nodeId), members.get(nodeId)]);
    return new Set(plugins.flatMap((member) => Object.keys(member?.plugins ?? {})));
  }
}

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
