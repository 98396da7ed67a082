/**
 * Expected result of each step of an actor, told from the one before and its journal entry: state, live effects and
 * timers, marks of what was received, answers, crashes, whether it is out of service from here on, and what it owes to
 * others. Where the store holds anything else after the last step of a commit, a fault.
 * Runs of one system share their beginnings, so what was judged once is kept, in a tree of steps.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyEventObject } from 'xstate';
import type { AnswerParams } from '../../machines/kit/host.js';
import type {
  ActorRecord,
  CommitPlace,
  JournalEntry,
  LiveEffect,
  LiveTimer,
  Outbox,
  Quarantine,
} from '../../src/engine/actor/actor-record.js';
import { type HostedSystem, kindOf } from './hosted-system.js';
import { type Asked, plain, Stepper } from './step.js';
import { addressesOf, topicOf } from './system.js';
import type { Witnessed } from './witness.js';

/** An actor after one step. */
export interface Judged {
  entry: JournalEntry;
  record: Before;
  /** Messages and events owed by the steps before this one that share its commit. */
  owedBefore: Outbox;
  isLast: boolean;
  /** Sent by this step. */
  messages: Outbox['messages'];
  events: { topic: string; event: AnyEventObject }[];
  /** What a caller gets for this entry. */
  answer: AnswerParams | undefined;
  faults: string[];
}

interface Node {
  judged: Judged | undefined;
  next: Map<string, Node>;
}

export type Model = (address: string, commits: Witnessed[]) => Judged[];

/** Keeps what it has judged, for all runs of this system. */
export function modelOf(hosted: HostedSystem): Model {
  const roots = new Map<string, { stepper: Stepper; root: Node }>();
  for (const [actor, address] of addressesOf(hosted.system).entries()) {
    const stepper = new Stepper(kindOf(hosted, actor).machine);
    roots.set(address, { stepper, root: { judged: undefined, next: new Map() } });
  }
  return (address, commits) => {
    const known = roots.get(address);
    if (!known) throw new Error(`there is no actor ${address} in this system`);
    let node = known.root;
    return commits.map((commit) => {
      const whole = `${commit.text} ${commit.outbox} ${commit.gone} ${commit.wakeAtMs}`;
      const name = `${commit.journal} ${commit.isLast} ${whole}`;
      let next = node.next.get(name);
      if (!next) {
        next = { judged: judge(known.stepper, node.judged, commit), next: new Map() };
        node.next.set(name, next);
      }
      node = next;
      return next.judged ?? judge(known.stepper, undefined, commit);
    });
  };
}

type Before = Pick<ActorRecord, 'effects' | 'timers' | 'received' | 'answers'> & {
  [part in 'crashes' | 'quarantined']?: ActorRecord[part] | undefined;
} & { snapshot?: Asked['snapshot'] };
/** More crashes than that within the time, and an actor is out of service. */
const crashesAllowed = 5;
const crashesCountMs = 60_000;
/** Where the engine tells of that. */
const engineTopic = 'actors';
const nothing: Before = { effects: [], timers: [], received: {}, answers: [] };

