/** Requests about actors: how each is, what happened to it, and what it can be sent. */

import type { StateValue } from 'xstate';
import { z } from 'zod';
import { type Health, healths } from '../../machines/kit/state-words.js';
import type { JournalEntry } from '../engine/actor/actor-record.js';
import type { HistoryLine } from '../journal/history.js';
import { type CourseEnd, mostEdits } from '../journal/what-if.js';
import { anyObject, type FieldsOf, moment, part } from './fields.js';
import { paths } from './paths.js';
import { count, flag, route } from './route.js';

const health = z.enum(healths).meta({
  id: 'Health',
  description:
    'working: a call is under way. waiting: for a time, a plugin or another actor. in-doubt: something may have happened, ' +
    'and nobody knows yet. failed: stays so until somebody acts.',
});

const stateValue = z.custom<StateValue>().meta({ description: 'A text, or an object of parallel and nested states.' });

/** An event of a machine. */
const anyEvent = z.custom<{ type: string }>().meta({ type: 'object' });

export const actorReport = z
  .object({
    address: z.string(),
    seq: z.int().exactOptional(),
    state: stateValue.exactOptional(),
    path: z.string().exactOptional().describe('Path of the state, as people see it: pending-publish.calling.'),
    quarantined: z.string().exactOptional().describe('Why it is out of service.'),
  })
  .meta({ id: 'Actor' });

const summaryFields = {
  address: z.string(),
  machine: z.string().describe('Id of its machine, which is also the first part of its address.'),
  state: z.string().describe('Path of its state: pending-publish.calling.'),
  health,
  why: z.string().describe('Why, in a few words: publish to worker-1 was refused.'),
  seq: z.int().describe('Seq of its last commit.'),
  at: moment.exactOptional().describe('Moment of its last commit, if known.'),
};

/** An actor at a glance. */
export const actorSummary = z.object(summaryFields);

/** A difference from what was asked for. */
export const trouble = z
  .object({
    address: z.string(),
    what: z.string().describe('What is wrong, as a sentence.'),
    why: z.string().exactOptional().describe('What is known of the reason.'),
    needs: z.enum(['a-person', 'nothing']).describe('Whether it goes on by itself.'),
    todo: z.string().exactOptional().describe('What a person has to do.'),
    command: z.string().exactOptional().describe('A command to copy.'),
    since: moment.exactOptional(),
    dueAtMs: moment.exactOptional().describe('Moment of the next attempt.'),
  })
  .meta({ id: 'Trouble' });

export const overview = z
  .object({
    at: moment,
    nodeId: z.string(),
    version: z.string(),
    leads: z
      .boolean()
      .describe('Whether this agent works on volumes and nodes: else its feed has no changes of theirs.'),
    actors: z
      .object({
        address: z.array(z.string()),
        machine: z.array(z.string()),
        state: z.array(z.string()),
        health: z.array(health),
        why: z.array(z.string()),
        seq: z.array(z.int()),
        at: z.array(moment.nullable()),
      })
      .describe('Columns: item i of each belongs to the same actor.'),
    trouble: z.array(trouble).describe('What needs a person first.'),
  })
  .meta({ id: 'Overview' });

const startedEffect = {
  id: z.string(),
  src: z.string(),
  input: z.unknown(),
  seq: z.int().describe('Seq of the commit that asked for it.'),
  attempt: z.int().exactOptional(),
  notBeforeMs: moment.exactOptional(),
  lastsMs: z.number().exactOptional().describe('How long its call may go on after the end of the effect, in ms.'),
  recipient: anyObject.exactOptional(),
};

const effect = z.object(startedEffect).meta({ id: 'Effect' });

const effectInFlight = z
  .object({
    ...startedEffect,
    rpc: z.string().exactOptional().describe('CSI call that it makes.'),
    sentAtMs: moment.exactOptional().describe('When its request went out. Absent: not sent yet.'),
  })
  .meta({ id: 'EffectInFlight' });

const timer = z
  .object({ id: z.string(), seq: z.int(), dueAtMs: moment, delayMs: z.number().exactOptional(), event: anyEvent })
  .meta({ id: 'Timer' });

/** A part of an actor, and how it is. */
export const partSummary = part.extend({ health }).meta({ id: 'PartSummary' });

/** Reason of a wait. */
export const wait = z
  .object({
    what: z.string().describe('As a sentence.'),
    since: moment.exactOptional(),
    on: z.string().exactOptional().describe('Address of the actor that is in the way.'),
    dueAtMs: moment.exactOptional(),
  })
  .meta({ id: 'Wait' });

export const actorDetail = z
  .object({
    ...summaryFields,
    version: z.string().describe('Version of its machine.'),
    value: stateValue,
    context: anyObject,
    parts: z.array(partSummary),
    effects: z.array(effectInFlight),
    timers: z.array(timer),
    nextDueAtMs: moment.exactOptional().describe('Moment of the next timer or attempt.'),
    maySend: z.boolean().exactOptional().describe('Whether events may be sent to it by hand here.'),
    accepts: z.array(z.string()).describe('Types of the events that it takes now from outside.'),
    unread: z.int().describe('Messages that it has still to apply.'),
    waits: z.array(wait),
    trouble: z.array(trouble),
    quarantined: z.string().exactOptional().describe('Why it is out of service.'),
  })
  .meta({ id: 'ActorDetail' });

