/** Answers of the API about actors, as they are and as they were: the agent and the listener for browsers share them. */

import { Readable } from 'node:stream';
import type { StateValue } from 'xstate';
import { acceptedBy } from '../../machines/accepted-events.js';
import { shownPathOf } from '../../machines/catalog.js';
import { addressParts } from '../../machines/kit/addresses.js';
import type { PartView } from '../../machines/kit/parts.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { ActorDetail, ActorSummary, ActorWait, Overview, Trouble } from '../api/actor-routes.js';
import { messageOf, StagecraftError } from '../errors.js';
import { rpcOf } from '../journal/history-words.js';
import type { InspectedActor, Journal, Runtime, Shown } from '../runtime/runtime.js';
import { conditionOf, healthOfPart, machineOf, partSummaries, wordsOf } from './health.js';
import { historyPage, journalPage, momentAt, momentPage, type PageQuery, whatIf } from './journal-pages.js';
import { type Answers, whileThere } from './json-server.js';
import { quarantined, sorted, troubleElsewhere, troubleOf, troubleOfMount, troubleOfOrphans } from './trouble.js';

interface ActorAnswersOptions {
  /** Version of Stagecraft. */
  version: string;
  /** Whether events may be sent to actors by hand. */
  allowSend: boolean;
}

/** Answers about actors, as they are and as they were. */
export function actorAnswers(
  runtime: Runtime,
  { version, allowSend }: ActorAnswersOptions,
): Omit<Answers['actors'], 'list' | 'release'> {
  const { actors, journal } = runtime;
  return {
    overview: ({ gone }) => overviewOf(runtime, { version, at: Date.now(), gone }),
    inspect: async ({ params: { address } }) => {
      const actor = await actors.inspect(address);
      return { ...detailOf(actor, await orphansOf(runtime, address)), maySend: allowSend };
    },
    send: async ({ body: { address, event, by } }) => {
      if (!allowSend) {
        const message = 'sending requests by hand is off on this agent: it can be allowed with inspector.allowSend';
        throw new StagecraftError('FORBIDDEN', message);
      }
      return { answer: (await actors.send(address, event, { by })) ?? null };
    },
    history: ({ params: { address }, query, gone }) =>
      historyPage(thereFor(journal, gone), address, pageIn(query, mostEntries)),
    journal: ({ params: { address }, query, gone }) =>
      journalPage(thereFor(journal, gone), address, pageIn(query, mostEntries)),
    moments: ({ params: { address }, query: { seq, from, ...query }, gone }) => {
      const there = thereFor(journal, gone);
      if (seq !== undefined) return momentAt(there, address, seq);
      const page = pageIn(query, mostMoments);
      return momentPage(there, address, from === undefined ? page : { ...page, after: from - 1 });
    },
    exportJournals: async ({ query: { address }, reply, gone }) => {
      const addresses = address === undefined ? undefined : [address].flat();
      // Refused before the first line is sent.
      for (const one of addresses ?? []) await journal.range(one);
      return reply.type('application/x-ndjson').send(Readable.from(thereFor(journal, gone).export(addresses)));
    },
    whatIf: ({ body, gone }) => whatIf(thereFor(journal, gone), body),
  };
}

/** Mounts of a volume on this node that no record has: they may hold up its calls. */
async function orphansOf(runtime: Runtime, address: string): ReturnType<Runtime['mounts']['orphans']> {
  const [machine = '', ...parts] = addressParts(address);
  const [namespace, id] = parts.slice(-2);
  if ((machine !== 'volume' && machine !== 'mount') || namespace === undefined || id === undefined) return [];
  return runtime.mounts.orphans({ namespace, id });
}

/** The journal for a client: reading it ends once the client is gone. */
const thereFor = (journal: Journal, gone: AbortSignal): Journal => ({
  ...journal,
  entries: (...of) => whileThere(gone, journal.entries(...of)),
  moments: (...of) => whileThere(gone, journal.moments(...of)),
  export: (...of) => whileThere(gone, journal.export(...of)),
});

/** Entries, lines or moments of a page, unless the request says how many. */
const defaultLimit = 200;
const mostEntries = 5_000;
/** A moment holds a whole state. */
const mostMoments = 500;

const pageIn = ({ limit = defaultLimit, ...query }: Partial<PageQuery>, most: number): PageQuery => ({
  ...query,
  limit: Math.min(limit, most),
});

interface Row {
  seq: number;
  /** Moment of the last commit, if known. */
  at?: number;
  state: StateValue | undefined;
  context: object;
}

interface Judged {
  summary: ActorSummary;
  part: PartView | undefined;
}

function judged(address: string, { seq, state, context, at }: Row): Judged {
  const machine = machineOf(address);
  const { health, why, part } = conditionOf(machine, state, context);
  const path = state === undefined ? '' : shownPathOf(address, state, context);
  const moment = at === undefined ? {} : { at };
  return { summary: { address, machine, state: path, health, why, seq, ...moment }, part };
}

