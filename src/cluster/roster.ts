/**
 * The agents on one store, as their signs of life tell: their inboxes, their plugins, and since when one is silent. Followed only
 * by the agent that works on volumes; others read it once, when somebody asks. The entries: roster-entry.ts
 */
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import type { RosterChanges, Wire } from '../engine/store.js';
import { messageOf } from '../errors.js';
import { decodeRosterEntry, type RosterEntry } from './roster-entry.js';

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
