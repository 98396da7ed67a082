/**
 * The process that lmdb.test.ts starts and sees die: takes a lease, commits to many actors as fast as it can, and
 * prints `<address> <seq>` for each answer. Each third commit is of three steps. Usage: lmdb-writer.ts <path of the store>
 */

import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';

const actors = 20;
const text = 'x'.repeat(2_000);

// A handler of ours, so that a file at its size limit is an error of the write and not the end of the process.
process.on('SIGXFSZ', () => undefined);

const store = lmdbStore(process.argv[2] ?? '');
await store.open();
await store.acquireLease({ name: 'node/writer', owner: 'writer', ttlMs: 60_000, holder: 'writer' });
await Promise.all(Array.from({ length: actors }, (_, i) => commitForEver(`actor/${i}`)));

async function commitForEver(address: string): Promise<void> {
  for (let before = 0, seq = 0; ; before = seq) {
    const isLong = before % 5 === 2;
    seq = before + (isLong ? 3 : 1);
    const more = isLong ? { seq, journalBefore: [`j${seq - 2}`, `j${seq - 1}`] } : {};
    const [result] = await store.commit([plainCommit(address, before, { text, outbox: 'o', ...more })]).catch(stop);
    if (result?.status === 'done') process.stdout.write(`${address} ${seq}\n`);
  }
}

async function stop(error: Error): Promise<never> {
  // A full pipe takes it later; an exit would lose it.
  await new Promise<void>((resolve) => void process.stdout.write(`failed: ${error.message}\n`, () => resolve()));
  await store.close();
  process.exit(0);
}
