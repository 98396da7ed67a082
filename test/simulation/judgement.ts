/**
 * What must hold in every history, whatever happened in it. Each commit by itself: model.ts; here what holds between
 * them, and between them and what the world outside saw. The numbers in comments name the promises of the design.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Store } from '../../src/engine/store.js';
import type { History } from './history.js';
import { type HostedSystem, kindOf } from './hosted-system.js';
import type { Life } from './life.js';
import { isResult, type Judged, type Model } from './model.js';
import { addressesOf, isAtMostOnce } from './system.js';
import type { Witnessed } from './witness.js';
import type { Asking, Attempt, EffectRun, World } from './world.js';

/** One actor's past: what was written, and what that means. */
export interface Past {
  commits: Witnessed[];
  judged: Judged[];
}

interface Verdict {
  faults: string[];
  pasts: Map<string, Past>;
}

/** @param refusalsAreTrue whether the store never said `refused` of what it wrote */
export async function judgementOf(
  end: History,
  given: { hosted: HostedSystem; model: Model; refusalsAreTrue: boolean },
): Promise<Verdict> {
  const { world, lives } = end;
  const { hosted, model, refusalsAreTrue } = given;
  const pasts = new Map(
    addressesOf(world.system).map((address): [string, Past] => {
      const commits = world.witness.commits.get(address) ?? [];
      return [address, { commits, judged: model(address, commits) }];
    }),
  );
  const last = lives.at(-1);
  const faults = [...world.witness.faults, ...world.faults];
  for (const { judged } of pasts.values()) for (const one of judged) faults.push(...one.faults);
  faults.push(...messageFaults(pasts, begunAlone(hosted)));
  faults.push(...requestFaults(world, pasts, refusalsAreTrue));
  faults.push(...unheard(world, last));
  faults.push(...effectFaults(world, pasts));
  faults.push(...onceFaults(world, pasts));
  faults.push(...resultFaults(pasts));
  faults.push(...timerFaults(pasts));
  if (last) {
    faults.push(...restFaults(world, pasts, last));
    faults.push(...(await storeFaults(last.store, pasts)));
    faults.push(...(await owedFaults(last.store, pasts, begunAlone(hosted))));
    for (const [topic, expected] of topicsOf(pasts)) faults.push(...(await topicFaults(last.store, topic, expected)));
  }
  return { faults, pasts };
}

/** Actors that an event begins where there is none. */
const begunAlone = (hosted: HostedSystem): Set<string> =>
  new Set(addressesOf(hosted.system).filter((_, actor) => kindOf(hosted, actor).begin));

/** Per pair of actors no message is lost, doubled or overtaken; none comes before the commit that sent it. */
function messageFaults(pasts: Map<string, Past>, beginning: Set<string>): string[] {
  const faults: string[] = [];
  for (const [receiver, past] of pasts) {
    for (const [sender, { judged: sent, commits }] of pasts) {
      const owed = sent.flatMap(({ messages }, at) =>
        messages.flatMap((message, index) => (message.to === receiver ? [{ seq: at + 1, index, message }] : [])),
      );
      let next = 0;
      past.judged.forEach(({ entry: { source, event, input } }, at) => {
        if (source.kind !== 'message' || source.address !== sender) return;
        const found = owed.findIndex(
          ({ seq, index }, place) => place >= next && seq === source.seq && index === source.index,
        );
        const name = `${sender} → ${receiver} (${source.seq}, ${source.index})`;
        const message = owed[found]?.message;
        if (!message) {
          faults.push(`${name} was never sent, or was overtaken`);
          return;
        }
        if (message.event ? !isDeepStrictEqual(message.event, event) : !isDeepStrictEqual(message.input, input))
          faults.push(`${name} arrived as something else`);
        for (const lost of owed.slice(next, found))
          if (!mayFindNobody(past, at, beginning.has(receiver) || !lost.message.event))
            faults.push(`${sender} → ${receiver} (${lost.seq}, ${lost.index}) was lost`);
        next = found + 1;
        const sentAt = commits[source.seq - 1]?.order ?? Number.POSITIVE_INFINITY;
        if (sentAt > (past.commits[at]?.order ?? 0)) faults.push(`${name} came before its commit`);
      });
      // What waits for one that is out of service is still owed: owedFaults.
      for (const lost of isOutOfService(past) ? [] : owed.slice(next))
        if (!mayFindNobody(past, past.judged.length, beginning.has(receiver) || !lost.message.event))
          faults.push(`${sender} → ${receiver} (${lost.seq}, ${lost.index}) was lost at the end`);
    }
  }
  return faults;
}

