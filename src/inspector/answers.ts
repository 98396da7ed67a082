/** Answers that the agent and the listener for browsers share: about actors and their past, metrics, and health checks. */
import { Readable } from 'node:stream';
import type { Registry } from 'prom-client';
import { addressParts } from '../../machines/kit/addresses.js';
import { StagecraftError } from '../errors.js';
import type { Journal, Runtime } from '../runtime/runtime.js';
import { detailOf, overviewOf } from './actor-answers.js';
import { historyPage, journalPage, momentAt, momentPage, type PageQuery, whatIf } from './journal-pages.js';
import { type Answers, whileThere } from './json-server.js';

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

/** Answers to those who watch many agents: metrics, and whether this one lives and is ready. */
export const watchAnswers = (
  runtime: Pick<Runtime, 'store'>,
  registry: Registry,
): Pick<Answers['agent'], 'metrics' | 'health' | 'ready'> => ({
  metrics: ({ reply }) => {
    reply.type(registry.contentType);
    return registry.metrics();
  },
  // The process answers, and no more than that.
  health: () => ({ status: 'ok' }),
  ready: () => {
    const { available, since } = runtime.store;
    if (available) return { status: 'ok' };
    const message = `the store does not answer, or takes no writes, since ${new Date(since ?? 0).toISOString()}`;
    throw new StagecraftError('STORE_UNAVAILABLE', message);
  },
});