const historyLine = z
  .object({
    seq: z.int(),
    at: moment,
    what: z.string().describe('The input, in words.'),
    from: z
      .string()
      .describe('caller, runtime, timer, engine, effect, the name of a plugin, or the address of another actor.'),
    before: z.string().exactOptional().describe('State before, as a path. Absent: no actor.'),
    after: z.string().exactOptional(),
    chartBefore: z
      .string()
      .exactOptional()
      .describe('State before in the chart of the machine, where people see another path.'),
    parts: z.array(z.object({ id: z.string(), before: z.string().exactOptional(), after: z.string().exactOptional() })),
    rpc: z.string().exactOptional().describe('Call to the plugin whose answer came.'),
    code: z.string().exactOptional().describe('Status of the answer.'),
    tookMs: z.number().exactOptional().describe('Time from the request to the answer.'),
    attempt: z.int().exactOptional(),
    nextAttemptAtMs: moment.exactOptional(),
    message: z.string().exactOptional().describe('Why, in the words of the plugin or of the machine.'),
    tone: z
      .enum(['plain', 'done', 'waiting', 'in-doubt', 'failed'])
      .describe('in-doubt: may have taken effect. failed: stays so until somebody acts.'),
  } satisfies FieldsOf<HistoryLine>)
  .meta({ id: 'HistoryLine' });

const entrySource = z.union([
  z.object({ kind: z.literal('engine') }),
  z.object({ kind: z.literal('request'), requestId: z.string().exactOptional(), by: z.string().exactOptional() }),
  z.object({ kind: z.literal('message'), address: z.string(), seq: z.int(), index: z.int() }),
  z.object({ kind: z.enum(['effect', 'timer']), id: z.string(), seq: z.int() }),
]);

/** An entry of a journal: docs/journals.md */
const journalEntry = z
  .object({
    seq: z.int(),
    at: moment,
    random: z.number().describe('Stamp of the event, in [0, 1).'),
    kind: z.enum(['event', 'stale', 'crash', 'migrated', 'recovered', 'rolled-back', 'released', 'forgotten']),
    version: z.string(),
    input: anyObject.exactOptional(),
    event: anyEvent.exactOptional(),
    source: entrySource,
    sentAtMs: moment.exactOptional(),
    error: z.string().exactOptional(),
    migrations: z.array(z.string()).exactOptional(),
    snapshot: anyObject.nullable().exactOptional(),
    effects: z.array(effect).exactOptional(),
    timers: z.array(timer).exactOptional(),
  } satisfies FieldsOf<JournalEntry>)
  .meta({ id: 'JournalEntry' });

const commitPlace = z.tuple([z.int(), z.int()]).exactOptional();

const momentAnswer = z
  .object({
    address: z.string(),
    seq: z.int(),
    entry: journalEntry,
    line: historyLine,
    health,
    why: z.string(),
    snapshot: z.object({ value: stateValue, context: anyObject }).exactOptional().describe('Absent: deleted.'),
    parts: z.array(partSummary),
    effects: z.array(effect),
    timers: z.array(timer),
    messages: z.array(
      z.object({ to: z.string(), event: anyEvent.exactOptional(), input: anyObject.exactOptional(), of: commitPlace }),
    ),
    events: z.array(anyObject).describe('Broadcasts of the step.'),
    answer: z.unknown().exactOptional(),
    thrown: z.string().exactOptional().describe('Stack of the error that the machine threw.'),
  })
  .meta({ id: 'Moment' });

const span = {
  first: z.int().describe('Seq of the oldest entry that is kept.'),
  last: z.int().describe('Seq of the newest entry.'),
  before: z.int().exactOptional().describe('Give it to get the page before.'),
  after: z.int().exactOptional().describe('Give it to get the page after.'),
};

const historyPage = z
  .object({
    address: z.string(),
    lines: z.array(historyLine),
    before: span.before,
    older: z.string().exactOptional().describe('What became of the steps before the first one, if no page has them.'),
  })
  .meta({ id: 'HistoryPage' });

const journalPage = z
  .object({ address: z.string(), entries: z.array(journalEntry), ...span })
  .meta({ id: 'JournalPage' });

const momentPage = z
  .object({ address: z.string(), moments: z.array(momentAnswer), ...span })
  .meta({ id: 'MomentPage' });

const givenEvent = z.looseObject({ type: z.string().min(1) });
const seq = z.int().min(1);

const edit = z
  .union(
    [
      z.strictObject({ drop: seq }),
      z.strictObject({ edit: seq, event: givenEvent }),
      z.strictObject({ after: seq, event: givenEvent }),
    ],
    { error: 'must be {drop: SEQ}, {edit: SEQ, event: {type, …}} or {after: SEQ, event: {type, …}}' },
  )
  .meta({ id: 'Edit', description: 'Leaves an entry out, gives it another event, or inserts an event after it.' });