/** Its machine crashed too often, with its last commit: it takes nothing any more. */
const isOutOfService = ({ judged }: Past): boolean => judged.at(-1)?.record.quarantined !== undefined;

/** A message to nobody is taken by nobody: where the receiver was absent at some time before this entry. */
function mayFindNobody({ judged }: Past, before: number, isBegun: boolean): boolean {
  if (isBegun) return false;
  return (
    judged.length === 0 || judged.slice(0, before).some(({ record }) => !record.snapshot) || !judged[0]?.entry.event
  );
}

/** Who was answered was answered after the commit, with what that says; nothing was applied twice, or after a refusal. */
function requestFaults(world: World, pasts: Map<string, Past>, refusalsAreTrue: boolean): string[] {
  const faults: string[] = [];
  for (const asking of world.askings) {
    const { n, address, request, attempts, isOver } = asking;
    const past = pasts.get(address);
    if (!past) continue;
    const applied = appliedOf(past, asking);
    const most = request.repeats ? 1 : attempts.length;
    if (applied.length > most) faults.push(`r${n} was applied ${applied.length} times`);
    if (request.repeats && !isOver) faults.push(`r${n} was never answered`);
    for (const attempt of attempts) faults.push(...attemptFaults(asking, attempt, { past, applied }));
    const isRefused =
      attempts.length > 0 &&
      attempts.every(({ outcome, code }) => (refusalsAreTrue && outcome === 'refused') || code === 'ACTOR_QUARANTINED');
    if (isRefused && applied.length > 0) faults.push(`r${n} was refused, and applied`);
  }
  return faults;
}

/** Whoever asked the last life has heard something by now, be it that nobody knows. */
function unheard({ askings }: World, last: Life | undefined): string[] {
  return askings
    .filter(({ attempts }) => attempts.some(({ life, state }) => life === last?.number && state === 'open'))
    .map(({ n }) => `r${n} never heard anything`);
}

/** Places of the entries that took this request. */
function appliedOf({ judged }: Past, { n, request }: Asking): number[] {
  return judged.flatMap(({ entry: { source, event } }, at) => {
    if (source.kind !== 'request') return [];
    const isIt = request.repeats ? source.requestId === `r${n}` : event?.n === n;
    return isIt ? [at] : [];
  });
}

function attemptFaults(
  asking: Asking,
  attempt: Attempt,
  { past, applied }: { past: Past; applied: number[] },
): string[] {
  const { n } = asking;
  const { state, code, value, commitsThen } = attempt;
  const isFromMachine = state === 'answered' || code === 'NODE_FULL' || code === 'ACTOR_CRASHED';
  if (code === 'ACTOR_QUARANTINED') {
    const { order = Number.POSITIVE_INFINITY } = (isOutOfService(past) && past.commits.at(-1)) || {};
    return order > commitsThen ? [`r${n} was told that ${asking.address} is out of service, which it was not`] : [];
  }
  if (!isFromMachine) {
    const isKnown =
      state === 'open' || ['STORE_UNAVAILABLE', 'FENCED', 'RUNTIME_CLOSED', 'ACTOR_NOT_FOUND'].includes(code ?? '');
    return isKnown ? [] : [`r${n} was rejected with ${code}`];
  }
  const [at = -1] = applied;
  const judged = past.judged[at];
  const order = past.commits[at]?.order ?? Number.POSITIVE_INFINITY;
  if (!judged) return [`r${n} was answered, but never applied`];
  if (order > commitsThen) return [`r${n} was answered before its commit`];
  const { answer } = judged;
  const expected = answer && 'error' in answer ? answer.error.code : JSON.stringify(answer?.value);
  const found = code ?? JSON.stringify(value);
  return expected === found ? [] : [`r${n} was answered ${found}, expected ${expected}`];
}

/** No effect starts before the commit that asks for it, nor once that is over; those whose state was left are told. */
function effectFaults(world: World, pasts: Map<string, Past>): string[] {
  const faults: string[] = [];
  for (const run of world.runs) {
    const { address, id, seq, known } = run;
    const judged = pasts.get(address)?.judged ?? [];
    const name = `${address}#${id}#${seq}`;
    if (!isLiveAt(judged[seq - 1], run)) faults.push(`${name} was begun, but its commit never asked for it`);
    else if (known.perhaps < seq) faults.push(`${name} was begun before its commit`);
    else {
      // As what it was at one of the moments that the life may have known of.
      const whatIf = judged
        .slice(Math.max(known.surely, seq) - 1, known.perhaps)
        .map((one) => beginningFaults(one, run).map((what) => `${name} was begun ${what}`));
      if (whatIf.every((wrong) => wrong.length > 0)) faults.push(...(whatIf.at(-1) ?? []));
    }
  }
  return faults;
}

