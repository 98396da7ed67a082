/** Routes that show the past of actors: histories, journals and replayed moments in pages, what-if, and exports. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { actorRoutes as routes } from '../api/actor-routes.js';
import { History, type HistoryLine } from '../journal/history.js';
import { olderSteps } from '../journal/older-steps.js';
import type { Journal, Runtime } from '../runtime/runtime.js';
import { journalPage, momentAt, momentPage, type PageQuery, whatIf } from './journal-pages.js';
import { serve } from './json-server.js';
import { whileThere } from './until-gone.js';

/** Entries, lines or moments of a page, unless the request says how many. */
const defaultLimit = 200;
const mostEntries = 5_000;
/** A moment holds a whole state. */
const mostMoments = 500;

export function serveJournals(server: FastifyInstance, { journal }: Runtime): void {
  /** The journal for a client: reading it ends once the client is gone. */
  const thereFor = (gone: AbortSignal): Journal => ({
    ...journal,
    entries: (...of) => whileThere(gone, journal.entries(...of)),
    moments: (...of) => whileThere(gone, journal.moments(...of)),
    export: (...of) => whileThere(gone, journal.export(...of)),
  });

  serve(server, routes.history, async ({ params: { address }, query: { before, limit = defaultLimit }, gone }) => {
    const most = Math.min(limit, mostEntries);
    const history = new History(address);
    const lines: HistoryLine[] = [];
    let isWhole = true;
    // From the beginning: a line also says how often its call was tried before.
    const moments = thereFor(gone).moments(address, before === undefined ? {} : { to: Math.max(before - 1, 1) });
    for await (const moment of moments) {
      if (before !== undefined && moment.seq >= before) break;
      lines.push(history.lineOf(moment));
      if (lines.length > most) isWhole = lines.shift() === undefined;
    }
    const [oldest] = lines;
    if (!isWhole && oldest) return { address, lines, before: oldest.seq };
    const { first, last } = await journal.range(address);
    const older = olderSteps(oldest?.seq ?? Math.min(last + 1, before ?? last + 1), first);
    return { address, lines, ...(older !== undefined && { older }) };
  });

  serve(server, routes.journal, ({ params: { address }, query, gone }) =>
    journalPage(thereFor(gone), address, pageIn(query, mostEntries)),
  );

  serve(server, routes.moments, ({ params: { address }, query: { seq, from, ...query }, gone }) => {
    const there = thereFor(gone);
    if (seq !== undefined) return momentAt(there, address, seq);
    const page = pageIn(query, mostMoments);
    return momentPage(there, address, from === undefined ? page : { ...page, after: from - 1 });
  });

  serve(server, routes.whatIf, ({ body, gone }) => whatIf(thereFor(gone), body));

  serve(server, routes.exportJournals, async ({ query: { address }, reply, gone }) => {
    const addresses = address === undefined ? undefined : [address].flat();
    // Refused before the first line is sent.
    for (const one of addresses ?? []) await journal.range(one);
    return reply.type('application/x-ndjson').send(Readable.from(thereFor(gone).export(addresses)));
  });
}

const pageIn = ({ limit = defaultLimit, ...query }: Partial<PageQuery>, most: number): PageQuery => ({
  ...query,
  limit: Math.min(limit, most),
});
