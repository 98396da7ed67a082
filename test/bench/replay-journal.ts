/** Journals to replay in benchmarks. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../dist/src/engine/clock.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { plain } from './machines.js';

/** Steps that are asked for at once. */
const atOnce = 1_000;

/** Takes the plain machine this many steps; its whole journal is kept. */
export async function journalled(store: Store, entries: number): Promise<{ engine: Engine; address: string }> {
  const address = `${plain.id}/0`;
  const engine = new Engine({
    ...{ store, clock: systemClock, random: systemRandom, logger: silentLogger },
    lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
    policy: { journal: { keep: entries, snapshotEvery: 200, goneMs: 60_000 } },
  }).host([{ machine: plain, effects: {}, begin: () => ({}) }]);
  await engine.open();
  for (let step = 0; step < entries; step += atOnce)
    await Promise.all(Array.from({ length: atOnce }, () => engine.ask(address, { type: 'next' })));
  return { engine, address };
}

/** The same in an LMDB store of its own. The caller stops the engine and removes the directory. */
export async function longJournal(entries: number): Promise<{ engine: Engine; address: string; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'stagecraft-bench-'));
  return { ...(await journalled(lmdbStore(join(directory, 'state')), entries)), directory };
}