/** @param known what its actor was when it began */
function beginningFaults(known: Judged, { id, seq, attempt, begunAtMs }: EffectRun): string[] {
  const live = known.record.effects.find((one) => one.id === id && one.seq === seq);
  if (!live) return ['when it was over'];
  const { attempt: expected = 1, notBeforeMs = 0 } = live;
  const faults: string[] = [];
  if (known.record.quarantined) faults.push('for an actor that is out of service');
  if (attempt !== expected) faults.push(`as attempt ${attempt}, expected ${expected}`);
  if (begunAtMs < notBeforeMs) faults.push(`at ${begunAtMs}, not to be before ${notBeforeMs}`);
  return faults;
}

/** A task that is not repeated runs once in all lives, and never as another attempt; only such a task is interrupted. */
function onceFaults({ system, runs }: World, pasts: Map<string, Past>): string[] {
  const faults: string[] = [];
  const isOnce = isAtMostOnce(system);
  const begun = new Set<string>();
  for (const { address, id, seq, attempt } of runs) {
    const live = pasts.get(address)?.judged[seq - 1]?.record.effects.find((one) => one.id === id);
    if (!isOnce || live?.src !== 'task') continue;
    const name = `${address}#${id}#${seq}`;
    if (attempt > 1) faults.push(`${name} was begun as attempt ${attempt}`);
    if (begun.has(name)) faults.push(`${name} was begun again`);
    begun.add(name);
  }
  for (const [address, { judged }] of pasts)
    for (const { entry } of judged) {
      const isInterrupted = entry.event?.error?.code === 'INTERRUPTED';
      if (isInterrupted && !isOnce) faults.push(`${address} seq ${entry.seq}: a task was interrupted`);
      if (isOnce && entry.kind === 'recovered') faults.push(`${address} seq ${entry.seq}: counts an attempt`);
    }
  return faults;
}

/** What one commit asked for gives its machine one result at most. */
function resultFaults(pasts: Map<string, Past>): string[] {
  const faults: string[] = [];
  for (const [address, { judged }] of pasts) {
    const seen = new Set<string>();
    for (const { entry } of judged) {
      const { source, kind } = entry;
      if (source.kind !== 'effect' || kind === 'stale' || !isResult(entry)) continue;
      const name = `${address}#${source.id}#${source.seq}`;
      if (seen.has(name)) faults.push(`the machine got a second result of ${name}`);
      seen.add(name);
    }
  }
  return faults;
}

/** A timer comes up once, even where it would be told for stale. */
function timerFaults(pasts: Map<string, Past>): string[] {
  const faults: string[] = [];
  for (const [address, { judged }] of pasts) {
    const seen = new Set<string>();
    for (const { entry } of judged) {
      if (entry.source.kind !== 'timer') continue;
      const name = `${address}#${entry.source.id}#${entry.source.seq}`;
      if (seen.has(name)) faults.push(`the timer ${name} came up twice`);
      seen.add(name);
    }
  }
  return faults;
}

const isLiveAt = (judged: Judged | undefined, { id, seq }: { id: string; seq: number }): boolean =>
  judged?.record.effects.some((live) => live.id === id && live.seq === seq) ?? false;

/** At the end nothing is left to do: no timer due, no effect without its result, none running for nobody. */
function restFaults(world: World, pasts: Map<string, Past>, last: Life): string[] {
  const faults: string[] = [];
  const runs = world.runs.filter(({ life }) => life === last.number);
  const outOfService = [...pasts].filter(([, past]) => isOutOfService(past)).map(([address]) => address);
  const told = last.engine.quarantined().map(({ address }) => address);
  if (!isDeepStrictEqual(told.sort(), outOfService.sort()))
    faults.push(`out of service are ${outOfService.join(' ')}, the last life says ${told.join(' ')}`);
  for (const [address, past] of pasts) {
    const { judged } = past;
    const end = judged.at(-1);
    const view = last.engine.peek(address);
    if (view && view.seq !== end?.entry.seq)
      faults.push(`${address} is at seq ${view.seq} in memory, ${end?.entry.seq} in the store`);
    if (isOutOfService(past)) continue;
    for (const { id, seq, dueAtMs } of end?.record.timers ?? [])
      if (dueAtMs <= world.timeline.nowMs) faults.push(`the timer ${address}#${id}#${seq} never fired`);
    for (const { id, seq, src } of end?.record.effects ?? []) {
      const run = runs.find((one) => one.address === address && one.id === id && one.seq === seq);
      if (!run) faults.push(`${address}#${id}#${seq} was never begun in the last life`);
      else if (src === 'task') faults.push(`the result of ${address}#${id}#${seq} was lost`);
      else if (run.signal.aborted && src === 'loop')
        faults.push(`${address}#${id}#${seq} was called off, though its state stands`);
    }
  }
  for (const run of runs) {
    const end = pasts.get(run.address)?.judged.at(-1);
    const isWanted = isLiveAt(end, run) && !end?.record.quarantined;
    if (!run.isOver && !run.signal.aborted && !isWanted)
      faults.push(`${run.address}#${run.id}#${run.seq} was not called off`);
  }
  return faults;
}

