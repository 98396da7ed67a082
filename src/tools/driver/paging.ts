/** Pages of lists. A token names the last id of its page, so later changes move nothing. */
import { CsiStatus } from '../../csi/server.js';
import { invalid } from './requests.js';

interface PageRequest {
  readonly maxEntries: number;
  readonly startingToken: string;
}

interface Page<T> {
  readonly items: readonly T[];
  /** Empty after the last page. */
  readonly nextToken: string;
}

/**
 * @param all in the order of their ids
 * @param prefix of the ids: one list's tokens are not another's
 * @throws {CsiStatus} INVALID_ARGUMENT: a negative number of entries; ABORTED: a token that was never given
 */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  prefix: string,
  { maxEntries, startingToken }: PageRequest,
): Page<T> {
  if (maxEntries < 0) throw invalid('max_entries is negative');
  const after = startingToken === '' ? '' : lastIdIn(startingToken, prefix);
  const rest = all.filter(({ id }) => id > after);
  const items = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const last = items.length < rest.length ? items.at(-1) : undefined;
  return { items, nextToken: last ? tokenOf(last.id) : '' };
}

const tokenOf = (id: string): string => Buffer.from(`after:${id}`).toString('base64url');

function lastIdIn(token: string, prefix: string): string {
  const [, id = ''] = /^after:([a-z]+-[0-9a-f-]{36})$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (id.startsWith(prefix) && tokenOf(id) === token) return id;
  throw new CsiStatus('ABORTED', 'starting_token is not valid: begin again with an empty one');
}
