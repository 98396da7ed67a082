/**
 * The process that lmdb.test.ts starts and sees die: takes a lease, commits to many actors as fast as it can, and
 * prints `<address> <seq>` for each answer. Usage: lmdb-writer.ts <path of the store>
 */

import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { commitOf } from '../../src/testing/store-suite/subject.js';

const actors = 20;
const text = 'x'.repeat(2_000);

// A handler of ours, so that a file at its size limit is an error of the write and not the end of the process.
process.on('SIGXFSZ', () => undefined);

const store = lmdbStore(process.argv[2] ?? '');
await store.open();
await store.acquireLease({ name: 'node/writer', owner: 'writer', ttlMs: 60_000, holder: 'writer' });
await Promise.all(Array.from({ length: actors }, (_, i) => commitForEver(`actor/${i}`)));

async function commitForEver(address: string): Promise<void> {
  for (let seq = 0; ; seq++) {
    const [result] = await store.commit([commitOf(address, seq, { text, outbox: 'o' })]).catch(stop);
    if (result?.status === 'done') process.stdout.write(`${address} ${seq + 1}\n`);
  }
}

async function stop(error: Error): Promise<never> {
  process.stdout.write(`failed: ${error.message}\n`);
  await store.close();
  process.exit(0);
}