/** The store ends with what was last written. */
async function storeFaults(store: Store, pasts: Map<string, Past>): Promise<string[]> {
  const faults: string[] = [];
  for (const [address, { commits }] of pasts) {
    const record = await store.load(address);
    const last = commits.at(-1);
    if (record?.seq !== last?.seq || record?.text !== last?.text)
      faults.push(`${address}: the store has lost a commit`);
    const journal = await store.readJournal(address, 1, commits.length + 1);
    const expected = commits.map(({ seq, journal: text }) => ({ seq, text })).slice(-journal.length);
    if (journal.length > 0 && !isDeepStrictEqual(journal, expected))
      faults.push(`${address}: the journal is not what was written`);
  }
  return faults;
}

/** The store owes what waits for an actor that is out of service, and nothing else. */
async function owedFaults(store: Store, pasts: Map<string, Past>, beginning: Set<string>): Promise<string[]> {
  const waiting = new Map<string, boolean>();
  for (const [receiver, past] of pasts) {
    if (!isOutOfService(past)) continue;
    for (const [sender, { judged }] of pasts) {
      const [lastSeq, lastIndex] = past.judged.at(-1)?.record.received[sender] ?? [0, 0];
      for (const { entry, messages } of judged) {
        for (const [index, { to, event }] of messages.entries()) {
          const isTaken = entry.seq < lastSeq || (entry.seq === lastSeq && index <= lastIndex);
          if (to !== receiver || isTaken) continue;
          const row = `${sender} ${entry.seq}`;
          const mayBeGone = mayFindNobody(past, past.judged.length, beginning.has(receiver) || !event);
          waiting.set(row, !mayBeGone || waiting.get(row) === true);
        }
      }
    }
  }
  const { rows } = await store.unsettled({ prefix: '', limit: 1_000 });
  const owed = new Set(rows.map(({ address, seq }) => `${address} ${seq}`));
  return [
    ...[...owed].filter((row) => !waiting.has(row)).map((row) => `still owed is what was committed by ${row}`),
    ...[...waiting].flatMap(([row, must]) =>
      must && !owed.has(row) ? [`${row} sent to one that is out of service: that is lost`] : [],
    ),
  ];
}

interface Told {
  source: string;
  seq: number;
  index: number;
  text: string;
}

function topicsOf(pasts: Map<string, Past>): Map<string, Told[]> {
  const topics = new Map<string, Told[]>();
  for (const [source, { judged }] of pasts) {
    for (const { entry, events } of judged) {
      for (const [index, { topic, event }] of events.entries()) {
        const told = topics.get(topic) ?? [];
        topics.set(topic, told);
        told.push({ source, seq: entry.seq, index, text: JSON.stringify(event) });
      }
    }
  }
  return topics;
}

/** Each broadcast event is in its topic once, per source in the order of its commits. */
async function topicFaults(store: Store, topic: string, expected: Told[]): Promise<string[]> {
  const { rows } = await store.readTopic(topic, 0, expected.length + 10);
  const found = rows.map(({ source, seq, index, text }) => ({ source, seq, index, text }));
  const sources = new Set(expected.map(({ source }) => source));
  const bySource = (told: Told[]): Told[][] =>
    [...sources].map((source) => told.filter((one) => one.source === source));
  if (found.length === expected.length && isDeepStrictEqual(bySource(found), bySource(expected))) return [];
  const name = ({ source, seq, index }: Told): string => `${source}(${seq}, ${index})`;
  return [`${topic} holds ${found.map(name).join(' ')}, expected ${expected.map(name).join(' ')}`];
}
