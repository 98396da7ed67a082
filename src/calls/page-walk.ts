/**
 * Reads a list of a plugin page by page, within bounds: a plugin may give ever-new tokens, or the same ones again, and so never end.
 */

/** A page, and what leads to the next one: empty after the last. */
interface Page {
  nextToken: string;
}

const mostPages = 10_000;
const mostEntries = 500_000;
const mostMs = 5 * 60_000;

interface PageWalk<P extends Page> {
  /** @param startingToken empty for the first page */
  read(startingToken: string): Promise<P>;
  /** Number of entries in a page. */
  countOf(page: P): number;
  monotonicMs(): number;
}

/** Thrown for a list without an end; its message says why it is taken for one. */
export class EndlessList extends Error {
  override readonly name = 'EndlessList';
}

/** @throws EndlessList; or what `read` throws */
export async function* pagesOf<P extends Page>({ read, countOf, monotonicMs }: PageWalk<P>): AsyncGenerator<P, void> {
  const startMs = monotonicMs();
  const tokens = new Set<string>();
  let entries = 0;
  for (let token = ''; ; ) {
    const page = await read(token);
    entries += countOf(page);
    yield page;
    token = page.nextToken;
    if (token === '') return;
    if (tokens.has(token))
      throw new EndlessList(
        `the plugin gives the token of a page that was read, ${JSON.stringify(token.slice(0, 100))}, again: its list has no end`,
      );
    tokens.add(token);
    const fault = exceeded(tokens.size, entries, monotonicMs() - startMs);
    if (fault) throw new EndlessList(`the plugin's list is not at its end after ${fault}: it is read no further`);
  }
}

function exceeded(pages: number, entries: number, tookMs: number): string | undefined {
  if (pages >= mostPages) return `${pages} pages`;
  if (entries > mostEntries) return `${entries} entries`;
  return tookMs > mostMs ? `${Math.round(tookMs / 1_000)} s` : undefined;
}
