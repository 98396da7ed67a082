/**
 * The process that lmdb.test.ts starts and sees die: commits to many actors as fast as it can, and prints
 * `<address> <seq>` for each answer. Usage: lmdb-writer.ts <path of the store>
 */

import { writeSync } from 'node:fs';
import { lmdbStore } from '../../src/stores/lmdb.js';
import { commitOf } from '../suites/store/subject.js';

const actors = 20;
const text = 'x'.repeat(2_000);

// A handler of ours, so that a file at its size limit is an error of the write and not the end of the process.
process.on('SIGXFSZ', () => undefined);

const store = lmdbStore(process.argv[2] ?? '');
await store.open();
await Promise.all(Array.from({ length: actors }, (_, i) => commitForEver(`actor/${i}`)));

async function commitForEver(address: string): Promise<void> {
  for (let seq = 0; ; seq++) {
    const [result] = await store.commit([commitOf(address, seq, { text, outbox: 'o' })]).catch(stop);
    if (result?.status === 'done') writeSync(1, `${address} ${seq + 1}\n`);
  }
}

async function stop(error: Error): Promise<never> {
  writeSync(1, `failed: ${error.message}\n`);
  await store.close();
  process.exit(0);
}