function judge(stepper: Stepper, last: Judged | undefined, commit: Witnessed): Judged {
  const before = last?.record ?? nothing;
  const owedBefore = last && !last.isLast ? owedAfter(last) : nothingOwed;
  const entry: JournalEntry = JSON.parse(commit.journal);
  const faults: string[] = [];
  const at = `${commit.address} seq ${commit.seq} (${entry.kind} ${entry.event?.type ?? 'begin'})`;
  const fault = (what: string): void => void faults.push(`${at}: ${what}`);
  const expect = (what: string, found: unknown, expected: unknown): void => {
    if (isDeepStrictEqual(plain(found), plain(expected))) return;
    fault(`${what} is ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
  };

  if (entry.seq !== commit.seq) fault(`its entry says seq ${entry.seq}`);
  if (before.quarantined) fault('it took something while it was out of service');
  judgeSource(before, entry, fault);
  const asked = entry.kind === 'event' ? stepped(stepper, before, entry, fault) : undefined;
  if (entry.kind === 'crash' && !isThrown(stepper, before, entry)) fault('a crash, but its machine takes this');

  const answer: AnswerParams | undefined =
    entry.kind === 'crash'
      ? { error: { code: 'ACTOR_CRASHED', message: entry.error ?? '', final: true } }
      : asked?.answer;
  const isGone = asked ? !asked.snapshot : !before.snapshot;
  const crashes = asked && isGone ? undefined : crashesAfter(before, entry);
  const quarantined = quarantineAfter(crashes, entry);
  const expected: Before = {
    snapshot: isGone ? undefined : (asked?.snapshot ?? before.snapshot),
    received: receivedAfter(before, entry),
    answers: answersAfter(before, entry, answer),
    crashes,
    quarantined,
    effects: effectsAfter(before, entry, { asked, crashes, quarantined }),
    timers:
      entry.kind === 'crash'
        ? timersAfterCrash(before, entry, { crashes, quarantined })
        : timersAfter(before, entry, asked),
  };
  const messages = asked?.messages ?? [];
  const told = asked?.emitted.map((event) => ({ topic: topicOf(commit.address), event: { ...event, at: entry.at } }));
  const events = quarantined ? [outOfService(commit.address, quarantined)] : (told ?? []);
  const judged = { entry, owedBefore, isLast: commit.isLast, messages, events, answer, faults };
  if (!commit.isLast) {
    if (isGone || entry.kind === 'crash') fault('more steps share its commit');
    return { ...judged, record: expected };
  }
  const record: ActorRecord = JSON.parse(commit.text);
  expect('gone', commit.gone ?? false, isGone);
  for (const part of ['snapshot', 'answers', 'crashes', 'quarantined'] as const)
    expect(part, record[part], expected[part]);
  // Marks may be left out, but those that are there are true.
  const marks = Object.entries(expected.received).filter(([sender]) => sender in record.received);
  expect('received', record.received, Object.fromEntries(marks));
  const { source } = entry;
  if (source.kind === 'message' && !(source.address in record.received)) fault('the mark of its message is left out');
  // Whatever its clock says: that may have been set back.
  if (quarantined && commit.wakeAtMs !== 0) fault('the next runtime would not hear that it is out of service');
  expect('effects', record.effects.map(nameOfEffect), expected.effects.map(nameOfEffect));
  expect('timers', record.timers.map(nameOfTimer).sort(), expected.timers.map(nameOfTimer).sort());
  // What is overdue already wakes it at once.
  const wakeAtMs = Math.max(entry.at, Math.min(...record.timers.map(({ dueAtMs }) => dueAtMs)));
  if (record.timers.length > 0 && (commit.wakeAtMs ?? Number.POSITIVE_INFINITY) > wakeAtMs)
    fault(`wakes at ${commit.wakeAtMs}, a timer is due at ${wakeAtMs}`);
  const outbox: Outbox = commit.outbox === undefined ? nothingOwed : JSON.parse(commit.outbox);
  const isAlone = owedBefore.messages.length + owedBefore.events.length === 0;
  const owed = isAlone ? { messages, events } : owedAfter(judged);
  expect('messages', outbox.messages, owed.messages);
  expect('events', outbox.events, owed.events);
  return { ...judged, record: { ...record, received: expected.received } };
}

const nothingOwed: Outbox = { messages: [], events: [] };

/** Messages and events owed by the steps of a commit up to this one, each with its place. */
const owedAfter = ({
  owedBefore,
  entry: { seq },
  messages,
  events,
}: Pick<Judged, 'owedBefore' | 'entry' | 'messages' | 'events'>): Outbox => ({
  messages: [...owedBefore.messages, ...messages.map((one, index) => ({ ...one, of: placeOf(seq, index) }))],
  events: [...owedBefore.events, ...events.map((one, index) => ({ ...one, of: placeOf(seq, index) }))],
});

const placeOf = (seq: number, index: number): CommitPlace => [seq, index];

const isLive = (live: { id: string; seq: number }[], { id, seq }: { id: string; seq: number }): boolean =>
  live.some((one) => one.id === id && one.seq === seq);

/** Whether this input may be here at all. */
function judgeSource(before: Before, { source, kind, input, at }: JournalEntry, fault: (what: string) => void): void {
  const mustBeStale = (isStale: boolean): void => {
    if (isStale && kind !== 'stale') fault('something stale has reached the machine');
    if (!isStale && kind === 'stale') fault('something is called stale that the machine waits for');
  };
  switch (source.kind) {
    case 'effect':
      mustBeStale(!isLive(before.effects, source));
      return;
    case 'timer': {
      const timer = before.timers.find(({ id, seq }) => id === source.id && seq === source.seq);
      if (timer && timer.dueAtMs > at) fault(`a timer due at ${timer.dueAtMs} fired at ${at}`);
      mustBeStale(!timer);
      return;
    }
    case 'message': {
      const [seq, index] = before.received[source.address] ?? [0, 0];
      const isNew = source.seq > seq || (source.seq === seq && source.index > index);
      if (!isNew) fault(`(${source.seq}, ${source.index}) of ${source.address} comes after (${seq}, ${index})`);
      mustBeStale(input !== undefined && before.snapshot !== undefined);
      return;
    }
    case 'request':
      if (source.requestId && before.answers.some(([requestId]) => requestId === source.requestId))
        fault(`the request ${source.requestId} was applied before`);
      return;
  }
}

function stepped(stepper: Stepper, before: Before, entry: JournalEntry, fault: (what: string) => void): Asked {
  try {
    return stepper.step(givenBy(before, entry));
  } catch (error) {
    fault(`its machine throws at this: ${error}`);
    return { ...emptyAsked, snapshot: plain(before.snapshot) };
  }
}

const emptyAsked = { started: [], timers: [], messages: [], emitted: [], answer: undefined, active: new Set<string>() };

function isThrown(stepper: Stepper, before: Before, entry: JournalEntry): boolean {
  try {
    stepper.step(givenBy(before, entry));
    return false;
  } catch {
    return true;
  }
}

const givenBy = (before: Before, { input, event, at, random }: JournalEntry) => ({
  snapshot: before.snapshot,
  input,
  event: event && { ...event, at, random },
});

function receivedAfter({ received }: Before, { source, at }: JournalEntry): ActorRecord['received'] {
  return source.kind === 'message' ? { ...received, [source.address]: [source.seq, source.index, at] } : received;
}

function answersAfter(
  { answers }: Before,
  { source }: JournalEntry,
  answer: AnswerParams | undefined,
): ActorRecord['answers'] {
  if (source.kind !== 'request' || !source.requestId) return answers;
  return [...answers, [source.requestId, answer ?? null]];
}

/** Whether this is how an effect ended, not what it said on its way. */
export const isResult = ({ source, event }: JournalEntry): boolean =>
  source.kind === 'effect' && /^xstate\.(done|error)\.actor\./.test(event?.type ?? '');

/** When its machine threw, as long as that counts. */
function crashesAfter({ crashes }: Before, { kind, at }: JournalEntry): number[] | undefined {
  if (kind !== 'crash') return crashes;
  return [...(crashes ?? []).filter((crashedAt) => crashedAt > at - crashesCountMs), at];
}

function quarantineAfter(crashes: number[] | undefined, { kind, at, error }: JournalEntry): ActorRecord['quarantined'] {
  if (kind !== 'crash' || !crashes || crashes.length <= crashesAllowed) return undefined;
  return { at, reason: `it crashed ${crashes.length} times in ${crashesCountMs} ms, last: ${error}` };
}

/** What operators hear, in the very commit. */
const outOfService = (address: string, { at, reason }: Quarantine): Judged['events'][number] => ({
  topic: engineTopic,
  event: { type: 'actor.quarantined', address, reason, at },
});

function effectsAfter(
  before: Before,
  entry: JournalEntry,
  {
    asked,
    crashes,
    quarantined,
  }: { asked: Asked | undefined; crashes: number[] | undefined; quarantined: Quarantine | undefined },
): LiveEffect[] {
  if (entry.kind === 'recovered') return before.effects.map((effect) => takenUp(effect, entry));
  if (entry.kind === 'crash' && isResult(entry) && !quarantined)
    return before.effects.map((effect) => triedAgain(effect, entry, crashes));
  if (!asked) return before.effects;
  if (!asked.snapshot) return [];
  const started = new Map<string, LiveEffect>();
  for (const effect of asked.started)
    if (asked.active.has(effect.id)) started.set(effect.id, { ...effect, seq: entry.seq });
  const { source } = entry;
  const isEnd = isResult(entry);
  const kept = before.effects.filter(
    ({ id }) => asked.active.has(id) && !started.has(id) && !(isEnd && 'id' in source && source.id === id),
  );
  return [...kept, ...started.values()];
}

/** After a restart it is another attempt, and not before its time; a loop stands as long as its state does. */
function takenUp(effect: LiveEffect, { at, random }: JournalEntry): LiveEffect {
  if (effect.src === 'loop') return effect;
  const before = effect.attempt ?? 1;
  return { ...effect, attempt: before + 1, notBeforeMs: at + backoffMs(before, random) };
}

/** Its machine could not take its result: this commit asks for it once more, be it a loop, with backoff by crashes. */
function triedAgain(effect: LiveEffect, { seq, source, at, random }: JournalEntry, crashes: number[] = []): LiveEffect {
  if (!('id' in source) || effect.id !== source.id) return effect;
  const notBeforeMs = at + backoffMs(crashes.length, random);
  return { ...effect, seq, attempt: (effect.attempt ?? 1) + 1, notBeforeMs };
}

/** A tenth of a second, doubled each time, at most five minutes; any part of that. */
const backoffMs = (failures: number, random: number): number =>
  Math.floor(Math.min(100 * 2 ** (failures - 1), 300_000) * random);

function timersAfter(before: Before, entry: JournalEntry, asked: Asked | undefined): LiveTimer[] {
  const { source, seq, at } = entry;
  let timers = before.timers.filter(
    (timer) => !(source.kind === 'timer' && timer.id === source.id && timer.seq === source.seq),
  );
  if (asked && !asked.snapshot) return [];
  for (const change of asked?.timers ?? []) {
    if (change.id !== undefined) timers = timers.filter(({ id }) => id !== change.id);
    if (!('cancelled' in change))
      timers.push({ id: change.id ?? 'unnamed', seq, dueAtMs: at + change.delayMs, event: change.event });
  }
  return timers;
}

/** One whose event its machine could not take is set anew, with backoff by crashes; out of service, all stay. */
function timersAfterCrash(
  before: Before,
  { source, seq, at, random }: JournalEntry,
  { crashes = [], quarantined }: { crashes: number[] | undefined; quarantined: Quarantine | undefined },
): LiveTimer[] {
  if (source.kind !== 'timer' || quarantined) return before.timers;
  return before.timers.map((timer) =>
    timer.id === source.id && timer.seq === source.seq
      ? { ...timer, seq, dueAtMs: at + backoffMs(crashes.length, random) }
      : timer,
  );
}

const nameOfEffect = ({ id, seq, src, input, attempt, notBeforeMs }: LiveEffect): unknown => [
  id,
  seq,
  src,
  input ?? null,
  attempt ?? 1,
  notBeforeMs ?? 0,
];

/** Timers without an id get one from the engine: `<seq>.<index>`. */
const nameOfTimer = ({ id, seq, dueAtMs, event }: LiveTimer): string =>
  JSON.stringify([/^\d+\.\d+$/.test(id) ? 'unnamed' : id, seq, dueAtMs, event]);
