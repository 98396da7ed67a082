/** The past of an actor in pages: its history, its journal, replayed moments, and other courses of events. */
import type { z } from 'zod';
import type { actorRoutes, HistoryPage, JournalPage, MomentAnswer, MomentPage, WhatIf } from '../api/actor-routes.js';
import type { Moment } from '../engine/machine/replay.js';
import { StagecraftError } from '../errors.js';
import { History, type HistoryLine, olderSteps } from '../journal/history.js';
import { OtherCourse } from '../journal/what-if.js';
import type { Journal } from '../runtime/runtime.js';
import { conditionOf, machineOf, partSummaries } from './health.js';

/** Part of a journal: the `limit` entries after a seq, before a seq, or the newest ones. */
export interface PageQuery {
  after?: number | undefined;
  before?: number | undefined;
  limit: number;
}

/** Steps replayed before the first one that is told: its line says how often the call was tried before. */
const lookBack = 1_000;

interface Span {
  first: number;
  last: number;
  from: number;
  to: number;
}

async function spanOf(journal: Journal, address: string, { after, before, limit }: PageQuery): Promise<Span> {
  if (after !== undefined && before !== undefined) throw invalid('give after or before, not both');
  const { first, last } = await journal.range(address);
  if (after !== undefined) {
    const from = Math.max(after + 1, first);
    return { first, last, from, to: Math.min(from + limit - 1, last) };
  }
  const to = Math.min(before === undefined ? last : before - 1, last);
  return { first, last, from: Math.max(first, to - limit + 1), to };
}

const neighbours = ({ first, last, from, to }: Span): Pick<JournalPage, 'before' | 'after'> => ({
  ...(from > first && from <= last + 1 && { before: from }),
  ...(to < last && to >= first - 1 && { after: to }),
});

/** @throws {StagecraftError} ACTOR_NOT_FOUND, INVALID_ARGUMENT, JOURNAL_BROKEN, STORE_UNAVAILABLE; as do all here */
export async function historyPage(
  journal: Journal,
  address: string,
  { before, limit }: Pick<PageQuery, 'before' | 'limit'>,
): Promise<HistoryPage> {
  const history = new History(address);
  const lines: HistoryLine[] = [];
  let isWhole = true;
  // From the beginning: a line also says how often its call was tried before.
  const moments = journal.moments(address, before === undefined ? {} : { to: Math.max(before - 1, 1) });
  for await (const moment of moments) {
    if (before !== undefined && moment.seq >= before) break;
    lines.push(history.lineOf(moment));
    if (lines.length > limit) isWhole = lines.shift() === undefined;
  }
  const [oldest] = lines;
  if (!isWhole && oldest) return { address, lines, before: oldest.seq };
  const { first, last } = await journal.range(address);
  const older = olderSteps(oldest?.seq ?? Math.min(last + 1, before ?? last + 1), first);
  return { address, lines, ...(older !== undefined && { older }) };
}

export async function journalPage(journal: Journal, address: string, query: PageQuery): Promise<JournalPage> {
  const span = await spanOf(journal, address, query);
  const { first, last, from, to } = span;
  const entries = from > to ? [] : await listed(journal.entries(address, { from, to }));
  return { address, entries, first, last, ...neighbours(span) };
}

export async function momentPage(journal: Journal, address: string, query: PageQuery): Promise<MomentPage> {
  const span = await spanOf(journal, address, query);
  const { first, last, from, to } = span;
  const moments: MomentAnswer[] = [];
  const answers = new MomentAnswers(address);
  if (from <= to)
    for await (const moment of journal.moments(address, { from: Math.max(1, from - lookBack), to })) {
      const answer = answers.answerOf(moment);
      if (moment.seq >= from) moments.push(answer);
    }
  return { address, moments, first, last, ...neighbours(span) };
}

/** The actor right after entry `seq`. */
export async function momentAt(journal: Journal, address: string, seq: number): Promise<MomentAnswer> {
  const { moments, first, last } = await momentPage(journal, address, { after: seq - 1, limit: 1 });
  const [moment] = moments;
  if (moment?.seq === seq) return moment;
  if (seq < first || seq > last)
    throw invalid(`the journal of ${address} has no entry ${seq}: it has ${first} to ${last}`);
  await journal.replay(address, { to: seq });
  throw new StagecraftError('JOURNAL_BROKEN', `the state after entry ${seq} is not known`, { address });
}

/** Where the actor would have come to with these edits. The live actor is not touched. */
export async function whatIf(
  journal: Journal,
  { address, edits, limit }: z.output<typeof actorRoutes.whatIf.body>,
): Promise<WhatIf> {
  const { first } = await journal.range(address);
  const course = new OtherCourse(address, edits);
  const answers = new MomentAnswers(address);
  const moments: MomentAnswer[] = [];
  for await (const moment of course.moments(journal.entries(address, { from: first }))) {
    const answer = answers.answerOf(moment);
    if (moment.seq >= course.firstEdit) moments.push(answer);
    if (moments.length > limit) return { address, moments: moments.slice(0, limit), isCut: true };
  }
  return { address, moments, ...(course.endedAt && { endedAt: course.endedAt }) };
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);

/** Makes the answers of one actor, moment after moment: each line is told with the state before. */
export class MomentAnswers {
  readonly #address: string;
  readonly #history: History;

  constructor(address: string) {
    this.#address = address;
    this.#history = new History(address);
  }

  answerOf(moment: Moment): MomentAnswer {
    const { seq, entry, snapshot, effects, timers, messages, events, answer, thrown } = moment;
    const machine = machineOf(this.#address);
    const { health, why } = conditionOf(machine, snapshot?.value, snapshot?.context ?? {});
    return {
      address: this.#address,
      ...{ seq, entry, line: this.#history.lineOf(moment), health, why },
      ...(snapshot && { snapshot: { value: snapshot.value, context: snapshot.context } }),
      parts: snapshot ? partSummaries(machine, snapshot.context) : [],
      ...{ effects, timers, messages, events },
      ...(answer !== undefined && { answer }),
      ...(thrown && { thrown: stackOf(thrown) }),
    };
  }
}

/** Stack of an error, and of the one that caused it. */
const stackOf = ({ stack, message, cause }: Error): string =>
  [stack ?? message, ...(cause instanceof Error ? [`caused by ${stackOf(cause)}`] : [])].join('\n');
