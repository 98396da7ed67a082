/** Commits per second of the LMDB store, against bare LMDB puts of the same texts in bursts of the same size. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type lmdb = require('lmdb');

import type { Commit } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import type { Contender } from './measure.js';

const { open }: Pick<typeof lmdb, 'open'> = createRequire(import.meta.url)('lmdb');

const bursts = 20;
const burstSize = 1_000;

const text = JSON.stringify({
  format: 1,
  machine: 'plugin',
  snapshot: { value: 'healthy', context: { info: 'x'.repeat(400) } },
});
const journal = JSON.stringify({
  seq: 1,
  at: 1_767_225_600_000,
  kind: 'event',
  event: { type: 'fingerprint.changed', of: 'x'.repeat(120) },
});

async function inDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}

const bare: Contender = {
  name: 'lmdb put, record and journal entry, in bursts',
  run: () =>
    inDirectory(async (path) => {
      const root = open<string, string>({ path, encoding: 'string' });
      const records = root.openDB<string, string>({ name: 'records', encoding: 'string' });
      const entries = root.openDB<string, [string, number]>({ name: 'journal', encoding: 'string' });
      for (let burst = 1; burst <= bursts; burst += 1) {
        const puts: Promise<boolean>[] = [];
        for (let index = 0; index < burstSize; index += 1) {
          puts.push(records.put(`plugin/${index}`, text), entries.put([`plugin/${index}`, burst], journal));
        }
        await Promise.all(puts);
      }
      await root.close();
      return bursts * burstSize;
    }),
};

const commits: Contender = {
  name: 'lmdbStore.commit, in bursts',
  run: () =>
    inDirectory(async (path) => {
      const store = lmdbStore(path);
      await store.open();
      for (let burst = 0; burst < bursts; burst += 1) {
        const items = Array.from(
          { length: burstSize },
          (_, index): Commit => ({
            address: `plugin/${index}`,
            commitId: `bench.${burst}.${index}`,
            expectedSeq: burst,
            epoch: 1,
            owner: 'bench',
            text,
            journal,
          }),
        );
        const results = await store.commit(items);
        if (results.some(({ status }) => status !== 'done')) throw new Error('a commit was refused');
      }
      await store.close();
      return bursts * burstSize;
    }),
};

export const commitRates = [bare, commits];