/** An actor at a glance, with what is wrong with it. */
export function summaryOf(address: string, row: Row): ActorSummary & { trouble?: Trouble } {
  const { summary, part } = judged(address, row);
  const trouble = troubleOf(summary, part);
  return { ...summary, ...(trouble && { trouble }) };
}

export async function overviewOf(
  runtime: Runtime,
  { version, at, gone }: { version: string; at: number; gone?: AbortSignal },
): Promise<Overview> {
  const actors: Overview['actors'] = { address: [], machine: [], state: [], health: [], why: [], seq: [], at: [] };
  const troubles: (Trouble & Pick<ActorSummary, 'health'>)[] = [];
  const outOfService = new Map(runtime.actors.quarantined().map(({ address, reason }) => [address, reason]));
  const add = ({ address, machine, state, health, why, seq, at: moment }: ActorSummary): void => {
    actors.address.push(address);
    actors.machine.push(machine);
    actors.state.push(state);
    actors.health.push(health);
    actors.why.push(why);
    actors.seq.push(seq);
    actors.at.push(moment ?? null);
  };
  for await (const { rows, skipped = [] } of whileThere(gone, runtime.actors.pages())) {
    for (const { address, reason } of skipped) outOfService.set(address, outOfService.get(address) ?? reason);
    for (const [address, view] of rows) {
      if (outOfService.has(address)) continue;
      try {
        const { summary, part } = judged(address, view);
        const trouble = troubleOf(summary, part);
        add(summary);
        if (trouble) troubles.push({ ...trouble, health: summary.health });
      } catch (error) {
        outOfService.set(address, `its record is damaged: ${messageOf(error)}`);
      }
    }
  }
  for (const [address, reason] of outOfService) {
    add({ address, machine: machineOf(address), state: '', health: 'failed', why: 'out of service', seq: 0 });
    troubles.push({ ...quarantined(address, reason), health: 'failed' });
  }
  const { nodeId, leadership } = runtime;
  for (const found of runtime.volumes.orphansFound)
    troubles.push({ ...troubleOfOrphans(nodeId, found), health: 'waiting' });
  return { at, nodeId, version, leads: leadership.isOurs, actors, trouble: sorted(troubles) };
}

/** @param orphans mounts of it here that no record has */
export function detailOf(
  actor: Shown<InspectedActor>,
  orphans: readonly { path: string; plugin?: string }[] = [],
): ActorDetail {
  const { address, state, context, effects, timers, version, unread, elsewhere = [], quarantined: reason } = actor;
  const { summary, part } = judged(address, actor);
  const parts = partSummaries(summary.machine, context);
  const trouble = reason === undefined ? troubleOf(summary, part) : quarantined(address, reason);
  const due = [
    ...timers.map(({ dueAtMs }) => dueAtMs),
    ...parts.flatMap(({ nextAttemptAtMs }) => nextAttemptAtMs ?? []),
  ];
  return {
    ...summary,
    ...(reason !== undefined && { health: 'failed', why: 'out of service', quarantined: reason }),
    ...{ version, value: state, context, parts, timers, unread },
    effects: effects.map((effect) => {
      const rpc = rpcOf(effect.src, address);
      return rpc === undefined ? effect : { ...effect, rpc };
    }),
    ...(due.length > 0 && { nextDueAtMs: Math.min(...due) }),
    accepts: acceptedBy(address, state),
    waits: waitsOf(summary.machine, context, parts),
    trouble: [
      ...elsewhere.map((holder) => troubleElsewhere(address, holder)),
      ...orphans.map((orphan) => troubleOfMount(address, orphan)),
      ...(trouble ? [trouble] : []),
    ],
  };
}

/** Lists the waits of an actor: of its parts, and of claims for their turn. */
function waitsOf(machine: string, context: object, parts: readonly PartView[]): ActorWait[] {
  const waits = parts.flatMap((part): ActorWait[] => {
    const { id, chart, why, nextAttemptAtMs } = part;
    const health = healthOfPart(part);
    // A step of an alloc has a reason only while it waits.
    const isHeldUp = machine === 'alloc' && health === 'working' && why !== undefined;
    if (health !== 'waiting' && health !== 'in-doubt' && !isHeldUp) return [];
    const what = `${id === chart ? '' : `${id.replace('/', ' ')}: `}${wordsOf(part)}${why === undefined ? '' : `: ${why}`}`;
    return [{ what, ...(nextAttemptAtMs !== undefined && { dueAtMs: nextAttemptAtMs }) }];
  });
  if (machine !== 'volume') return waits;
  const { waiting, claims } = context as VolumeContext;
  const holders = claims.map(({ allocId, nodeId }) => `alloc ${allocId} on node ${nodeId}`).join(', ');
  const queued = waiting.map(({ allocId, nodeId }) => ({
    what: `alloc ${allocId} on node ${nodeId} waits for its claim${holders ? `: it is claimed by ${holders}` : ''}`,
  }));
  return [...waits, ...queued];
}
