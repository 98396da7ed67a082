/** Routes that show the past of actors: histories, journals and replayed moments in pages, what-if, and exports. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { History, type HistoryLine } from '../journal/history.js';
import { countIn } from '../requests/query.js';
import type { Runtime } from '../runtime/runtime.js';
import type { HistoryPage, JournalPage, MomentAnswer, MomentPage, WhatIf } from './answers.js';
import { journalPage, momentAt, momentPage, type PageQuery, whatIf } from './journal-pages.js';

interface OfActor<TQuery> {
  Params: { '*': string };
  Querystring: TQuery;
}

interface Paging {
  after?: string;
  before?: string;
  limit?: string;
}

/** Entries, lines or moments of a page, unless the request says how many. */
const defaultLimit = 200;
const mostEntries = 5_000;
/** A moment holds a whole state. */
const mostMoments = 500;

export function serveJournals(server: FastifyInstance, { journal, actors }: Runtime): void {
  server.get<OfActor<Paging>>('/v1/history/*', async ({ params: { '*': address }, query }): Promise<HistoryPage> => {
    const limit = limitIn(query, mostEntries);
    const before = numberIn('before', query.before);
    const history = new History(address);
    const lines: HistoryLine[] = [];
    let isWhole = true;
    // From the beginning: a line also says how often its call was tried before.
    for await (const moment of journal.moments(address, before === undefined ? {} : { to: Math.max(before - 1, 1) })) {
      if (before !== undefined && moment.seq >= before) break;
      lines.push(history.lineOf(moment));
      if (lines.length > limit) isWhole = lines.shift() === undefined;
    }
    const [first] = lines;
    return { address, lines, ...(!isWhole && first && { before: first.seq }) };
  });

  server.get<OfActor<Paging>>(
    '/v1/journal/*',
    ({ params: { '*': address }, query }): Promise<JournalPage> =>
      journalPage(journal, address, pageIn(query, mostEntries)),
  );

  server.get<OfActor<Paging & { seq?: string; from?: string }>>(
    '/v1/moments/*',
    async ({ params: { '*': address }, query: { seq, from, ...query } }): Promise<MomentAnswer | MomentPage> => {
      if (seq !== undefined) return momentAt(journal, address, countIn('seq', seq));
      const page = pageIn(query, mostMoments);
      return momentPage(journal, address, from === undefined ? page : { ...page, after: countIn('from', from) - 1 });
    },
  );

  server.post('/v1/what-if', ({ body }): Promise<WhatIf> => whatIf(journal, body));

  server.get<{ Querystring: { address?: string | string[] } }>(
    '/v1/journal-export',
    async ({ query: { address } }, reply): Promise<FastifyReply> => {
      const addresses = address === undefined ? actors.list().map((one) => one.address) : [address].flat();
      // Refused before the first line is sent.
      if (address !== undefined) for (const one of addresses) await journal.range(one);
      return reply.type('application/x-ndjson').send(Readable.from(journal.export(addresses)));
    },
  );
}

const numberIn = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : countIn(name, text);

const limitIn = ({ limit }: Paging, most: number): number => Math.min(numberIn('limit', limit) ?? defaultLimit, most);

const pageIn = (query: Paging, most: number): PageQuery => ({
  after: query.after === '0' ? 0 : numberIn('after', query.after),
  before: numberIn('before', query.before),
  limit: limitIn(query, most),
});
