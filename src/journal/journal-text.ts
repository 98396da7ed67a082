/**
 * Format of an exported journal: lines of JSON, for any number of actors. The first line says what it is, the last one
 * how much there was. Between them each actor has a line that names it, and one line per journal entry. Described in
 * docs/journals.md
 */
import { z } from 'zod';
import type { JournalEntry } from '../engine/actor/actor-record.js';
import { nestingOf } from '../engine/machine/data.js';
import { StagecraftError } from '../errors.js';

export const journalFormat = 'stagecraft-journal';
/** Raised with each change that older code can't read. */
export const journalVersion = 1;

/** Longest line that is read, in characters. */
export const longestLine = 16 * 2 ** 20;
const deepestNesting = 200;

export interface JournalHead {
  format: typeof journalFormat;
  version: number;
  /** When it was exported, in milliseconds since the epoch. */
  at: number;
  /** Version of Stagecraft that exported it. */
  stagecraft: string;
}

interface ActorLine {
  actor: string;
  /** Machine that had the actor then, and its version. */
  machine: string;
  version: string;
}

export interface EntryLine extends JournalEntry {
  /** State after this entry, as it was replayed at the export. Absent: not known. null: deleted. */
  after?: After | null;
}

/** Changes that an entry has made. */
export interface After {
  state: unknown;
  /** Changed keys of the context, with their new values. */
  set?: Record<string, unknown>;
  /** Keys that the context has no longer. */
  unset?: string[];
}

export interface EndLine {
  end: true;
  actors: number;
  entries: number;
  /** Entries that could not be read, and are left out. Absent: none. */
  unreadable?: { actor: string; seq: number; reason: string }[];
}

export type JournalLine = JournalHead | ActorLine | EntryLine | EndLine;

const headSchema = z.object({
  format: z.literal(journalFormat),
  version: z.number(),
  at: z.number(),
  stagecraft: z.string(),
});
const actorSchema = z.object({ actor: z.string().min(1), machine: z.string(), version: z.string() });
const endSchema = z.object({ end: z.literal(true), actors: z.int().min(0), entries: z.int().min(0) });
const objectSchema = z.record(z.string(), z.unknown());
const eventSchema = z.looseObject({ type: z.string() });
const effectsSchema = z.array(z.looseObject({ id: z.string(), src: z.string(), seq: z.int() }));
const timersSchema = z.array(z.looseObject({ id: z.string(), seq: z.int(), dueAtMs: z.number(), event: eventSchema }));
const sourceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('engine') }),
  z.object({ kind: z.literal('request'), requestId: z.string().optional(), by: z.string().optional() }),
  z.object({ kind: z.literal('message'), address: z.string(), seq: z.int(), index: z.int() }),
  z.object({ kind: z.enum(['effect', 'timer']), id: z.string(), seq: z.int() }),
]);
const snapshotSchema = z.looseObject({ value: z.union([z.string(), objectSchema]), context: objectSchema });
const entrySchema = z.looseObject({
  seq: z.int().min(1),
  at: z.number(),
  random: z.number().min(0).max(1),
  kind: z.enum(['event', 'stale', 'crash', 'migrated', 'recovered', 'rolled-back', 'released', 'forgotten']),
  version: z.string(),
  input: objectSchema.optional(),
  event: eventSchema.optional(),
  source: sourceSchema,
  snapshot: snapshotSchema.nullish(),
  effects: effectsSchema.optional(),
  timers: timersSchema.optional(),
  after: z.looseObject({ set: objectSchema.optional(), unset: z.array(z.string()).optional() }).nullish(),
});

const broken = (line: number, why: string): StagecraftError =>
  new StagecraftError('JOURNAL_BROKEN', `line ${line}: ${why}`);

export const tooLong = (line: number): StagecraftError =>
  broken(line, `is longer than ${longestLine} characters, which no line of a journal is`);

/**
 * Reads one line after another, and keeps count of what there has to be.
 * @throws {StagecraftError} JOURNAL_BROKEN naming line and reason
 */
export class LineReader {
  #line = 0;
  #actors = 0;
  #entries = 0;
  readonly #known = new Set<string>();
  #lastSeq: number | undefined;
  #hasEnded = false;

  read(text: string): JournalLine {
    this.#line += 1;
    if (this.#hasEnded) throw broken(this.#line, 'nothing may follow the line that ends the journal');
    const value = this.#parsed(text);
    if (this.#line === 1) return this.#head(value);
    if ('actor' in value) return this.#actor(value);
    if ('end' in value) return this.#end(value);
    return this.#entry(value);
  }

  /** Called after the last line. */
  finish(): void {
    if (this.#line === 0) throw broken(1, 'the file is empty: give one that `stagecraft journal export` wrote');
    if (!this.#hasEnded) throw broken(this.#line, 'the journal was cut off after this line: export it again');
  }

  #parsed(text: string): object {
    if (text.length > longestLine) throw tooLong(this.#line);
    if (nestingOf(text) > deepestNesting) throw broken(this.#line, `is nested more than ${deepestNesting} levels deep`);
    let value: unknown;
    try {
      value = JSON.parse(text, (key, inner) => {
        if (key === '__proto__') throw new Error("it has a key '__proto__'");
        return inner;
      });
    } catch (error) {
      throw broken(this.#line, `is no line of a journal: ${error instanceof Error ? error.message : error}`);
    }
    if (value instanceof Object && !Array.isArray(value)) return value;
    throw broken(this.#line, 'is no line of a journal: it has to be a JSON object');
  }

  #head(value: object): JournalHead {
    const head = this.#checked(headSchema, value, 'is not the beginning of a journal that Stagecraft exported');
    if (head.version > journalVersion) {
      const advice = 'use the version of Stagecraft that exported it, or a newer one';
      throw broken(1, `has format ${head.version}, and this version reads up to ${journalVersion}: ${advice}`);
    }
    return head;
  }

  #actor(value: object): ActorLine {
    const line = this.#checked(actorSchema, value, 'does not name an actor');
    if (this.#known.has(line.actor)) throw broken(this.#line, `${line.actor} was there before: lines were reordered`);
    this.#known.add(line.actor);
    this.#actors += 1;
    this.#lastSeq = 0;
    return line;
  }

  #entry(value: object): EntryLine {
    const entry = this.#checked(entrySchema, value, 'is no entry of a journal');
    if (this.#lastSeq === undefined) throw broken(this.#line, 'is an entry, and no actor was named before it');
    if (entry.seq <= this.#lastSeq)
      throw broken(this.#line, `entry ${entry.seq} follows entry ${this.#lastSeq}: lines were reordered`);
    this.#lastSeq = entry.seq;
    this.#entries += 1;
    return value as EntryLine;
  }

  #end(value: object): EndLine {
    const end = this.#checked(endSchema, value, 'does not end a journal');
    if (end.actors !== this.#actors || end.entries !== this.#entries) {
      const is = `${this.#actors} actors and ${this.#entries} entries`;
      throw broken(this.#line, `the journal had ${end.actors} actors and ${end.entries} entries, here are ${is}`);
    }
    this.#hasEnded = true;
    return end;
  }

  #checked<T>(schema: z.ZodType<T>, value: object, what: string): T {
    const { data, error } = schema.safeParse(value);
    if (data !== undefined) return data;
    const faults = error?.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ');
    throw broken(this.#line, `${what}: ${faults}`);
  }
}
