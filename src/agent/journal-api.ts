/** API of journals: the history of an actor, in pages. */
import type { FastifyInstance } from 'fastify';
import { History, type HistoryLine } from '../journal/history.js';
import type { Runtime } from '../runtime/runtime.js';
import { countIn } from './requests.js';

/** Answer of `GET /v1/history/ADDRESS`: lines in their order. `before`: give it to get the page before, if there is one. */
export interface HistoryPage {
  address: string;
  lines: HistoryLine[];
  before?: number;
}

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
