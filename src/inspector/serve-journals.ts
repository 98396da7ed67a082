/** Routes that show the past of actors: histories in pages. */
import type { FastifyInstance } from 'fastify';
import { History, type HistoryLine } from '../journal/history.js';
import { countIn } from '../requests/query.js';
import type { Runtime } from '../runtime/runtime.js';
import type { HistoryPage } from './answers.js';

interface OfActor {
  Params: { '*': string };
  Querystring: { before?: string; limit?: string };
}

const defaultLimit = 200;

export function serveJournals(server: FastifyInstance, { journal }: Runtime): void {
  server.get<OfActor>('/v1/history/*', async ({ params: { '*': address }, query }): Promise<HistoryPage> => {
    const limit = query.limit === undefined ? defaultLimit : countIn('limit', query.limit);
    const before = query.before === undefined ? undefined : countIn('before', query.before);
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
}
