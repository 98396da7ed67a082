/** The embedded store of an agent that has been given a Redis: what is in it is not known any more, so the agent says so. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import { messageOf } from '../errors.js';

const pageSize = 1_000;

/**
 * Warning about an embedded store with volumes in it; undefined: there is none.
 * @param dataDir locked by this process
 */
export async function leftStore(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'state');
  const isThere = await stat(join(path, 'data.mdb')).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  try {
    const volumes = await volumesIn(path);
    if (volumes === 0) return undefined;
    return `${path} has ${volumes} volumes that the Redis of this agent does not know: to go on with them, take store.redis out of the configuration; else move that directory away`;
  } catch (error) {
    return `${path} is not used any more, as the state is in Redis, and can't be read (${messageOf(error)}): move that directory away`;
  }
}

async function volumesIn(path: string): Promise<number> {
  const { lmdbStore } = await import('../stores/index.js');
  const store = lmdbStore(path);
  await store.open();
  try {
    let volumes = 0;
    for (let after: string | undefined; ; ) {
      const page = await store.list({ prefix: volumesPrefix, limit: pageSize, ...(after !== undefined && { after }) });
      volumes += page.rows.length;
      if (page.next === undefined) return volumes;
      after = page.next;
    }
  } finally {
    await store.close();
  }
}