const whatIf = z
  .object({
    address: z.string(),
    moments: z.array(momentAnswer).describe('From the first edit on.'),
    endedAt: z
      .object({ seq: z.int(), why: z.string() } satisfies FieldsOf<CourseEnd>)
      .exactOptional()
      .describe('First entry that the machine no longer asks for: the other course ends before it.'),
    isCut: z.literal(true).exactOptional().describe('There were more moments than the limit.'),
  })
  .meta({ id: 'WhatIf' });

const paging = {
  before: count.exactOptional().describe('Seq: the page that ends before it.'),
  limit: count.exactOptional().describe('Default: 200.'),
};

const after = z.coerce
  .number<number>()
  .int()
  .nonnegative()
  .exactOptional()
  .describe('Seq: the page that begins after it.');

export const actorRoutes = {
  list: route(paths.actors.list, {
    summary: 'Actors in memory here, and those out of service',
    answer: z.array(actorReport),
  }),
  overview: route(paths.actors.overview, { summary: 'All actors at a glance', answer: overview }),
  inspect: route(paths.actors.inspect, { summary: 'Everything about one actor, as it is now', answer: actorDetail }),
  history: route(paths.actors.history, {
    summary: 'What happened to an actor, one line for each step',
    query: z.strictObject(paging),
    answer: historyPage,
  }),
  journal: route(paths.actors.journal, {
    summary: 'Entries of its journal',
    query: z.strictObject({ ...paging, after }),
    answer: journalPage,
  }),
  moments: route(paths.actors.moments, {
    summary: 'Replayed steps: one, or a page of them',
    query: z.strictObject({
      ...paging,
      after,
      seq: count.exactOptional().describe('This step alone.'),
      from: count.exactOptional().describe('Seq of the first step of the page.'),
    }),
    answer: z.union([momentAnswer, momentPage]),
  }),
  exportJournals: route(paths.actors.exportJournals, {
    summary: 'Journals as a file: docs/journals.md',
    query: z.strictObject({
      address: z
        .union([z.string(), z.array(z.string())])
        .exactOptional()
        .describe('Once for each actor. Default: all of them, deleted ones as long as their journals are kept.'),
    }),
    answer: z.string(),
    contentType: 'application/x-ndjson',
  }),
  whatIf: route(paths.actors.whatIf, {
    summary: 'Where another course of events would have led',
    body: z.strictObject({
      address: z.string().min(1),
      edits: z.array(edit).min(1).max(mostEdits),
      limit: z.int().min(1).max(1_000).default(200),
    }),
    answer: whatIf,
  }),
  release: route(paths.actors.release, {
    summary: 'Takes an actor back into service',
    body: z.strictObject({ address: z.string() }),
  }),
  send: route(paths.actors.send, {
    summary: 'Sends an actor a request by hand, with all of its checks, if the agent allows it',
    body: z.strictObject({ address: z.string(), event: givenEvent, by: z.string() }),
    answer: z.object({ answer: z.unknown() }),
  }),
};

export const eventRoutes = {
  follow: route(paths.events.follow, {
    summary: 'Events of all topics, as server-sent events; a client that was cut off sends Last-Event-ID',
    query: z.strictObject({
      topic: z.string().exactOptional().describe('Names, separated by commas.'),
      kind: z.string().exactOptional().describe('Kinds of events, separated by commas.'),
      address: z.string().exactOptional().describe('Beginning of the address of the actor.'),
      plugin: z.string().exactOptional(),
      from: z.string().exactOptional().describe('The id of an event, 0 for all that are kept, or now.'),
      follow: flag.exactOptional().describe('false: ends with the present.'),
    }),
    answer: z.string(),
    contentType: 'text/event-stream',
  }),
};

/** A change of an actor's past, to see where it would have led. */
export type { Edit } from '../journal/what-if.js';
/**
 * How an actor is, in one word. `working`: a call is under way. `waiting`: for a time, a plugin or another actor.
 * `in-doubt`: something may have happened, and nobody knows yet. `failed`: stays so until somebody acts.
 */
export type { Health };
export type ActorReport = z.output<typeof actorReport>;
export type ActorSummary = z.output<typeof actorSummary>;
export type Trouble = z.output<typeof trouble>;
export type Overview = z.output<typeof overview>;
export type ActorWait = z.output<typeof wait>;
export type EffectInFlight = z.output<typeof effectInFlight>;
export type PartSummary = z.output<typeof partSummary>;
export type ActorDetail = z.output<typeof actorDetail>;
export type HistoryPage = z.output<typeof historyPage>;
export type JournalPage = z.output<typeof journalPage>;
export type MomentPage = z.output<typeof momentPage>;
export type MomentAnswer = z.output<typeof momentAnswer>;
export type WhatIf = z.output<typeof whatIf>;
